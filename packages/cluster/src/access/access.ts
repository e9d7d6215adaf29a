import type { AdmissionPlugin } from "../admission/index.ts";
import type { ApiServer, Documents, Reviews } from "../api/index.ts";
import type { Controller, ControllerContext } from "../controllers/index.ts";
import type { ApiObject, Backend, RequestUser } from "../registry/index.ts";
import { AccountSecrets } from "./account-secrets.ts";
import { ClusterRoleAggregation } from "./aggregation.ts";
import { createAuthenticator } from "./authenticate.ts";
import { type Authorizer, createPermission, PERMISSIVE } from "./authorizer.ts";
import { creationChecks } from "./creation.ts";
import { escalationChecks } from "./escalation.ts";
import { Gate } from "./gate.ts";
import { type CertificateIssuer, type Credentials, createCredentials, type Identity } from "./identities.ts";
import { createImpersonator } from "./impersonate.ts";
import { openIdDocuments } from "./openid.ts";
import { podAccounts } from "./pod-accounts.ts";
import { createRbac } from "./rbac.ts";
import { createReviews } from "./reviews.ts";
import { createPodTokens, createTokenRequests } from "./token-request.ts";
import { ServiceAccountTokens } from "./tokens.ts";
import { ADMIN, ANONYMOUS } from "./users.ts";
import type { Guard } from "./web-guard.ts";

/** What a cluster says about who may talk to it, and what is needed to find out. */
export interface AccessOptions {
  readonly backend: Pick<Backend, "store" | "clock" | "random" | "uuid">;
  /** Whether roles decide who may do what; else everybody who sends credentials may do everything. */
  readonly rbac: boolean;
  /** Whether a client that sends no credentials is the administrator. */
  readonly openDoors?: boolean;
  /** The administrator's token. */
  readonly adminToken: string;
  /** Issues client certificates; absent over plain HTTP. */
  readonly certificates: CertificateIssuer | undefined;
  /** The key for tokens of service accounts, of a cluster that was there before. */
  readonly signingKey?: string | undefined;
  /** Who signs tokens of service accounts, and which other keys are good for them. */
  readonly issuer?: string | undefined;
  readonly accountKeys?: readonly string[] | undefined;
  /** Tokens of people, besides the administrator's. */
  readonly people?: ReadonlyMap<string, RequestUser> | undefined;
}

/** Which of the controllers of this room run. All do unless told otherwise. */
export interface AccessControllers {
  /** Collects the rules of ClusterRoles in those that aggregate them. */
  readonly clusterRoleAggregation?: boolean;
  /** Fills Secrets of type `kubernetes.io/service-account-token`. */
  readonly serviceAccountTokens?: boolean;
}

/** Who sent a request and what that user may do: everything that the API server asks about that. */
export interface Access {
  /** What the API answers out of this room. */
  readonly answers: { readonly reviews: Reviews; readonly documents: Documents };
  /** Puts the questions of this room before an API; `refuse` comes before all others. */
  readonly gate: (api: ApiServer, refuse: Guard) => Gate;
  /** Gives pods their service account. Needs a controller that makes the accounts of new namespaces. */
  readonly podAccounts: AdmissionPlugin;
  /** Wants the right to create from those whose update creates; must be the first plugin. */
  readonly creationChecks: AdmissionPlugin;
  /** Keeps people from giving away what they do not have; must be the last plugin. */
  readonly escalationChecks: AdmissionPlugin;
  /** What the authorizer says, for code that asks on behalf of a user. */
  readonly decide: Authorizer["decide"];
  /** The token of a pod's service account, bound to the pod; an empty audience means this server. */
  readonly podToken: (pod: ApiObject, audience: string, seconds: number) => string;
  readonly controllers: (context: ControllerContext, caPem: string, chosen?: AccessControllers) => Controller[];
  /** New credentials for a user. */
  readonly credentialsFor: (identity: Identity) => Credentials;
}

/** Puts authentication, authorization and the controllers of both together, as the cluster's options want them. */
export function createAccess(options: AccessOptions): Access {
  const {
    backend,
    rbac,
    openDoors,
    adminToken,
    certificates,
    signingKey,
    issuer,
    accountKeys: keys,
    people = [],
  } = options;
  const { store, clock, random } = backend;
  const tokens = new Map([...people, [adminToken, ADMIN]]);
  const accounts = new ServiceAccountTokens({ store, now: () => clock.now(), signingKey, keys, issuer });
  const authorizer = rbac ? createRbac(store) : PERMISSIVE;
  return {
    gate: (api, refuse) =>
      new Gate(api, {
        refuse,
        authenticate: createAuthenticator({ tokens, accounts, anonymous: openDoors ? ADMIN : ANONYMOUS }),
        impersonate: createImpersonator(authorizer),
        authorize: createPermission(authorizer),
      }),
    answers: {
      reviews: createReviews({ tokens, accounts, authorizer }).set(
        "/serviceaccounts/token",
        createTokenRequests(backend, accounts),
      ),
      documents: openIdDocuments(accounts),
    },
    podAccounts: podAccounts(store, random),
    creationChecks: rbac ? creationChecks(authorizer) : {},
    escalationChecks: rbac ? escalationChecks(store, authorizer) : {},
    decide: (user, attempt) => authorizer.decide(user, attempt),
    podToken: createPodTokens(backend, accounts),
    controllers: (context, caPem, chosen = {}) => [
      ...(chosen.clusterRoleAggregation === false ? [] : [new ClusterRoleAggregation(context)]),
      ...(chosen.serviceAccountTokens === false ? [] : [new AccountSecrets(context, accounts, caPem)]),
    ],
    credentialsFor: createCredentials({ backend, certificates, tokens, accounts }),
  };
}
