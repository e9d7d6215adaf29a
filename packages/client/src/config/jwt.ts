import { Buffer } from "node:buffer";
import { isObject } from "../meta/index.ts";

/** What a token says of itself; undefined when it is no JWT. Nothing is verified: this is for telling people, and for timing. */
export function readClaims(token: string): Record<string, unknown> | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** When a token expires, in milliseconds since the epoch; undefined when it does not say. */
export function expiryOfToken(token: string): number | undefined {
  const expiry = readClaims(token)?.exp;
  return typeof expiry === "number" ? expiry * 1_000 : undefined;
}
