/** The answer to "why is my object as it is?": from the journal and from what the operator remembers. */
import type { CoordinationHealth } from "./health.ts";
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
  /** `waits`: for a time or a change · `queued`: for its turn · `working` · `gone` · `elsewhere`: not worked on by this process. */
  readonly state: "waits" | "queued" | "working" | "gone" | "elsewhere";
  /** Why this process does not work on it. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Wall-clock milliseconds: when it is due; absent: when something changes. */
  readonly nextAt?: number | undefined;
  /** What runs at this moment. */
  readonly running?: readonly RunningHandler[] | undefined;
  /** What is not finished: each handler with its attempts and when it is tried again. */
  readonly open: readonly OpenHandler[];
  /** What has failed for good, until the object changes or a user asks for another try. */
  readonly failed?: readonly FailedHandler[] | undefined;
  /** Whether it is ready in the time that its kind promises; absent where it promises nothing. */
  readonly objective?: ExplainedObjective | undefined;
  /** The last turns, oldest first. */
  readonly turns: readonly JournalTurn[];
}

/** How the last change of an object stands to what its kind promises. */
export interface ExplainedObjective {
  /** Within this time it has to be ready, and so many of all changes have to be. */
  readonly readyMs: number;
  readonly of: number;
  /** The change. */
  readonly generation: number;
  /** `unknown`: the operator has not seen it from its beginning. */
  readonly state: "pending" | "late" | "ready" | "unknown";
  /** For how long it has not been ready. */
  readonly forMs?: number | undefined;
  /** How long it took. */
  readonly tookMs?: number | undefined;
}

/** Why a process does not work on an object. */
export interface Elsewhere extends Pick<CoordinationHealth, "state" | "holder" | "reason"> {
  /** Who was asked. */
  readonly identity: string;
}

/** A handler in the middle of an attempt. */
export interface RunningHandler {
  readonly handler: string;
  /** The same in the lines that the run writes, and in its span. */
  readonly runId: string;
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
