/** Runs the machine of membership.ts against a server: requests with time limits, a watch, a clock; logs and measures. */
import type { Client } from "@lotse/client";
import { type Clock, KubeError, untilAborted } from "@lotse/client/meta";
import type { Logger, Metrics } from "../../report/index.ts";
import { elapsedMs, isFenceOpen, type LeaseMeasures, type Moment, measureLease, requestMs } from "../lease/index.ts";
import { ShardLog } from "./log.ts";
import type { Member, MemberInput, MemberState } from "./member.ts";
import { BEGINNING, next } from "./membership.ts";
import { type SeatClaim, SeatRequests, type SeatTask } from "./requests.ts";

/** What a {@link SeatKeeper} is made of. */
export interface SeatParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Told after every step, synchronously. */
  readonly changed: () => void;
  /** What is not owned any more is to be let go; answered by {@link SeatKeeper.letGo}. */
  readonly lettingGo: (id: number, why: string) => void;
}

/** A silent watch is looked after: members that live are heard every few seconds. */
const SILENT_DURATIONS = 2;

/** See the module comment. Begins with `run`, ends with `release`. */
export class SeatKeeper {
  readonly #claim: SeatClaim;
  readonly #member: Member;
  readonly #parts: SeatParts;
  readonly #requests: SeatRequests;
  readonly #measures: LeaseMeasures;
  readonly log: ShardLog;
  #state: MemberState = BEGINNING;
  #cancelWake: () => void = () => undefined;
  #resolveOver: () => void = () => undefined;
  readonly #over: Promise<void>;

  constructor(claim: SeatClaim, parts: SeatParts) {
    this.#claim = claim;
    this.#parts = parts;
    const { run, rule, durationMs, renewMs, retryMs } = claim;
    this.#member = { run, rule, durationMs, renewMs, retryMs };
    this.#requests = new SeatRequests(parts.client, claim, () => this.moment());
    this.log = new ShardLog(parts.logger, claim);
    this.#measures = measureLease(parts.metrics, claim.name, () => ({
      held: this.#state.stay !== undefined,
      renewedMs: this.renewedMs,
    }));
    this.#over = new Promise<void>((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get state(): MemberState {
    return this.#state;
  }

  get member(): Member {
    return this.#member;
  }

  /** Since the last renewal was sent; undefined while there is no Lease. */
  get renewedMs(): number | undefined {
    const { stay } = this.#state;
    return stay && elapsedMs(stay.renewed, this.moment());
  }

  /** Now, by both clocks. */
  moment(): Moment {
    const { clock } = this.#parts;
    return { now: clock.now(), monotonic: clock.monotonic() };
  }

  /** Whether writes may leave now. Whoever finds it closed has everything let go. */
  isOpen(): boolean {
    const { stay } = this.#state;
    if (!stay) return false;
    const isOpen = isFenceOpen(stay.renewed, this.moment(), this.#member.renewMs);
    if (isOpen !== !stay.late) this.#feed({ is: "due" });
    return isOpen;
  }

  /** Takes a seat and keeps it, for ever; resolves when it was released. */
  async run(): Promise<void> {
    const over = new AbortController();
    const watching = this.#watch(over.signal);
    try {
      await Promise.race([this.#over, watching.then(() => this.#over)]);
    } finally {
      over.abort();
      this.#cancelWake();
      await watching.catch(() => undefined);
    }
  }

  /** The objects are known: the member claims its part. */
  warm(): void {
    this.#feed({ is: "warm" });
  }

  /** Nothing runs any more for what was let go. */
  letGo(id: number): void {
    this.#feed({ is: "let go", id });
  }

  /** What is held is kept; nothing is taken up any more. */
  leave(): void {
    this.#feed({ is: "leave" });
  }

  /** The seat is given back: then `run` resolves. */
  release(): void {
    this.#feed({ is: "release" });
  }

  /** The one place where the state changes. */
  #feed(input: MemberInput): void {
    const { clock, random, lettingGo, changed } = this.#parts;
    if (this.#state.over) return;
    const { state, tasks, wakeAt } = next(this.#state, input, { now: this.moment(), random, member: this.#member });
    this.#state = state;
    this.#cancelWake();
    if (state.over) this.#resolveOver();
    else if (Number.isFinite(wakeAt)) {
      const ms = Math.max(0, Math.ceil(wakeAt - clock.monotonic()));
      this.#cancelWake = clock.after(ms, () => this.#feed({ is: "due" }));
    }
    for (const task of tasks) {
      if (task.run === "let go") lettingGo(task.id, task.why);
      // Cannot reject.
      else void this.#perform(task);
    }
    this.log.step(state);
    changed();
  }

  async #perform(task: SeatTask): Promise<void> {
    const limit = new AbortController();
    const cancel = this.#parts.clock.after(requestMs(this.#member), () => limit.abort(lateError(this.#claim)));
    let input: MemberInput;
    try {
      input = await untilAborted(this.#requests.perform(task, limit.signal), limit.signal);
      this.log.answered();
      if (input.is === "conflict" && task.run === "write") this.#measures.slowPath.add();
      if (input.is === "emptied") this.log.released();
      if (task.run === "expel") this.log.expelled(task.before.holder);
    } catch (error) {
      if (task.run === "write") this.#measures.renewalFailures.add();
      this.log.failed(task.run, error);
      input = task.run === "expel" ? { is: "expelled", seat: task.before.seat } : { is: "failed" };
    } finally {
      cancel();
    }
    this.#feed(input);
  }

  #watch(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    const how = { clock, random, inactivityMs: SILENT_DURATIONS * this.#claim.durationMs };
    const listener = {
      seen: (seats: Parameters<Parameters<SeatRequests["follow"]>[0]["seen"]>[0]) =>
        this.#feed({ is: "observed", seats }),
      state: (state: Parameters<ShardLog["watch"]>[0]) => this.log.watch(state),
    };
    return this.#requests.follow(listener, how, signal);
  }
}

function lateError({ namespace, name }: SeatClaim): KubeError {
  return new KubeError(`the Lease of ${name} in ${namespace}: no answer in time`, {
    hint: "look whether the API server is overloaded, or give the Lease more time: shards({ renew, duration })",
  });
}
