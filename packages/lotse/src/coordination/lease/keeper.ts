/** Runs the machine of machine.ts against a server: requests with time limits, a watch, a clock; logs and measures. */
import type { Client } from "@lotse/client";
import { type Clock, KubeError, Nap, untilAborted } from "@lotse/client/meta";
import type { Logger, Metrics } from "../../report/index.ts";
import { elapsedMs, isFenceOpen, type Moment } from "./fence.ts";
import { LeaseLog } from "./log.ts";
import {
  type Asked,
  begin,
  isOwner,
  type LeaseInput,
  type LeaseState,
  type LeaseStep,
  type LeaseTask,
  next,
  requestMs,
} from "./machine.ts";
import { type LeaseMeasures, measureLease } from "./measures.ts";
import { type LeaseBody, type LeaseClaim, readLease } from "./record.ts";
import { LeaseRequests } from "./requests.ts";

/** What a {@link LeaseKeeper} is made of. */
export interface LeaseParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Told after every step, synchronously: the Lease is held or lost, or something new is known of it. */
  readonly changed: (event: LeaseStep["event"]) => void;
}

/** A silent watch is looked after: a holder that lives is heard every few seconds. */
const SILENT_DURATIONS = 2;

/** See the module comment. Begins with `run`, ends with `release`. */
export class LeaseKeeper {
  readonly #claim: LeaseClaim;
  readonly #parts: LeaseParts;
  readonly #requests: LeaseRequests;
  readonly #log: LeaseLog;
  readonly #measures: LeaseMeasures;
  #state: LeaseState;
  #task: LeaseTask;
  #lastRenewed: Moment | undefined;
  /** Set while it waits. */
  #nap: Nap | undefined;

