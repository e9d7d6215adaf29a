/**
 * Credentials in an address. client-go, and with it kubectl, sends nothing of what a kubeconfig says about its user when
 * the server is not encrypted, but takes any path for the place where the API is. So the address of a server without TLS
 * carries the token: `http://127.0.0.1:6443/~TOKEN`.
 */

/** The address of an API for a client that has this token. */
export const addressWithToken = (url: string, token: string): string => `${url}/~${token}`;

/** A path without the token that it begins with, if it does. */
export function splitPathToken(path: string): { readonly path: string; readonly token: string | undefined } {
  const [, token, rest] = /^\/~([\w.-]+)(\/.*)?$/.exec(path) ?? [];
  return token === undefined ? { path, token } : { path: rest ?? "/", token };
}
