/**
 * The measures of one kind's work, under the names that controller-runtime uses where the meaning is the same, so that
 * dashboards and alerts that people have go on working.
 */
import type { StreamHealth } from "./health.ts";
import type { Counter, Histogram, Metrics, Reading } from "./metrics.ts";

/** How a turn ended, in controller-runtime's words. */
export type TurnResult = "success" | "error" | "requeue" | "requeue_after";

/** What a queue says of itself when it is asked. */
export interface QueueState {
  /** Keys that wait for their turn now. */
  readonly depth: number;
  /** Keys that wait for a time. */
  readonly delayed: number;
  /** Keys that are worked on. */
  readonly running: number;
  /** For how long each of them has been, in milliseconds. */
  runningForMs(): number[];
}

const PHASES: readonly StreamHealth["phase"][] = ["listing", "watching", "waiting"];

/** The gauges of some streams: an age that grows beyond a minute or two is a stream that hears nothing any more. */
export function measureStreams(metrics: Metrics, streams: () => readonly StreamHealth[]): void {
  const labels = ({ kind, namespace = "" }: StreamHealth) => ({ kind, namespace });
  metrics.gauge(
    "lotse_stream_last_event_age_seconds",
    "How long ago a stream last brought a list, an event or a bookmark.",
    () => streams().map((stream): Reading => [labels(stream), stream.quietMs / 1_000]),
    Math.max,
  );
  metrics.gauge(
    "lotse_stream_phase",
    "What a stream does: 1 for its phase, 0 for the others.",
    () =>
      streams().flatMap((stream) =>
        PHASES.map((phase): Reading => [{ ...labels(stream), phase }, stream.phase === phase ? 1 : 0]),
      ),
    Math.max,
  );
}

/** What is measured of handlers: those of a kind, or those of the operator itself. */
export class HandlerMeasures {
  readonly #metrics: Metrics;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #handlers = new Map<string, { readonly seconds: Histogram; readonly outcomes: Map<string, Counter> }>();

  /** @param kind of the objects that the handlers are for; none for handlers of the operator itself */
  constructor(metrics: Metrics, kind?: string) {
    this.#metrics = metrics;
    this.#labels = kind === undefined ? {} : { kind };
  }

  /** One attempt of a handler. */
  ran(handler: string, outcome: string, ms: number): void {
    let known = this.#handlers.get(handler);
    if (!known) {
      const labels = { ...this.#labels, handler };
      known = {
        seconds: this.#metrics.histogram("lotse_handler_seconds", "How long handlers take.", labels),
        outcomes: new Map(),
      };
      this.#handlers.set(handler, known);
    }
    let counter = known.outcomes.get(outcome);
    if (!counter) {
      const labels = { ...this.#labels, handler, outcome };
      counter = this.#metrics.counter("lotse_handler_runs_total", "Attempts of handlers.", labels);
      known.outcomes.set(outcome, counter);
    }
    counter.add();
    known.seconds.observe(ms / 1_000);
  }
}

/** What is measured of one kind. */
export class KindMeasures extends HandlerMeasures {
  readonly #metrics: Metrics;
  readonly #kind: string;
  readonly #results = new Map<TurnResult, Counter>();
  readonly #turnSeconds: Histogram;
  readonly #errors: Counter;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #waitSeconds: Histogram;
  readonly #workSeconds: Histogram;
  readonly #writes: Counter;

  /** @param kind its name as people write it: `Machine` */
  constructor(metrics: Metrics, kind: string) {
    super(metrics, kind);
    this.#metrics = metrics;
    this.#kind = kind;
    const controller = { controller: kind.toLowerCase() };
    const queue = { name: kind.toLowerCase(), ...controller };
    this.#turnSeconds = metrics.histogram(
      "controller_runtime_reconcile_time_seconds",
      "How long the turns of objects take.",
      controller,
    );
    this.#errors = metrics.counter(
      "controller_runtime_reconcile_errors_total",
      "Turns that ended with an error.",
      controller,
    );
    this.#adds = metrics.counter("workqueue_adds_total", "Objects that were given something to do.", queue);
    this.#retries = metrics.counter("workqueue_retries_total", "Objects whose time had come.", queue);
    this.#waitSeconds = metrics.histogram(
      "workqueue_queue_duration_seconds",
      "How long objects wait for their turn.",
      queue,
    );
    this.#workSeconds = metrics.histogram("workqueue_work_duration_seconds", "How long objects are worked on.", queue);
    this.#writes = metrics.counter("lotse_writes_total", "Writes of the framework to its objects.", { kind });
  }

  /** The gauges of the kind's queue, store and streams. `owned`: how many objects this process works on. */
  watch(queue: QueueState, concurrency: number, owned: () => number, streams: () => readonly StreamHealth[]): void {
    const kind = this.#kind;
    const controller = { controller: kind.toLowerCase() };
    const labels = { name: kind.toLowerCase(), ...controller };
    const one = (value: () => number, of: Reading[0]) => (): Reading[] => [[of, value()]];
    const ages = () => queue.runningForMs().map((ms) => ms / 1_000);
    const gauge = (name: string, help: string, value: () => number, of: Reading[0]) =>
      this.#metrics.gauge(name, help, one(value, of));
    gauge("workqueue_depth", "Objects that wait for their turn.", () => queue.depth, labels);
    gauge("lotse_queue_delayed", "Objects that wait for a time.", () => queue.delayed, { kind });
    gauge("controller_runtime_active_workers", "Objects that are worked on.", () => queue.running, controller);
    gauge(
      "controller_runtime_max_concurrent_reconciles",
      "How many objects may be worked on at the same time.",
      () => concurrency,
      controller,
    );
    gauge(
      "workqueue_unfinished_work_seconds",
      "For how long the objects that are worked on have been, in sum.",
      () => ages().reduce((sum, age) => sum + age, 0),
      labels,
    );
    gauge(
      "workqueue_longest_running_processor_seconds",
      "For how long the longest of them has been.",
      () => Math.max(0, ...ages()),
      labels,
    );
    const stored = () => streams().reduce((sum, { objects }) => sum + objects, 0);
    gauge("lotse_objects", "Objects in the store.", stored, { kind });
    gauge("lotse_owned_objects", "Objects that this process works on.", owned, { kind });
    measureStreams(this.#metrics, streams);
  }

  added(): void {
    this.#adds.add();
  }

  due(): void {
    this.#retries.add();
  }

  waited(ms: number): void {
    this.#waitSeconds.observe(ms / 1_000);
  }

  worked(ms: number): void {
    this.#workSeconds.observe(ms / 1_000);
  }

  wrote(): void {
    this.#writes.add();
  }

  turn(result: TurnResult, ms: number): void {
    let counter = this.#results.get(result);
    if (!counter) {
      counter = this.#metrics.counter("controller_runtime_reconcile_total", "Turns of objects.", {
        controller: this.#kind.toLowerCase(),
        result,
      });
      this.#results.set(result, counter);
    }
    counter.add();
    if (result === "error") this.#errors.add();
    this.#turnSeconds.observe(ms / 1_000);
  }
}
