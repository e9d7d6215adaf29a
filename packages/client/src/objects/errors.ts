import { KubeError, type KubeErrorOptions } from "../meta/index.ts";

/** A selector that should mean one object matches several. */
export class AmbiguousError extends KubeError {
  override readonly code: string = "LOTSE_AMBIGUOUS";
  /** Some of those that match. */
  readonly names: readonly string[];

  constructor(message: string, names: readonly string[]) {
    super(message, { hint: "narrow the selector, or list them all" });
    this.names = names;
  }
}

/** The server, or the kind, cannot do what was asked. */
export class UnsupportedError extends KubeError {
  override readonly code: string = "LOTSE_UNSUPPORTED";
}

/** A job is over, and not well. */
export class JobFailedError extends KubeError {
  override readonly code: string = "LOTSE_JOB_FAILED";
  /** The job's word for it: `BackoffLimitExceeded`, `DeadlineExceeded`, … */
  readonly reason: string;
  /** The last lines of its last pod; empty where there are none. */
  readonly lastLines: readonly string[];

  constructor(message: string, init: KubeErrorOptions & { reason: string; lastLines: readonly string[] }) {
    super(message, init);
    this.reason = init.reason;
    this.lastLines = init.lastLines;
  }
}

/** A rollout that will not succeed by itself. */
export class RolloutError extends KubeError {
  override readonly code: string = "LOTSE_ROLLOUT";
}

/** A node was not emptied: nothing was evicted, or not everything in time. */
export class DrainError extends KubeError {
  override readonly code: string = "LOTSE_DRAIN";
  /** What is in the way, by `namespace/name` of the pod. */
  readonly pods: ReadonlyMap<string, string>;

  constructor(message: string, init: KubeErrorOptions & { pods: ReadonlyMap<string, string> }) {
    super(message, init);
    this.pods = init.pods;
  }
}

/** A manifest that cannot be read; the message begins with its place. */
export class ManifestError extends KubeError {
  override readonly code: string = "LOTSE_MANIFEST";
  /** The file or address; `undefined` for a text. */
  readonly file: string | undefined;
  /** Counted from 1; `undefined` where no line is to blame. */
  readonly line: number | undefined;

  constructor(message: string, init: KubeErrorOptions & { file: string | undefined; line?: number | undefined }) {
    const place = [init.file ?? "the manifest", init.line].filter((part) => part !== undefined).join(":");
    super(`${place}: ${message}`, init);
    this.file = init.file;
    this.line = init.line;
  }
}
