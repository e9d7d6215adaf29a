/** What an operator is told each time that it is started, and what can be asked of it while it runs. */
import type { Client } from "@lotse/client";
import type { Clock, Duration } from "@lotse/client/meta";
import type { Coordinator, CoordinatorParts } from "../coordination/index.ts";
import type { Coordination, Memo, WebhookOptions, WokenObject } from "../declare/index.ts";
import type {
  Elsewhere,
  Explanation,
  LogSink,
  ObjectQuestion,
  OnBehalf,
  OperatorHealth,
  OperatorMemory,
  RecordedRequest,
} from "../report/index.ts";
import type { ShadowOptions, ShadowReport } from "../shadow/index.ts";

/** Where an operator runs. */
export interface StartOptions {
  /** Default: `Client.connect()`, or what the `on.login` handlers bring; the operator closes it when it stops. */
  readonly client?: Client;
  /** Stops the operator when it aborts. */
  readonly signal?: AbortSignal;
  /**
   * Only objects of these namespaces: names, globs, negations (`["team-*, !team-x"]`), or patterns (`[/^team-/]`).
   * Namespaces that appear later are served as well. Default: all.
   */
  readonly namespaces?: readonly (string | RegExp)[];
  /** Wins over the operator's own setting. */
  readonly crds?: "install" | "wait";
  /** Wins over the operator's own setting. */
  readonly coordination?: Coordination;
  /** Wins over the operator's own setting. */
  readonly events?: "all" | "warnings" | "none";
  /**
   * The operator's notes: handlers of the operator get them as `memo`, and each object's `memo` begins as a shallow copy
   * of them, or as what their own `clone()` returns.
   */
  readonly memo?: Memo;
  /**
   * Whether what waits for its next attempt, or has failed for good, is tried at once when the operator first sees the
   * object: what `lotse dev` does after a change of the source. Default `false`: a restart waits the rest of the time.
   */
  readonly retryAtStart?: boolean;
  /** Where the operator answers the API server; each part wins over the operator's own setting. */
  readonly webhooks?: WebhookOptions;
  /**
   * Runs beside the version that works: every write is a dry run, and what would have become of it is compared with what
   * that version does; see {@link RunningOperator.shadow}. No Events are posted, no definitions installed, no webhooks
   * served, and nothing is coordinated with others.
   */
  readonly shadow?: ShadowOptions | undefined;
  /** Takes the log. Default: lines for people on standard error, from `info` up. */
  readonly log?: LogSink;
  /** Hears of every request that a handler makes of its `client` or its `object`: what `lotse generate rbac` reads. */
  readonly record?: (request: RecordedRequest) => void;
  /**
   * Everything that handlers do is done inside of this, and so is the write of what they want to change: whoever wants to
   * know who does something can tell. For tests; a shadow has its own.
   */
  readonly onBehalf?: OnBehalf;
  /** Time, for tests. */
  readonly clock?: Clock;
  /** Randomness in [0, 1), for tests. */
  readonly random?: () => number;
}

/** What tests of the engine say besides. */
export interface InternalStartOptions extends StartOptions {
  /** Coordinates instead of what the coordination's settings would make. */
  readonly coordinator?: ((parts: CoordinatorParts) => Coordinator) | undefined;
}

/** What {@link RunningOperator.retry} has set going. */
export interface RetryAnswer {
  readonly operator: string;
  /** The ids of the handlers that are tried again; none when nothing waited. */
  readonly handlers: readonly string[];
  /** Another process works on the object: that one has to be asked. */
  readonly elsewhere?: Elsewhere | undefined;
}

/** What can be asked of an operator that runs as a shadow. */
export interface RunningShadow {
  /** What it has found so far. */
  report(): ShadowReport;
  /**
   * Resolves when nothing has begun or ceased to differ for so long; rejects with the signal's reason.
   *
   * @example
   * ```ts
   * const report = await running.shadow?.quiet("5m");
   * console.log(report?.differences.length);
   * ```
   */
  quiet(duration: Duration, o?: { readonly signal?: AbortSignal | undefined }): Promise<ShadowReport>;
}

/** An operator at work. */
export interface RunningOperator extends AsyncDisposable {
  /**
   * Resolves when all kinds are there and all their objects are known, whether this process works on them or stands by;
   * rejects when the operator cannot start.
   */
  readonly ready: Promise<void>;
  /** Resolves when the operator has stopped; rejects when it could not start, or not stop. */
  readonly stopped: Promise<void>;
  /**
   * Stops gracefully: running handlers get their signal and `graceful`, their work is written down. Takes no longer than
   * `settings.process.killAfter`, whatever the API server does.
   */
  stop(): Promise<void>;
  /**
   * What the `on.probe` handlers say, by their ids. Asked at most once in ten seconds, and once for all who ask at the
   * same time. One that fails rejects with its error.
   */
  probe(): Promise<Readonly<Record<string, unknown>>>;
  /** What has been counted so far, in the text form that Prometheus reads. */
  metrics(): string;
  /** How the operator is: its phase, its streams, the kinds that it waits for. */
  health(): OperatorHealth;
  /** What is known about one object: what woke it, what ran, what was written, what it waits for. */
  explain(question: ObjectQuestion): Explanation | undefined;
  /**
   * What the operator's copy of the cluster takes, by kind, and who reads it. What `lotse explain --memory` asks for. Of a
   * kind with many objects some are measured, and it is said of how many.
   *
   * @example
   * ```ts
   * running.memory().kinds.map(({ kind, objects, bytes }) => `${kind}: ${objects} objects, ${bytes} bytes`);
   * ```
   */
  memory(): OperatorMemory;
  /**
   * Tries again at once whatever waits for its next attempt for an object, or has failed for good; undefined when the
   * object is not known. What `lotse retry` asks for.
   *
   * @example
   * ```ts
   * running.retry({ kind: "Machine", namespace: "default", name: "one" })?.handlers; // ["boot"]
   * ```
   */
  retry(question: ObjectQuestion): RetryAnswer | undefined;
  /**
   * Wakes an object for something that has happened outside of the cluster, as a source does: its reconcilers, children and
   * timers run, and what waits for its retry is tried. `why` is shown by `lotse explain`. False when the object is not
   * known, or another process works on it.
   *
   * @example
   * ```ts
   * running.wake(Machine, { namespace: "default", name: "one" }, "its door bell rang");
   * ```
   */
  wake(kind: WokenObject["kind"], name: Omit<WokenObject, "kind" | "why">, why?: string): boolean;
  /** What the operator has found out as a shadow; undefined when it is none. */
  readonly shadow?: RunningShadow | undefined;
  /**
   * Gives back what would outlive a process that was killed: the port of its webhooks. Nothing is written down, no handler
   * hears of it, and the operator believes that it goes on: for tests that cut it off from its cluster and its clock.
   */
  kill(): Promise<void>;
  /** Resolves when nothing runs and nothing is due now. For tests. */
  idle(): Promise<void>;
}
