import type { ApiRequest, ClientCertificate } from "../api/index.ts";
import type { RequestUser } from "../registry/index.ts";
import type { Authenticator } from "./gate.ts";
import type { ServiceAccountTokens } from "./tokens.ts";
import { AUTHENTICATED } from "./users.ts";

/** Tokens that the server knows, with the user that each stands for. */
export type TokenTable = ReadonlyMap<string, RequestUser>;

/** Whom the server believes: tokens of a table and of service accounts; and who a client without credentials is. */
export interface AuthenticatorOptions {
  readonly tokens: TokenTable;
  readonly accounts: ServiceAccountTokens;
  /** Who sends no credentials at all. */
  readonly anonymous: RequestUser;
}

/**
 * Who sent a request, by its client certificate or its bearer token. Wrong credentials are always refused, because a
 * client that sends some believes that it is known.
 */
export function createAuthenticator({ tokens, accounts, anonymous }: AuthenticatorOptions): Authenticator {
  return (request) => {
    const certificate = request.clientCertificate?.();
    const user = certificate?.trusted ? certificateUser(certificate) : undefined;
    if (user) return user;
    const token = bearerOf(request);
    if (token === undefined) return certificate && !certificate.trusted ? undefined : anonymous;
    const known = tokens.get(token);
    if (known) return known;
    const verdict = accounts.authenticate(token);
    return verdict.ok ? verdict.user : undefined;
  };
}

/** The common name is the user, organizations are groups. */
function certificateUser({ commonName, organizations, fingerprint }: ClientCertificate): RequestUser | undefined {
  if (commonName === "") return undefined;
  return {
    username: commonName,
    groups: [...organizations.filter((group) => group !== AUTHENTICATED), AUTHENTICATED],
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
  };
}

const IN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

function bearerOf(request: ApiRequest): string | undefined {
  const header = request.headers.authorization;
  if (header !== undefined && header !== "") {
    const match = /^Bearer\s+(.*)$/i.exec(header);
    // Another scheme than bearer is not ours to check; a real server lets it pass as anonymous.
    return match ? (match[1] as string).trim() : undefined;
  }
  // Browsers cannot set headers of a WebSocket; they put the token among its protocols.
  const protocols = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const carrier = protocols.find((name) => name.startsWith(IN_PROTOCOL));
  return carrier === undefined ? undefined : Buffer.from(carrier.slice(IN_PROTOCOL.length), "base64url").toString();
}
