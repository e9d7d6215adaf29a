/**
 * Kubernetes Events. Posting costs the caller nothing and never fails: events are counted together, limited by object,
 * queued within bounds and written in the background, object by object in order and several objects at a time.
 */
import { type Client, type KubeBody, Event as KubeEvent } from "@lotse/client";
import { type Clock, type Duration, durationMs } from "@lotse/client/meta";
import { EventAggregate, type EventSeries } from "./events-aggregate.ts";
import {
  type EventInput,
  eventBody,
  eventName,
  eventNamespace,
  eventPatch,
  isAboutEvent,
  normalEvent,
} from "./events-body.ts";
import { type EventStep, stepAfter } from "./events-outcome.ts";
import type { LogFields } from "./logger.ts";

/** How Events are posted. */
export interface EventSettings {
  /** Which events are posted: `"all"` (default), those of type Warning, or none. */
  readonly post?: "all" | "warnings" | "none";
  /** How many writes about one object are allowed at once. Default 25. */
  readonly burst?: number;
  /** After how long one more is allowed. Default 5 min. */
  readonly refill?: Duration;
  /** How many writes may wait; more events are dropped. Default 1000. */
  readonly queue?: number;
  /** How many different events are remembered, to count their repetitions. Default 4096. */
  readonly remember?: number;
  /** After how long an event that did not happen again is forgotten: the next one is a new Event. Default 10 min. */
  readonly forget?: Duration;
  /** How many requests run at a time. Default 8. */
  readonly concurrency?: number;
  /** How often a write is tried before it is given up. Default 8. */
  readonly attempts?: number;
  /** The first wait between attempts; each is twice as long as the one before, up to a minute. Default 1 s. */
  readonly backoff?: Duration;
  /** How long one request may take. Default 10 s. */
  readonly timeout?: Duration;
}

/** What an {@link EventRecorder} needs. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Who reports: the operator's name. */
  readonly component: string;
  /** Which of its processes; default: the component. */
  readonly instance?: string | undefined;
  /** Hears what keeps Events from being posted, once for each problem. */
  readonly onProblem?: ((message: string, fields: LogFields) => void) | undefined;
  readonly settings?: EventSettings | undefined;
}

/** What has become of the events so far. */
export interface EventCounts {
  /** Handed in, without those that the settings leave out. */
  readonly posted: number;
  /** Requests that succeeded. */
  readonly written: number;
  /** Not written: too many of one object, or no room, or refused by the server, or too late. */
  readonly dropped: number;
}

/** The writes about one object, in order. */
interface Lane {
  readonly key: string;
  readonly waiting: EventSeries[];
  /** Failed attempts of the first one in a row. */
  attempts: number;
  /** `parked`: nothing to do; `ready`: in line for a request; `resting`: after a failure. */
  state: "parked" | "ready" | "sending" | "resting";
}

const MAX_BACKOFF_MS = 60_000;
/** When an operator stops, Events that cannot be posted are worth so much of its time. */
const FUTILE_MS = 1_000;
/** More different problems than this say nothing new. */
const MAX_PROBLEMS = 100;

/**
 * Posts Kubernetes Events in the background.
 *
 * @example
 * ```ts
 * const events = new EventRecorder({ client, clock: systemClock, random: Math.random, component: "exchange-rates" });
 * events.post({ type: "Normal", reason: "RatePublished", message: "published 1.08", object });
 * await events.stop();
 * ```
 */
export class EventRecorder {
  readonly #o: EventRecorderOptions;
  readonly #settings: Required<EventSettings>;
  readonly #aggregate: EventAggregate;
  readonly #lanes = new Map<string, Lane>();
  #ready: Lane[] = [];
  readonly #resting = new Map<Lane, () => void>();
  /** Those that wait for everything to be written. */
  readonly #flushing = new Set<() => void>();
  readonly #stopped = new AbortController();
  readonly #told = new Set<string>();
  /** Writes that wait or run. */
  #pending = 0;
  #running = 0;
  #pumping = false;
  #closed = false;
  #posted = 0;
  #written = 0;
  #dropped = 0;

