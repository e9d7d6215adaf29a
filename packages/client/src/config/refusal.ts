import type { AccessOrigin, Identity } from "./contract.ts";
import { expiryOfToken } from "./jwt.ts";

/** What to do about credentials that the server refuses: what is wrong with them, if that can be seen, and whose they are. */
export async function explainRefusal(
  identity: Identity,
  o: { readonly origin?: AccessOrigin | undefined; readonly context?: string | undefined; readonly now: number },
): Promise<string> {
  const { origin, context } = o;
  const user = origin?.user === undefined ? "" : ` of the user "${origin.user}"`;
  const place =
    origin === undefined ? "" : ` (${context === undefined ? "" : `context "${context}" in `}${origin.files})`;
  const [what, expiry] = await expiryOf(identity);
  if (what === undefined) return `no credentials were sent${place}: pass a token or a client certificate`;
  if (expiry !== undefined && expiry <= o.now) {
    return `the ${what}${user} expired at ${new Date(expiry).toISOString()}${place}: log in again`;
  }
  return `the server does not know the ${what}${user}${place}: log in again, or check that it is for this cluster`;
}

/** What a user is known by, and until when. */
async function expiryOf(identity: Identity): Promise<[what: string | undefined, expiry?: number | undefined]> {
  const token = tokenOf(identity);
  if (token !== undefined) return ["token", expiryOfToken(token)];
  if (identity.authorization !== undefined) return ["user name or password"];
  const { cert } = identity.tls;
  if (cert === undefined) return [undefined];
  try {
    const { X509Certificate } = await import("node:crypto");
    return ["client certificate", Date.parse(new X509Certificate(cert).validTo)];
  } catch {
    return ["client certificate"];
  }
}

/** The bearer token of an identity, however it is kept. */
export function tokenOf({ token, authorization }: Identity): string | undefined {
  return token ?? /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
}
