/** What handlers of requests get: the object as it would be stored, and who asks for that. */
import type { Client, KindDescription, KubeBody, KubeObject, ObjectMeta } from "@lotse/client";
import type { Logger } from "../report/index.ts";
import type { Difference, Memo } from "./cause.ts";
import type { Patch } from "./context.ts";
import type { Indexes } from "./indexes.ts";
import type { DeepReadonly } from "./readonly.ts";
import type { FixedSettings } from "./settings.ts";

/** What a client wants to do. `CONNECT` is of subresources such as `pods/exec`. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** Who sent a request to the API server. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A kind as the API server names it in a request. */
export interface RequestedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A resource as the API server names it in a request. */
export interface RequestedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/**
 * The request that a handler judges: what the client wants, and how the API server reached this operator.
 *
 * @example
 * ```ts
 * operator.on.validate(Machine, function audit({ request, logger }) {
 *   logger.info("somebody asks", { user: request.userInfo.username, from: request.source });
 * });
 * ```
 */
export interface AdmissionRequest {
  /** Of the review, not of the object. */
  readonly uid: string;
  readonly operation: AdmissionOperation;
  /** In the version that the handler sees. */
  readonly kind: RequestedKind;
  readonly resource: RequestedResource;
  /** As the client has sent it; another version than `kind` where the API server has converted the object. */
  readonly requestKind: RequestedKind;
  readonly requestResource: RequestedResource;
  /** `"status"`, `"scale"`, …; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Empty when the API server is still to make a name from `generateName`. */
  readonly name: string;
  readonly namespace: string | undefined;
  readonly userInfo: UserInfo;
  /** Nothing will be stored. */
  readonly dryRun: boolean;
  /** `CreateOptions`, `UpdateOptions` or `DeleteOptions` of the client. */
  readonly options: Readonly<Record<string, unknown>>;
  /** HTTP headers of the API server's call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address that the call came from. */
  readonly source: string | undefined;
  /** The certificate that the caller has shown; undefined when it has shown none. Look at `verified` before you trust it. */
  readonly peer: PeerCertificate | undefined;
}

/** The certificate that a caller has shown when it connected. */
export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Names and addresses it is good for, as `DNS:…, IP Address:…`. */
  readonly subjectAltName: string | undefined;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256, hexadecimal, without colons. */
  readonly fingerprint: string;
  /** Whether it is good now and an authority signed it that the operator was told to believe. */
  readonly verified: boolean;
}

type Part<B, Key extends string> = Key extends keyof B ? NonNullable<B[Key]> : Record<string, unknown>;

/**
 * What `on.validate` handlers get.
 *
 * @example
 * ```ts
 * operator.on.validate(Machine, { operations: ["UPDATE"] }, function keepSize({ spec, old, warn }) {
 *   if (spec.size < (old?.spec.size ?? 0)) throw new AdmissionError("a machine cannot shrink", { code: 422 });
 *   if (spec.size > 50) warn("such machines are slow to start");
 * });
 * ```
 */
export interface ValidateContext<B extends KubeBody, O = KubeObject<B>> {
  /** The object as it would be stored, or that would be deleted, with its verbs. Nothing of it is stored yet. */
  readonly object: O;
  /** The same, plain. */
  readonly body: DeepReadonly<B>;
  readonly spec: DeepReadonly<Part<B, "spec">>;
  readonly status: DeepReadonly<Partial<Part<B, "status">>>;
  readonly meta: DeepReadonly<ObjectMeta>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Empty when the API server is still to make it from `generateName`. */
  readonly name: string;
  readonly namespace: string | undefined;
  /** Empty for `on.mutate` at creation: the API server has not given it yet. */
  readonly uid: string;
  /** The kind of the object. */
  readonly resource: KindDescription;
  readonly operation: AdmissionOperation;
  /** `"status"`, `"scale"`, …; undefined for the object itself. */
  readonly subresource: string | undefined;
  readonly request: AdmissionRequest;
  readonly userInfo: UserInfo;
  /** Nothing will be stored: do nothing that lasts. */
  readonly dryRun: boolean;
  /** HTTP headers of the API server's call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The object as it is stored; undefined at creation. */
  readonly old: DeepReadonly<B> | undefined;
  /** The object as it would be stored; undefined at deletion. */
  readonly new: DeepReadonly<B> | undefined;
  /** The differences from `old` to `new`. */
  readonly diff: readonly Difference[];
  /** Shown to the client, whatever becomes of its request. `warn` adds one. */
  readonly warnings: string[];
  /** Shows the client a warning, as kubectl does in yellow. */
  warn(text: string): void;
  /** The notes of the object where the operator knows it; at creation a copy of the operator's notes, which is thrown away. */
  readonly memo: Memo;
  readonly logger: Logger;
  /** The id of this run: in each of its log lines, and in its span. Each request is another one. */
  readonly runId: string;
  /** A client whose default namespace is the object's; its calls end with `signal`. */
  readonly client: Client;
  /** Aborts when the API server waits no longer, or the operator has to end. */
  readonly signal: AbortSignal;
  readonly param: unknown;
  /** How the operator works. */
  readonly settings: FixedSettings;
  /** The operator's indexes: `indexes(podsByNode).get("node-1")`. */
  readonly indexes: Indexes;
}

/**
 * What `on.mutate` handlers get.
 *
 * @example
 * ```ts
 * operator.on.mutate(Machine, function fillIn({ spec, patch, userInfo }) {
 *   patch.spec.size = spec.size ?? 10;
 *   patch.metadata.annotations["example.com/created-by"] = userInfo.username;
 * });
 * ```
 */
export interface MutateContext<B extends KubeBody, O = KubeObject<B>> extends ValidateContext<B, O> {
  /**
   * What is written here becomes part of the answer: the API server stores the object with it. `null` removes a field,
   * lists are replaced as a whole; `patch.transform` changes the object in place.
   */
  readonly patch: Patch<B>;
}
