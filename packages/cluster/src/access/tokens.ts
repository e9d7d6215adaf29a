import { type ApiObject, fromStore, isRecord, objectAt, type RequestUser, storeKey } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import { type Claims, newSigningKey, readClaims, TokenSigner } from "./jwt.ts";
import { quotedList } from "./rules.ts";
import { AUTHENTICATED, accountGroups, accountUsername } from "./users.ts";

/** Who signs the tokens of service accounts, and whom they are for, unless the cluster's options say otherwise. */
export const ISSUER = "https://kubernetes.default.svc.cluster.local";

/** Who signs tokens that are kept in Secrets, and what their claims begin with. */
const LASTING_ISSUER = "kubernetes/serviceaccount";
const LASTING = "kubernetes.io/serviceaccount/";

/** Clocks differ: a token is good for this much longer, and this much earlier, than it says. */
const LEEWAY_S = 60;

/** An object that a token names. */
export interface TokenRef {
  readonly name: string;
  readonly uid: string;
}

/** What a token of a service account says, besides who signed it. */
export interface TokenClaims {
  readonly namespace: string;
  readonly account: TokenRef;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly id: string;
  readonly pod?: TokenRef | undefined;
  readonly secret?: TokenRef | undefined;
  readonly node?: TokenRef | undefined;
  /** Seconds since 1970, from which on using the token is worth a warning. */
  readonly warnAfter?: number | undefined;
}

/** Who a token stands for, or why it is not accepted. No error: it is none of ours. */
export type TokenVerdict =
  | { readonly ok: true; readonly user: RequestUser; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string | undefined };

/** With which keys tokens are signed and checked, and where the objects are that they are bound to. */
export interface TokensOptions {
  readonly store: Store;
  /** The cluster's time in milliseconds. */
  readonly now: () => number;
  /** The key of a cluster that was there before; a new one is made when the first token needs it. */
  readonly signingKey?: string | undefined;
  /** Public keys and certificates whose tokens are good, too. */
  readonly keys?: readonly string[] | undefined;
  /** Who signs, and whom tokens are for unless a TokenRequest asks for another audience. */
  readonly issuer?: string | undefined;
}

/** Issues the tokens of service accounts and knows them again. The key is made for the first one. */
export class ServiceAccountTokens {
  /** Who signs them, and whom they are for unless a TokenRequest asks for another audience. */
  readonly issuer: string;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #signingKey: string | undefined;
  readonly #keys: readonly string[];
  #signer: TokenSigner | undefined;

  constructor({ store, now, signingKey, keys = [], issuer = ISSUER }: TokensOptions) {
    this.issuer = issuer;
    this.#keys = keys;
    this.#store = store;
    this.#now = now;
    this.#signingKey = signingKey;
  }

