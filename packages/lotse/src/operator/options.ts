/** What an operator is told each time that it is started, and what can be asked of it while it runs. */
import type { Client } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { Memo, WebhookOptions, WokenObject } from "../declare/index.ts";
import type { Explanation, LogSink, ObjectQuestion, OperatorHealth, RecordedRequest } from "../report/index.ts";

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
  /** Takes the log. Default: lines for people on standard error, from `info` up. */
  readonly log?: LogSink;
  /** Hears of every request that a handler makes of its `client` or its `object`: what `lotse generate rbac` reads. */
  readonly record?: (request: RecordedRequest) => void;
  /** Time, for tests. */
  readonly clock?: Clock;
  /** Randomness in [0, 1), for tests. */
  readonly random?: () => number;
}

/** What {@link RunningOperator.retry} has set going. */
export interface RetryAnswer {
  readonly operator: string;
  /** The ids of the handlers that are tried again; none when nothing waited. */
  readonly handlers: readonly string[];
}

/** An operator at work. */
export interface RunningOperator extends AsyncDisposable {
  /** Resolves when all kinds are there and all their objects are known; rejects when the operator cannot start. */
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
   * known.
   *
   * @example
   * ```ts
   * running.wake(Machine, { namespace: "default", name: "one" }, "its door bell rang");
   * ```
   */
  wake(kind: WokenObject["kind"], name: Omit<WokenObject, "kind" | "why">, why?: string): boolean;
  /** Resolves when nothing runs and nothing is due now. For tests. */
  idle(): Promise<void>;
}
