import { Buffer } from "node:buffer";
import { ConfigError } from "../meta/index.ts";

/**
 * A user to act as. The server checks that the client's own user may do so.
 *
 * @example
 * ```ts
 * const jane: Impersonation = { user: "jane", groups: ["developers"] };
 * ```
 */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The header that names the user; where it is, all impersonation of another origin is void. */
export const IMPERSONATED_USER = "impersonate-user";

/** Whether a header is part of an impersonation. */
export const isImpersonation = (header: string): boolean => header.toLowerCase().startsWith("impersonate-");

/**
 * The headers that make the server act as another user.
 *
 * @example
 * ```ts
 * impersonationHeaders({ user: "jane", groups: ["a", "b"] });
 * // { "impersonate-user": "jane", "impersonate-group": ["a", "b"] }
 * ```
 */
export function impersonationHeaders(who: Impersonation): Record<string, string | string[]> {
  if (!who.user) {
    throw new ConfigError("an impersonation names no user", {
      hint: "the server takes groups, uid and extra only beside a user: set `user` (`as` in a kubeconfig)",
    });
  }
  const headers: Record<string, string | string[]> = { [IMPERSONATED_USER]: headerValue(who.user) };
  if (who.uid) headers["impersonate-uid"] = headerValue(who.uid);
  if (who.groups?.length) headers["impersonate-group"] = who.groups.map(headerValue);
  for (const [key, values] of Object.entries(who.extra ?? {})) {
    if (values.length > 0) headers[`impersonate-extra-${headerName(key)}`] = values.map(headerValue);
  }
  return headers;
}

/** The server lowers the key and then decodes its percent signs. Brackets are the only characters that both let through. */
function headerName(key: string): string {
  const encoded = encodeURIComponent(key).replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`);
  return encoded.toLowerCase();
}

/** Headers are bytes, and the server reads these as UTF-8; Node takes each character for one byte. */
function headerValue(text: string): string {
  const value = Buffer.from(text, "utf8").toString("latin1");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a header cannot hold
  if (!/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)) return value;
  throw new ConfigError(`${JSON.stringify(text)} cannot be impersonated: it has a control character`, {
    hint: "take line breaks and the like out of the name",
  });
}