  /** The public halves of the keys as a JSON Web Key Set. */
  keySet(): { keys: Record<string, unknown>[] } {
    return { keys: this.#getSigner().jwks() };
  }

  /** How tokens are signed: `ES256`. */
  get algorithm(): string {
    return this.#getSigner().algorithm;
  }

  issue(claims: TokenClaims): string {
    return this.#getSigner().sign({
      aud: claims.audiences,
      exp: claims.expiresAt,
      iat: claims.issuedAt,
      iss: this.issuer,
      jti: claims.id,
      "kubernetes.io": {
        namespace: claims.namespace,
        ...(claims.node ? { node: claims.node } : {}),
        ...(claims.pod ? { pod: claims.pod } : {}),
        ...(claims.secret ? { secret: claims.secret } : {}),
        serviceaccount: claims.account,
        ...(claims.warnAfter === undefined ? {} : { warnafter: claims.warnAfter }),
      },
      nbf: claims.issuedAt,
      sub: accountUsername(claims.namespace, claims.account.name),
    });
  }

  /** A token without an end and for this server only, for the Secret in which it is kept. */
  issueLasting(namespace: string, secret: string, account: TokenRef): string {
    return this.#getSigner().sign({
      iss: LASTING_ISSUER,
      [`${LASTING}namespace`]: namespace,
      [`${LASTING}secret.name`]: secret,
      [`${LASTING}service-account.name`]: account.name,
      [`${LASTING}service-account.uid`]: account.uid,
      sub: accountUsername(namespace, account.name),
    });
  }

  /** Who a token stands for, if it is good for one of these audiences. */
  authenticate(token: string, audiences: readonly string[] = [this.issuer]): TokenVerdict {
    const claims = readClaims(token);
    if (claims?.iss !== this.issuer && claims?.iss !== LASTING_ISSUER) return refuse(undefined);
    const complaint = this.#getSigner().complaint(token);
    if (complaint !== undefined) return refuse(complaint);
    return claims.iss === this.issuer ? this.#check(claims, audiences) : this.#checkLasting(token, claims, audiences);
  }

  #checkLasting(token: string, claims: Claims, wanted: readonly string[]): TokenVerdict {
    const audiences = wanted.filter((audience) => audience === this.issuer);
    if (audiences.length === 0) return refuse(wrongAudience([this.issuer], wanted));
    const claim = (name: string) => String(claims[`${LASTING}${name}`] ?? "");
    const namespace = claim("namespace");
    const account = { name: claim("service-account.name"), uid: claim("service-account.uid") };
    const secret = this.#find("secrets", storeKey(namespace, claim("secret.name")));
    if (!secret) return refuse("Token has been invalidated");
    const kept = Buffer.from(String(objectAt(secret, "data").token ?? ""), "base64").toString();
    if (kept !== token) return refuse("Token does not match server's copy");
    const problem = this.#missing(namespace, account, {});
    if (problem !== undefined) return refuse(problem);
    const username = accountUsername(namespace, account.name);
    const groups = [...accountGroups(namespace), AUTHENTICATED];
    return { ok: true, user: { username, uid: account.uid, groups }, audiences };
  }

  #check(claims: Record<string, unknown>, wanted: readonly string[]): TokenVerdict {
    const own = Array.isArray(claims.aud) ? claims.aud.map(String) : [String(claims.aud)];
    const audiences = own.filter((audience) => wanted.includes(audience));
    if (audiences.length === 0) return refuse(wrongAudience(own, wanted));
    const now = this.#now() / 1_000;
    if (now - LEEWAY_S > Number(claims.exp)) return refuse("service account token has expired");
    if (now + LEEWAY_S < Number(claims.nbf)) return refuse("service account token is not valid yet");
    const named = isRecord(claims["kubernetes.io"]) ? claims["kubernetes.io"] : {};
    const namespace = String(named.namespace);
    const account = refOf(named.serviceaccount);
    if (!account) return refuse("service account token claims could not be validated");
    const problem = this.#missing(namespace, account, named);
    if (problem !== undefined) return refuse(problem);
    return { ok: true, user: accountUser(namespace, account, named, String(claims.jti)), audiences };
  }

  /** Why a token is void although it was good once: one of the objects it is bound to is gone. */
  #missing(namespace: string, account: TokenRef, named: Record<string, unknown>): string | undefined {
    const found = this.#find("serviceaccounts", storeKey(namespace, account.name));
    if (!found) return `serviceaccounts ${JSON.stringify(account.name)} not found`;
    if (found.metadata.uid !== account.uid) {
      return `service account UID (${found.metadata.uid}) does not match claim (${account.uid})`;
    }
    if (this.#deleted(found)) return `service account ${namespace}/${account.name} has been deleted`;
    for (const [kind, table] of BOUND) {
      const ref = refOf(named[kind]);
      // The node of a token that is bound to a pod is only told, not checked.
      if (!ref || (kind === "node" && named.pod !== undefined)) continue;
      const bound = this.#find(table, kind === "node" ? ref.name : storeKey(namespace, ref.name));
      if (!bound || this.#deleted(bound)) return "service account token has been invalidated";
      if (bound.metadata.uid === ref.uid) continue;
      return `${kind} UID (${bound.metadata.uid}) does not match service account ${kind} ref claim (${ref.uid})`;
    }
    return undefined;
  }

  #find(table: string, key: string): ApiObject | undefined {
    const entry = this.#store.get(table, key);
    return entry && fromStore(entry.object);
  }

  #deleted({ metadata }: ApiObject): boolean {
    const { deletionTimestamp } = metadata;
    return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < this.#now() - LEEWAY_S * 1_000;
  }

  #getSigner(): TokenSigner {
    this.#signer ??= new TokenSigner(this.#signingKey ?? newSigningKey(), this.#keys);
    return this.#signer;
  }
}

const BOUND = [
  ["secret", "secrets"],
  ["pod", "pods"],
  ["node", "nodes"],
] as const;

const wrongAudience = (own: readonly string[], wanted: readonly string[]): string =>
  `token audiences ${quotedList(own)} is invalid for the target audiences ${quotedList(wanted)}`;

const refuse = (error: string | undefined): TokenVerdict => ({ ok: false, error });

function accountUser(namespace: string, account: TokenRef, named: Record<string, unknown>, id: string): RequestUser {
  const extra: Record<string, string[]> = { "authentication.kubernetes.io/credential-id": [`JTI=${id}`] };
  for (const kind of ["node", "pod"] as const) {
    const ref = refOf(named[kind]);
    if (!ref) continue;
    extra[`authentication.kubernetes.io/${kind}-name`] = [ref.name];
    if (ref.uid !== "") extra[`authentication.kubernetes.io/${kind}-uid`] = [ref.uid];
  }
  return {
    username: accountUsername(namespace, account.name),
    uid: account.uid,
    groups: [...accountGroups(namespace), AUTHENTICATED],
    extra,
  };
}

function refOf(value: unknown): TokenRef | undefined {
  if (!isRecord(value)) return undefined;
  return { name: String(value.name ?? ""), uid: String(value.uid ?? "") };
}
