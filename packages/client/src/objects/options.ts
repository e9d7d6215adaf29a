import type { Duration, FieldSelectorInput, LabelSelectorInput } from "../meta/index.ts";
import type { StreamState } from "../streams/index.ts";
import type { RequestOptions } from "../transport/index.ts";

/** Where to look for a namespaced object. Default: the client's namespace. */
export interface NamespaceOption {
  readonly namespace?: string | undefined;
}

/** Options of `get`. */
export interface GetOptions extends RequestOptions, NamespaceOption {
  /** `"status"`, `"scale"`, … */
  readonly subresource?: string | undefined;
  /** How long to wait for an object that is not there yet. Default: not at all. */
  readonly waitUpTo?: Duration | undefined;
}

/** Which one object to find: exactly one must match. */
export interface SelectOptions extends RequestOptions, NamespaceOption {
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
}

/** Which objects to list, and how. */
export interface ListOptions extends RequestOptions, NamespaceOption {
  /** `"app=web,tier!=db"`, `{ app: "web" }`, or a selector with `matchLabels` and `matchExpressions`. */
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** Objects in one request. Default 500. */
  readonly pageSize?: number | undefined;
  /** `"0"` accepts what the server has in its cache. Default: the newest. */
  readonly resourceVersion?: string | undefined;
}

/** Which objects to watch, and how patiently. */
export interface WatchOptions extends NamespaceOption {
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** Ends the watch with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** `"list"` (default) starts with an ADDED for each object that exists; `"none"` starts with the first change. */
  readonly initial?: "list" | "none" | undefined;
  /** Silence that is taken for a dead connection. Default 90 s. */
  readonly inactivity?: Duration | undefined;
  /** Hears what the watch does, such as waiting for a permission or for the server. */
  readonly onState?: ((state: StreamState) => void) | undefined;
}

/** What every write takes. */
export interface WriteOptions extends RequestOptions {
  /** The server checks and answers, and stores nothing. */
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore" | undefined;
}

/** Options of `create`. */
export interface CreateOptions extends WriteOptions, NamespaceOption {}

/** Options of `create` with several objects. */
export interface CreateManyOptions extends CreateOptions {
  /** How many at a time. Default 8. */
  readonly concurrency?: number | undefined;
}

/** How a patch is written: RFC 7386, RFC 6902, or the kind of Kubernetes that merges lists by key. */
export type PatchType = "merge" | "json" | "strategic";

/** Options of `patch`. */
export interface PatchOptions extends WriteOptions, NamespaceOption {
  /** Default: `json` for an array of operations, else `merge`. */
  readonly type?: PatchType | undefined;
  readonly subresource?: string | undefined;
}

/** Options of server-side `apply`. */
export interface ApplyOptions extends WriteOptions, NamespaceOption {
  /** Takes fields from other managers instead of failing with a ConflictError. */
  readonly force?: boolean | undefined;
  readonly subresource?: string | undefined;
  /** Applies to the object with this uid only: a ConflictError when there is another one, or none. */
  readonly uid?: string | undefined;
  /** Creates, and never changes: a ConflictError when there is an object of this name already, whichever client made it. */
  readonly absent?: boolean | undefined;
}

/** Options of `apply` with several objects. */
export interface ApplyManyOptions extends ApplyOptions {
  /** How many at a time. Default 8. */
  readonly concurrency?: number | undefined;
}

/** Options of `replace`. */
export interface ReplaceOptions extends WriteOptions, NamespaceOption {
  readonly subresource?: string | undefined;
}

/** Options of `update` and `createOrPatch`. */
export interface UpdateOptions extends ReplaceOptions {
  /** How often a conflict is answered with another try. Default 10. */
  readonly conflicts?: number | undefined;
}

/** Options of `scale`. */
export interface ScaleOptions extends WriteOptions, NamespaceOption {
  /** Resolves only when as many replicas are there; a duration limits the patience. */
  readonly wait?: boolean | Duration | undefined;
}

/** Options of `delete`. */
export interface DeleteOptions extends RequestOptions, NamespaceOption {
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  /** The same as `gracePeriodSeconds: 0`. */
  readonly force?: boolean | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  /** An object that is gone already counts as deleted. */
  readonly ignoreNotFound?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  /** Resolves only when the object is gone; a duration limits the patience. */
  readonly wait?: boolean | Duration | undefined;
}
