/** What can be read of the cluster without asking it: the operator's own copy. */
import type { KindClass, KindDescription, KubeObject } from "@lotse/client";
import type { FieldSelectorInput, LabelSelectorInput } from "@lotse/client/meta";
import type { FieldPath } from "./field-path.ts";
import type { IndexHandle } from "./indexes.ts";
import type { ObjectOf } from "./kind-types.ts";

/**
 * Which objects to list.
 *
 * @example
 * ```ts
 * await list(Pod, { labelSelector: { app: name }, fieldSelector: "status.phase=Running" });
 * await list(Switch, { ownedBy: object });
 * ```
 */
export interface ListQuery {
  /** Default: the namespace of the object; `"*"` for all that the operator serves. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** Only objects that have this one, or the one with this uid, among their owners. */
  readonly ownedBy?: KubeObject | string | undefined;
  /** See {@link ReadOptions.keep}; what the selectors look at is kept besides. */
  readonly keep?: readonly FieldPath[] | undefined;
}

/**
 * Where an object is, and what of it is needed.
 *
 * @example
 * ```ts
 * operator.timer(Machine, { interval: "1m" }, async function look({ name, get, logger }) {
 *   const pod = await get(Pod, name, { keep: ["status.phase"] });
 *   logger.info("looked", { phase: pod?.status?.phase });
 * });
 * ```
 */
export interface ReadOptions {
  /** Default: the namespace of the object. */
  readonly namespace?: string | undefined;
  /**
   * The fields that are needed, beside metadata; `[]` is metadata alone. Default: what the reconciler has said of the kind
   * in `watches`, else all. A kind that is only read is kept in memory as far as its readers need it together; a read that
   * needs more than that, for the first time, waits until the kind has been listed anew. A field that is not kept throws.
   */
  readonly keep?: readonly FieldPath[] | undefined;
}

/** A kind as reads take it. */
export type ReadableKind = KindClass<KubeObject> | KindDescription | string;

/** Reads one object; undefined when there is none. */
export interface CachedGet {
  <R extends ReadableKind>(kind: R, name: string, o?: ReadOptions): Promise<ObjectOf<R> | undefined>;
  /** The same from the server, past the store; a reconciler is not woken by it. */
  live<R extends ReadableKind>(
    kind: R,
    name: string,
    o?: { readonly namespace?: string | undefined },
  ): Promise<ObjectOf<R> | undefined>;
}

/** Reads the objects of a kind, or the values of an index under a key. */
export interface CachedList {
  <R extends ReadableKind>(kind: R, query?: ListQuery): Promise<readonly ObjectOf<R>[]>;
  <K, V>(index: IndexHandle<K, V>, key: K): Promise<readonly V[]>;
}

/**
 * Reads that are answered from the operator's own copy of the cluster, own writes included, without a request. A kind is
 * followed from the first time that a handler reads it: use the `client` for kinds with many objects of which few matter.
 *
 * @example
 * ```ts
 * operator.timer(Machine, { interval: "1m" }, async function count({ object, list, patch }) {
 *   patch.status.switches = (await list(Switch, { ownedBy: object })).length;
 * });
 * ```
 */
export interface CachedReads {
  readonly get: CachedGet;
  readonly list: CachedList;
  /** Whether there is such an object. */
  readonly exists: (
    kind: ReadableKind,
    name: string,
    o?: { readonly namespace?: string | undefined },
  ) => Promise<boolean>;
}

/** {@link CachedGet} of a reconciler, which is woken when the object changes. */
export type TrackedGet = CachedGet;

/** {@link CachedList} of a reconciler, which is woken when the list would be another one. */
export type TrackedList = CachedList;

/**
 * {@link CachedReads} of a reconciler: they are remembered, and when an answer would be another one the object is
 * reconciled again. `exists` wakes only when that changes.
 */
export type TrackedReads = CachedReads;
