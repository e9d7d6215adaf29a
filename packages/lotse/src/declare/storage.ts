/**
 * Where the record of an object lies, and what it says. A storage is pure: it reads a body and says how the body has to
 * look; who sends the difference is not its business. So an own storage is five members and no I/O.
 */
import type { KubeBody } from "@lotse/client";
import type { Reason } from "./cause.ts";

/** What users want of an object: its body without what the API server, controllers and this operator note on it. */
export type Essence = Record<string, unknown>;

/** What is remembered of one handler in an open cycle. Times are ISO 8601. */
export interface RunRecord {
  /** Attempts that were made. */
  readonly attempts: number;
  /** When the first one began. */
  readonly started: string;
  /** Not before this. */
  readonly due?: string;
  /** Final. */
  readonly outcome?: "done" | "failed";
  /** The last error, or what it waits for. */
  readonly message?: string;
  /** It did not fail: it waits for something, by a `TemporaryError`. */
  readonly waits?: true;
  /** Digest of the essence that the last attempt saw. */
  readonly saw?: string;
  /** Its steps. */
  readonly steps?: Readonly<Record<string, StepRecord>>;
}

/** What is remembered of one step of a handler. */
export interface StepRecord {
  readonly attempts: number;
  /** When the first attempt began; while it is unfinished. */
  readonly started?: string;
  /** Not before this. */
  readonly due?: string;
  readonly outcome?: "done" | "failed";
  /** What it returned. */
  readonly result?: unknown;
  readonly message?: string;
  /** It did not fail: it waits for something, by a `TemporaryError`. */
  readonly waits?: true;
}

/** A transition whose handlers are not all finished. */
export interface OpenCycle {
  readonly reason: Reason;
  /** Digest of the essence that it opened with. */
  readonly digest: string;
  /** That essence, packed; only for kinds whose handlers can ask for `old`. */
  readonly essence?: string;
  /** Only these handlers: the others have seen the essence already. */
  readonly only?: readonly string[];
  /** Handlers that had failed for good, and why they were called then: the object has changed, so they are tried again. */
  readonly owed?: Readonly<Record<string, Reason>>;
}

/** A handler that failed for good, in a cycle that is closed. */
export interface FailedRun {
  /** Why it was called. */
  readonly reason: Reason;
  /** Digest of the essence that it failed with: another one is a reason to try again. */
  readonly saw: string;
  readonly message: string;
}

/** See the module comment. */
export interface ObjectRecord {
  /** The object's. A record with another uid was copied from elsewhere, by a backup or by `kubectl get | apply`. */
  readonly uid: string;
  /** Digest of the last closed transition's essence; absent while the creation is open. */
  readonly handled?: string;
  /** That essence, packed; only for kinds whose handlers can ask for `old`. */
  readonly base?: string;
  readonly open?: OpenCycle;
  readonly runs?: Readonly<Record<string, RunRecord>>;
  /** Handlers that failed for good, until the object changes. */
  readonly failed?: Readonly<Record<string, FailedRun>>;
  /** Handlers that wait for the object to be left alone, and what it was like before the changes that they will hear of. */
  readonly later?: Readonly<Record<string, { readonly base?: string }>>;
  /** When timers last ran that make up for what they have missed (ISO 8601). */
  readonly timers?: Readonly<Record<string, string>>;
}

/** Where the record of a kind lies. */
export type RecordPlace = "status" | "annotation";

/** What a storage found on an object. */
export type RecordReading =
  | { readonly type: "absent" }
  | { readonly type: "found"; readonly record: ObjectRecord }
  /** Copied from another object: counts as absent. */
  | { readonly type: "foreign" }
  /** A user or another client edited it: the object is ours, but what was done for it is unknown. */
  | { readonly type: "unreadable" };

/**
 * Keeps the record of an object somewhere on the object.
 *
 * What must hold: `read(write(body, record))` finds `record`, or, where the storage cannot express all of it, a record
 * with which handlers may run again but no change is lost. `write` changes nothing when the body says it already, so
 * that a quiet operator sends nothing. Keys of others stay as they are.
 *
 * @example
 * ```ts
 * const labelled: RecordStorage = { ...annotationStorage("shop"), finalizer: "shop.example.com/finalizer" };
 * ```
 */
export interface RecordStorage {
  /**
   * Reads what is remembered on `body`. `handlers` are the ids of the kind's handlers, for storages with a key for each;
   * `essence` is what users want of the object, as the kind's handlers see it.
   */
  read(body: KubeBody, handlers: readonly string[], essence?: Essence): RecordReading;
  /** `body` as it shall be when `record` is remembered on it; undefined: nothing is remembered any more. Never changes its input. */
  write(body: KubeBody, record: ObjectRecord | undefined, handlers: readonly string[]): KubeBody;
  /** The essence without this storage's own keys; what every essence goes without is gone already. */
  clear(essence: Essence): Essence;
  /** Name of the finalizer that goes with it. */
  readonly finalizer: string;
  /** Finalizers of storages that came before: they count as ours, and are taken off when ours is put on or taken off. */
  readonly formerFinalizers?: readonly string[];
  /** Whether the record travels with the status or with the metadata. */
  readonly place: RecordPlace;
  /** The storage keeps essences for every kind, not only for those whose handlers can ask for `old`. */
  readonly needsEssence?: boolean;
}
