import type { ApiRequest, Authenticator } from "../api/index.ts";
import type { RequestUser } from "../registry/index.ts";

/** Tokens that the server knows, with the user that each stands for. */
export type TokenTable = ReadonlyMap<string, RequestUser>;

export const ADMIN: RequestUser = {
  username: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
};

/** The server itself, when its controllers write. */
export const SYSTEM: RequestUser = {
  username: "system:apiserver",
  groups: ["system:masters", "system:authenticated"],
};

/**
 * Bearer tokens. A request without credentials gets `anonymous`, which in development is the administrator: kubectl sends
 * no credentials over plain HTTP, and nobody should have to configure any. A wrong token is always refused, because a
 * client that sends one believes it is somebody.
 */
export function createAuthenticator(tokens: TokenTable, anonymous: RequestUser): Authenticator {
  return (request) => {
    const token = bearerOf(request);
    return token === undefined ? anonymous : tokens.get(token);
  };
}

function bearerOf(request: ApiRequest): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined || header === "") return undefined;
  const match = /^Bearer\s+(.*)$/i.exec(header);
  // Another scheme than bearer is not ours to check; a real server lets it pass as anonymous.
  return match ? (match[1] as string).trim() : undefined;
}
