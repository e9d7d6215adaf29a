/** A token with these claims, without a signature. */
export const jwt = (claims: object): string => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
