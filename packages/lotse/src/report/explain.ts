/** The answer to "why is my object as it is?": from the journal and from what the operator remembers. */
import type { JournalTurn } from "./journal.ts";

/** Which object `lotse explain` or another reader asks about. */
export interface ObjectQuestion {
  /** Kind, plural, singular or short name, in any case: `Machine`, `machines`, `machines.example.com`. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** What one operator knows about one object. */
export interface Explanation {
  readonly operator: string;
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string | undefined;
    readonly name: string;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
    readonly generation?: number | undefined;
    readonly deleting: boolean;
  };
  /** `waits`: for a time or a change · `queued`: for its turn · `working` · `gone`. */
  readonly state: "waits" | "queued" | "working" | "gone";
  /** Wall-clock milliseconds: when it is due; absent: when something changes. */
  readonly nextAt?: number | undefined;
  /** What runs at this moment. */
  readonly running?: readonly RunningHandler[] | undefined;
  /** What is not finished: each handler with its attempts and when it is tried again. */
  readonly open: readonly OpenHandler[];
  /** What has failed for good, until the object changes or a user asks for another try. */
  readonly failed?: readonly FailedHandler[] | undefined;
  /** The last turns, oldest first. */
  readonly turns: readonly JournalTurn[];
}

/** A handler in the middle of an attempt. */
export interface RunningHandler {
  readonly handler: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly place?: string | undefined;
  readonly forMs: number;
}

/** A handler that has failed for good. */
export interface FailedHandler {
  readonly handler: string;
  readonly reason: string;
  readonly message: string;
}

/** A handler whose work for the present change is not done. */
export interface OpenHandler {
  readonly handler: string;
  readonly reason: string;
  readonly attempts: number;
  /** What the last attempt said. */
  readonly message?: string | undefined;
  /** ISO time. */
  readonly retryAt?: string | undefined;
  /** Steps that are done. */
  readonly steps?: readonly string[] | undefined;
}