  constructor(claim: LeaseClaim, parts: LeaseParts) {
    this.#claim = claim;
    this.#parts = parts;
    this.#requests = new LeaseRequests(parts.client, claim);
    this.#log = new LeaseLog(parts.logger, claim);
    this.#measures = measureLease(parts.metrics, claim.name, () => ({
      held: this.#state.renewed !== undefined,
      renewedMs: this.renewedMs,
    }));
    const { state, task } = begin(this.#given());
    this.#state = state;
    this.#task = task;
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** What keeps the process from reading or writing the Lease; undefined: nothing. */
  get problem(): string | undefined {
    return this.#log.problem;
  }

  /** Since the last renewal was sent; undefined while it is not held. */
  get renewedMs(): number | undefined {
    return this.#state.renewed && elapsedMs(this.#state.renewed, this.moment());
  }

  /** Since the last successful renewal of this run was sent, though the Lease be lost since. */
  get lastRenewedMs(): number | undefined {
    return this.#lastRenewed && elapsedMs(this.#lastRenewed, this.moment());
  }

  /** Now, by both clocks. */
  moment(): Moment {
    const { clock } = this.#parts;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  /** Whether writes may leave now. One look at a closed fence, and the Lease is lost: it does not open by itself again. */
  isOpen(): boolean {
    const { renewed } = this.#state;
    if (!renewed) return false;
    if (isFenceOpen(renewed, this.moment(), this.#claim.renewMs)) return true;
    this.#feed({ is: "due" });
    return false;
  }

  /** Takes the Lease and keeps it, for ever; resolves when it was released. */
  async run(): Promise<void> {
    const over = new AbortController();
    const watching = this.#watch(over.signal);
    try {
      while (this.#task.run !== "end") await this.#perform(this.#task, over.signal);
      if (this.#state.outdated || isOwner(this.#state, this.#claim)) this.#log.kept();
    } finally {
      over.abort();
      await watching;
    }
  }

  /** Nothing runs any more for what was lost. */
  settled(): void {
    this.#feed({ is: "settled" });
  }

  /** What is held is kept; nothing is taken any more. */
  leave(): void {
    this.#feed({ is: "leave" });
  }

  /** What is held is given back: then `run` resolves. */
  release(): void {
    this.#feed({ is: "release" });
  }

  /** Does one task to its end, or until there is another one. */
  async #perform(task: LeaseTask, signal: AbortSignal): Promise<void> {
    if (task.run === "wait") await this.#wait(task.until, signal);
    else if (task.run === "read") this.#feed(await this.#ask("read", (limit) => this.#read(limit)));
    else if (task.run === "write") this.#feed(await this.#ask(task.what, (limit) => this.#write(task, limit)));
  }

  async #wait(until: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const nap = new Nap(clock, signal);
    if (Number.isFinite(until)) nap.endIn(Math.ceil(until - clock.monotonic()));
    this.#nap = nap;
    await nap.over;
    this.#nap = undefined;
    // Woken by something that gave another task: that one is done first.
    if (this.#task.run === "wait" && this.#task.until === until) this.#feed({ is: "due" });
  }

  async #ask(asked: Asked, request: (limit: AbortSignal) => Promise<LeaseInput>): Promise<LeaseInput> {
    const limit = new AbortController();
    const ms = this.#limitMs();
    const cancel = this.#parts.clock.after(ms, () => limit.abort(lateError(this.#claim)));
    try {
      const input = await untilAborted(request(limit.signal), limit.signal);
      this.#log.answered();
      if (input.is === "conflict" && asked === "renew") this.#measures.slowPath.add();
      if (input.is === "written" && asked === "release") this.#log.released();
      return input;
    } catch (error) {
      if (asked === "renew") this.#measures.renewalFailures.add();
      this.#log.failed(asked, error);
      return { is: "failed" };
    } finally {
      cancel();
    }
  }

  /** While the Lease is held no request outlives the time in which it has to be renewed. */
  #limitMs(): number {
    const { renewedMs } = this;
    const usual = requestMs(this.#claim);
    return renewedMs === undefined ? usual : Math.max(0, Math.min(usual, this.#claim.renewMs - renewedMs));
  }

  async #read(limit: AbortSignal): Promise<LeaseInput> {
    const body = await this.#requests.read(limit);
    return { is: "read", record: body && this.#record(body) };
  }

  async #write({ verb, body }: Extract<LeaseTask, { run: "write" }>, limit: AbortSignal): Promise<LeaseInput> {
    const sentAt = this.moment();
    const written = await this.#requests.write(verb, body, limit);
    return written === "conflict" ? { is: "conflict" } : { is: "written", record: this.#record(written.body), sentAt };
  }

  /** Never rejects: without it the Lease is read again and again. */
  async #watch(signal: AbortSignal): Promise<void> {
    const listener = {
      seen: (body: LeaseBody | undefined, version: string) =>
        this.#feed({ is: "seen", record: body && this.#record(body), version }),
      state: (state: Parameters<LeaseLog["watch"]>[0]) => {
        this.#log.watch(state);
        const watched = state.phase === "watching";
        if (watched !== this.#state.watched) this.#feed({ is: "watched", watched });
      },
    };
    try {
      await this.#requests.follow(listener, SILENT_DURATIONS * this.#claim.durationMs, signal);
    } catch (error) {
      this.#parts.logger.error("the watch of the Lease has ended, it is read again and again instead", { error });
      this.#feed({ is: "watched", watched: false });
    }
  }

  #record(body: LeaseBody) {
    return readLease(body, this.#claim);
  }

  #given() {
    const { random } = this.#parts;
    return { now: this.moment(), random, claim: this.#claim };
  }

  /** The one place where the state changes. */
  #feed(input: LeaseInput): void {
    const { state, task, event } = next(this.#state, input, this.#given());
    this.#state = state;
    this.#lastRenewed = state.renewed ?? this.#lastRenewed;
    if (task) {
      this.#task = task;
      this.#nap?.end();
    }
    if (event?.tell === "lead") this.#log.taken();
    else if (event) this.#log.lost(event.why, state);
    else if (!state.renewed) this.#log.seen(state);
    this.#parts.changed(event);
  }
}

function lateError({ namespace, name }: LeaseClaim): KubeError {
  return new KubeError(`the Lease ${namespace}/${name}: no answer in time`, {
    hint: "look whether the API server is overloaded, or give the Lease more time: leader({ renew, duration })",
  });
}