  constructor(o: EventRecorderOptions) {
    this.#o = o;
    const settings = {
      post: "all",
      burst: 25,
      refill: "5m",
      queue: 1000,
      remember: 4096,
      forget: "10m",
      concurrency: 8,
      attempts: 8,
      backoff: "1s",
      timeout: "10s",
      ...o.settings,
    } as const;
    this.#settings = settings;
    this.#aggregate = new EventAggregate({
      burst: settings.burst,
      refillMs: durationMs(settings.refill),
      remember: settings.remember,
      forgetMs: durationMs(settings.forget),
    });
  }

  /** What has become of the events so far. */
  get counts(): EventCounts {
    return { posted: this.#posted, written: this.#written, dropped: this.#dropped };
  }

  /** Hands in one event and returns at once. Events about Events are left out. */
  post(event: EventInput): void {
    try {
      this.#post(event);
    } catch (error) {
      this.#dropped++;
      this.#tell("post", "an Event could not be queued", { error });
    }
  }

  /** Resolves when nothing waits any more, because it is written or given up, or when the time is over. Never rejects. */
  flush(o: { readonly within?: Duration | undefined } = {}): Promise<void> {
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel?.();
        this.#flushing.delete(done);
        resolve();
      };
      const cancel = o.within === undefined ? undefined : this.#o.clock.after(durationMs(o.within), done);
      this.#flushing.add(done);
    });
  }

  /**
   * Takes no more events, writes what waits within the time given (default 5 s), and drops the rest. A server that takes
   * none for a whole second is not waited for any longer.
   */
  async stop(o: { readonly within?: Duration | undefined } = {}): Promise<void> {
    this.#closed = true;
    const { clock } = this.#o;
    const end = clock.monotonic() + durationMs(o.within ?? "5s");
    for (let before = -1; this.#pending > 0 && this.#written > before; ) {
      before = this.#written;
      await this.flush({ within: Math.max(0, Math.min(FUTILE_MS, end - clock.monotonic())) });
      if (clock.monotonic() >= end) break;
    }
    if (this.#stopped.signal.aborted) return;
    const lost = this.#pending;
    this.#stopped.abort(new Error("the operator stops"));
    for (const cancel of this.#resting.values()) cancel();
    this.#resting.clear();
    this.#lanes.clear();
    this.#ready = [];
    this.#pending = 0;
    this.#dropped += lost;
    if (lost > 0) this.#tell("stop", "the operator stopped before all Events were posted", { lost });
    this.#settleFlushes();
  }

  #post(input: EventInput): void {
    const { post, queue, burst, refill } = this.#settings;
    if (post === "none" || (post === "warnings" && input.type !== "Warning") || isAboutEvent(input.object)) return;
    this.#posted++;
    if (this.#closed) {
      this.#dropped++;
      return;
    }
    const { clock } = this.#o;
    const at = { now: clock.now(), monotonic: clock.monotonic() };
    const admission = this.#aggregate.observe(normalEvent(input), at, this.#pending < queue);
    switch (admission.type) {
      case "merged":
        return;
      case "limited":
        this.#dropped++;
        if (admission.first) {
          const fields = { ...subjectFields(input), burst, refill };
          this.#say("too many Events about one object: some are dropped", fields);
        }
        return;
      case "full":
        this.#dropped++;
        this.#tell("full", "too many Events wait to be posted: some are dropped", { queue });
        return;
      case "write":
        this.#enqueue(admission.series);
    }
  }

  #enqueue(series: EventSeries): void {
    const key = series.objectKey;
    const lane = this.#lanes.get(key) ?? { key, waiting: [], attempts: 0, state: "parked" };
    this.#lanes.set(key, lane);
    series.queued = true;
    lane.waiting.push(series);
    this.#pending++;
    if (lane.state === "parked") this.#makeReady(lane);
  }

  #makeReady(lane: Lane): void {
    lane.state = "ready";
    this.#ready.push(lane);
    if (this.#pumping) return;
    this.#pumping = true;
    // Not at once: the caller goes on first, and equal events of one burst become one write.
    queueMicrotask(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running < this.#settings.concurrency) {
      const lane = this.#ready.shift();
      const series = lane?.waiting.shift();
      if (!lane || !series) return;
      this.#running++;
      lane.state = "sending";
      series.queued = false;
      void this.#send(lane, series);
    }
  }

  async #send(lane: Lane, series: EventSeries): Promise<void> {
    const verb = series.created ? "patch" : "create";
    const place = `${verb} ${eventNamespace(series.event.object)} `;
    let step: EventStep | undefined;
    try {
      await this.#request(series);
    } catch (error) {
      const last = lane.attempts + 1 >= this.#settings.attempts;
      step = stepAfter(error, { verb, uncertain: series.uncertain, last });
      if (step.type === "give-up" && step.problem !== undefined && !this.#stopped.signal.aborted) {
        this.#tell(place + step.problem, step.problem, { ...subjectFields(series.event), error });
      }
    }
    this.#running--;
    // Whatever comes after the end has been counted as lost.
    if (this.#stopped.signal.aborted) return;
    if (step === undefined || step.type === "give-up") {
      if (step) this.#dropped++;
      else this.#succeeded(series, place);
      lane.attempts = 0;
      this.#finish(lane);
    } else this.#again(lane, series, step);
    this.#pump();
  }

  async #request(series: EventSeries): Promise<void> {
    const { client, clock, random, component, instance = component } = this.#o;
    const { object } = series.event;
    const options = {
      namespace: eventNamespace(object),
      // The attempts are counted here: what happens meanwhile joins the next one.
      retry: false,
      timeout: this.#settings.timeout,
      signal: this.#stopped.signal,
    };
    series.name ??= eventName(object, clock.now(), random);
    if (series.created) {
      await client.patch(KubeEvent, series.name, eventPatch(series), { ...options, type: "merge" });
    } else {
      const body: KubeBody = eventBody(series.name, series.event, series, { component, instance });
      await client.create(new KubeEvent(body as unknown as KubeEvent["body"]), options);
    }
  }

  #succeeded(series: EventSeries, place: string): void {
    series.created = true;
    series.uncertain = false;
    this.#written++;
    // It works again: should it fail once more, that is news.
    for (const told of this.#told) if (told.startsWith(place)) this.#told.delete(told);
  }

  #finish(lane: Lane): void {
    this.#pending--;
    if (lane.waiting.length > 0) this.#makeReady(lane);
    else this.#lanes.delete(lane.key);
    if (this.#pending === 0) {
      this.#told.delete("full");
      this.#settleFlushes();
    }
  }

  #again(lane: Lane, series: EventSeries, step: Exclude<EventStep, { type: "give-up" }>): void {
    lane.attempts++;
    // It may have happened again meanwhile; one write tells both.
    const twin = lane.waiting.indexOf(series);
    if (twin >= 0) {
      lane.waiting.splice(twin, 1);
      this.#pending--;
    }
    lane.waiting.unshift(series);
    series.queued = true;
    if (step.type !== "retry") {
      series.created = step.type === "patch";
      if (step.type === "recreate") series.name = undefined;
      series.uncertain = false;
      this.#makeReady(lane);
      return;
    }
    if (!series.created && step.uncertain) series.uncertain = true;
    const grown = Math.min(MAX_BACKOFF_MS, durationMs(this.#settings.backoff) * 2 ** (lane.attempts - 1));
    const wait = Math.max(step.atLeastMs, grown * (0.9 + 0.2 * this.#o.random()));
    lane.state = "resting";
    const cancel = this.#o.clock.after(wait, () => {
      this.#resting.delete(lane);
      this.#makeReady(lane);
    });
    this.#resting.set(lane, cancel);
  }

  #settleFlushes(): void {
    for (const done of [...this.#flushing]) done();
  }

  /** Says it once, until it is forgotten. */
  #tell(key: string, message: string, fields: LogFields): void {
    if (this.#told.has(key) || this.#told.size >= MAX_PROBLEMS) return;
    this.#told.add(key);
    this.#say(message, fields);
  }

  #say(message: string, fields: LogFields): void {
    try {
      this.#o.onProblem?.(message, fields);
    } catch {
      // A listener that throws must not stop the Events, and it was the place to tell of it.
    }
  }
}

function subjectFields({ object: { kind, namespace, name }, reason }: EventInput): LogFields {
  return { about: `${kind} ${namespace ? `${namespace}/${name}` : name}`, reason };
}
