import type { ObjectBody } from "../kinds/index.ts";
import type { Clock, FieldSelectorInput, LabelSelectorInput, ShardSelector } from "../meta/index.ts";
import type { AnswerLimits, RawRequest, RawResponse, Reachability } from "../transport/index.ts";

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
  /** Whether an object of a list is wanted: what is not is let go page by page, and never all in memory at once. */
  keeps?(body: B): boolean;
  /** What is wanted of an object. Everything else is let go as soon as it is parsed; of a list, page by page. */
  cut?(body: B): B;
}

/** What to stream, and how patiently. */
export interface StreamOptions {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** A function is asked whenever the stream begins. */
  readonly labelSelector?: LabelSelectorInput | (() => LabelSelectorInput | undefined) | undefined;
  /** The same for fields. */
  readonly fieldSelector?: FieldSelectorInput | (() => FieldSelectorInput | undefined) | undefined;
  /**
   * A part of the collection, asked for whenever the stream begins: a server that knows of shards sends nothing else, all
   * others send everything. Hence for a listener that also chooses by itself.
   */
  readonly shardSelector?: (() => ShardSelector | undefined) | undefined;
  /**
   * Whether only metadata are wanted, asked whenever the stream begins: servers send nothing else then. One that cannot
   * do that sends whole objects; hence for a sink that also cuts by itself.
   */
  readonly metadataOnly?: (() => boolean) | undefined;
  /** A watch that is silent for so long is taken for dead. Default 90 s: servers send a bookmark about every minute. */
  readonly inactivityMs?: number | undefined;
  /** For how long the server is asked to keep one watch open; half as long at the least. Default 10 min. */
  readonly serverTimeoutMs?: number | undefined;
  /**
   * Milliseconds before the next try after so many earlier failures in a row, of which `error` is the last; `random` is in
   * [0, 1). Default: 0.8 s growing to 30 s, to 1 min while the list is forbidden, to 10 s while there is no such kind;
   * and while the server is away, one stream of the client looks every 2.5 s whether it is back (every 15 s in the end).
   */
  readonly backoff?: ((failures: number, random: number, error: unknown) => number) | undefined;
  /**
   * Called when the stream begins to wait, for a caller that may know earlier that it is worth another try:
   * `wake` has it try at once. The returned function is called when it waits no longer.
   */
  readonly onWait?: ((error: unknown, wake: () => void) => () => void) | undefined;
  /**
   * Whether the server may be asked for a watch that begins with all there is, instead of a list. It is asked for a list
   * all the same where it refuses that, or does not say in time where all that there is ends. Default `"never"`.
   */
  readonly initialStreaming?: "never" | "auto" | undefined;
  /** Told why a list is asked for though `initialStreaming` is `"auto"`. */
  readonly onListInstead?: ((why: unknown) => void) | undefined;
  /** Default 500. */
  readonly pageSize?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  /** Default `false`: `managedFields` is a third of an object's memory, and hardly any program reads it. */
  readonly keepManagedFields?: boolean | undefined;
}

/** The part of a client that a stream needs; `Client` has it. */
export interface StreamClient {
  raw(request: RawRequest): Promise<RawResponse>;
  /** Where a stream that waits hears that the server answers again. Without it each stream waits for itself. */
  readonly reachability?: Reachability | undefined;
  /** How long one event may be; a watch with a longer one fails. Without it there is no limit. */
  readonly limits?: Pick<AnswerLimits, "eventBytes"> | undefined;
}
