import type { ObjectBody } from "../kinds/index.ts";
import type { Clock, FieldSelectorInput, LabelSelectorInput } from "../meta/index.ts";
import type { RawRequest, RawResponse } from "../transport/index.ts";

/** Where a stream stands. Times are those of the clock's `monotonic`. */
export type StreamState = {
  /** `waiting`: the last try failed with `error`; the next one is at `retryAt`. */
  readonly phase: "listing" | "watching" | "waiting" | "closed";
  readonly since: number;
  readonly resourceVersion?: string;
  readonly error?: unknown;
  readonly retryAt?: number;
  readonly lastEventAt?: number;
};

/** Where a stream delivers. Calls come one at a time, in the order of the server's versions. */
export interface StreamSink<B extends ObjectBody = ObjectBody> {
  /** The whole truth: what is absent no longer exists. */
  replace(items: B[], resourceVersion: string): void;
  apply(body: B, type: "ADDED" | "MODIFIED"): void;
  remove(body: B): void;
  /** Nothing changed up to this version. */
  bookmark?(resourceVersion: string): void;
  /** Told at each change of phase. */
  state?(state: StreamState): void;
  /** A promise here holds reading back until it resolves, so that a slow consumer does not fill the memory. */
  drained?(): Promise<void> | undefined;
  /**
   * What was delivered last of an object, for a sink that keeps it: while the text of a `spec` stays the same it is not
   * parsed again, and the next version gets the very same object. It is frozen then, because it belongs to both.
   */
  known?(object: ObjectBody): B | undefined;
}

/** What to stream, and how patiently. */
export interface StreamOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly fieldSelector?: FieldSelectorInput | undefined;
  /** A watch that is silent for so long is taken for dead. Default 90 s: servers send a bookmark about every minute. */
  readonly inactivityMs?: number | undefined;
  /** For how long the server is asked to keep one watch open; half as long at the least. Default 10 min. */
  readonly serverTimeoutMs?: number | undefined;
  /** Milliseconds before the next try after so many earlier failures in a row; `random` is in [0, 1). */
  readonly backoff?: ((failures: number, random: number) => number) | undefined;
  /** Default 500. */
  readonly pageSize?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  /** Default `false`: `managedFields` is a third of an object's memory, and hardly anybody reads it. */
  readonly keepManagedFields?: boolean | undefined;
}

/** The part of a client that a stream needs; `Client` has it. */
export interface StreamClient {
  raw(request: RawRequest): Promise<RawResponse>;
}
