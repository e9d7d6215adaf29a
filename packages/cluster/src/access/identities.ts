import { randomBytes } from "node:crypto";
import type { Kubeconfig } from "@lotse/client";
import { ConfigError } from "@lotse/client/meta";
import { type ApiObject, type Backend, fromStore, objectAt, type RequestUser, storeKey } from "../registry/index.ts";
import type { ServiceAccountTokens } from "./tokens.ts";
import { AUTHENTICATED } from "./users.ts";

/** Signs certificates by which clients say who they are. */
export interface CertificateIssuer {
  issue(request: {
    readonly commonName: string;
    readonly organizations: readonly string[];
    readonly usage: "client";
  }): { readonly certPem: string; readonly keyPem: string };
}

/** A user of the cluster: a person with groups, or a service account by `namespace/name`. */
export type Identity =
  | { readonly user: string; readonly groups?: readonly string[] }
  | { readonly serviceAccount: string };

/** How a kubeconfig says who its user is. */
export type Credentials = NonNullable<Kubeconfig["users"]>[number]["user"];

/** Long enough for any test; a test that wants another time asks for a token by a TokenRequest. */
const TOKEN_SECONDS = 365 * 86_400;

/** What new credentials are made with: certificates for persons, tokens for service accounts. */
export interface IdentitiesOptions {
  readonly backend: Pick<Backend, "store" | "uuid" | "clock">;
  /** Absent over plain HTTP, where clients cannot show certificates. */
  readonly certificates: CertificateIssuer | undefined;
  readonly tokens: Map<string, RequestUser>;
  readonly accounts: ServiceAccountTokens;
}

/** Makes credentials: a client certificate or, where that is not possible, a token. */
export function createCredentials(options: IdentitiesOptions): (identity: Identity) => Credentials {
  return (identity) =>
    "serviceAccount" in identity
      ? { token: accountToken(options, identity.serviceAccount) }
      : userCredentials(options, identity.user, identity.groups ?? []);
}

/** Who a pod is. */
export function podIdentity(pod: ApiObject): Identity {
  const { serviceAccountName } = objectAt(pod, "spec");
  return { serviceAccount: `${pod.metadata.namespace}/${serviceAccountName || "default"}` };
}

function userCredentials(
  { certificates, tokens }: IdentitiesOptions,
  user: string,
  groups: readonly string[],
): Credentials {
  if (!certificates) {
    const token = randomBytes(24).toString("base64url");
    tokens.set(token, { username: user, groups: [...groups, AUTHENTICATED] });
    return { token };
  }
  const { certPem, keyPem } = certificates.issue({ commonName: user, organizations: groups, usage: "client" });
  return {
    "client-certificate-data": Buffer.from(certPem).toString("base64"),
    "client-key-data": Buffer.from(keyPem).toString("base64"),
  };
}

function accountToken({ backend, accounts }: IdentitiesOptions, place: string): string {
  const [namespace = "", name = ""] = place.split("/");
  const entry = backend.store.get("serviceaccounts", storeKey(namespace, name));
  if (!entry) {
    throw new ConfigError(`There is no service account ${JSON.stringify(place)}.`, {
      hint: 'Create it first, and name it by "namespace/name".',
    });
  }
  const issuedAt = Math.floor(backend.clock.now() / 1_000);
  return accounts.issue({
    namespace,
    account: { name, uid: fromStore(entry.object).metadata.uid },
    audiences: [accounts.issuer],
    issuedAt,
    expiresAt: issuedAt + TOKEN_SECONDS,
    id: backend.uuid(),
  });
}
