import type { Clock } from "../meta/index.ts";
import { AdaptiveLimit } from "./limit.ts";

/** How long a request waits for a turn, and what ends the waiting. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly ms: number;
  /** The error when the time is over. */
  readonly expired: () => Error;
}

/** The one timer of the queue, for the request that has to go first: a timer for each would cost more than all the rest. */
interface Alarm {
  readonly at: number;
  cancel(): void;
}

/** One request that may go: end it in any case, or its place is lost. */
export interface Turn {
  /** What became of it. Without a latency, and not overloaded, it says nothing about the server. */
  end(latencyMs: number | undefined, overloaded?: boolean): void;
}

/** One request that waits; its own listener, for there may be many. */
class Waiting {
  readonly kind: string;
  readonly deadline: number;
  /** It has left the queue. */
  gone = false;
  readonly #patience: Patience;
  readonly #resolve: (turn: Turn) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    kind: string,
    deadline: number,
    patience: Patience,
    resolve: (turn: Turn) => void,
    reject: (reason: unknown) => void,
  ) {
    this.kind = kind;
    this.deadline = deadline;
    this.#patience = patience;
    this.#resolve = resolve;
    this.#reject = reject;
    patience.signal?.addEventListener("abort", this, { once: true });
  }

  admit(turn: Turn): void {
    this.#leave();
    this.#resolve(turn);
  }

  reject(reason: unknown): void {
    this.#leave();
    this.#reject(reason);
  }

  expire(): void {
    this.reject(this.#patience.expired());
  }

  /** The signal has aborted. */
  handleEvent(): void {
    this.reject(this.#patience.signal?.reason);
  }

  #leave(): void {
    this.gone = true;
    this.#patience.signal?.removeEventListener("abort", this);
  }
}

/** Lets as many requests pass as the limit allows, in the order in which they came. */
export class RequestGate {
  readonly #clock: Clock;
  readonly #limit: AdaptiveLimit;
  #inFlight = 0;
  #queue: Waiting[] = [];
  /** The first of the queue that may still be there; what is before it is cut off now and then. */
  #head = 0;
  #alarm: Alarm | undefined;
  #closed: { readonly reason: Error } | undefined;

  constructor(clock: Clock, limit: AdaptiveLimit = new AdaptiveLimit()) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** How many pass at a time now, how many do, and how many wait. */
  get state(): { readonly limit: number; readonly inFlight: number; readonly waiting: number } {
    const waiting = this.#queue.slice(this.#head).filter(({ gone }) => !gone).length;
    return { limit: this.#limit.current, inFlight: this.#inFlight, waiting };
  }

  /** Waits for a turn; without a promise when there is a free place and no request waits. */
  enter(kind: string, patience: Patience): Turn | Promise<Turn> {
    return this.tryEnter(kind) ?? this.wait(kind, patience);
  }

  /** A turn, if there is a free place and no request waits. */
  tryEnter(kind: string): Turn | undefined {
    const free = this.#head === this.#queue.length && this.#inFlight < this.#limit.current;
    return free ? this.#turn(kind) : undefined;
  }

  /** All requests that wait are turned away. */
  close(reason: Error): void {
    this.#closed = { reason };
    for (const waiting of this.#queue.splice(0).slice(this.#head)) if (!waiting.gone) waiting.reject(reason);
    this.#head = 0;
    this.#setAlarm(undefined);
  }

  #turn(kind: string): Turn {
    const inFlight = ++this.#inFlight;
    const startedAt = this.#clock.monotonic();
    return {
      end: (latencyMs, overloaded = false) => {
        this.#inFlight--;
        if (overloaded || latencyMs !== undefined) {
          this.#limit.observe({ kind, startedAt, endedAt: this.#clock.monotonic(), inFlight, latencyMs, overloaded });
        }
        if (this.#queue.length > 0) this.#admit();
      },
    };
  }

  /** Waits for a turn behind all who wait already. */
  wait(kind: string, patience: Patience): Promise<Turn> {
    const { signal } = patience;
    if (this.#closed) return Promise.reject(this.#closed.reason);
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.monotonic() + patience.ms;
      this.#queue.push(new Waiting(kind, deadline, patience, resolve, reject));
      if (this.#alarm === undefined || deadline < this.#alarm.at) this.#setAlarm(deadline);
    });
  }

  #admit(): void {
    for (; this.#head < this.#queue.length; this.#head++) {
      const next = this.#queue[this.#head] as Waiting;
      if (next.gone) continue;
      if (this.#inFlight >= this.#limit.current) break;
      next.admit(this.#turn(next.kind));
    }
    // Cutting off costs as much as the queue is long: so it is done when half of it is over.
    if (this.#head * 2 < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
    if (this.#queue.length === 0) this.#setAlarm(undefined);
  }

  #setAlarm(at: number | undefined): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    if (at === undefined) return;
    const cancel = this.#clock.after(at - this.#clock.monotonic(), () => this.#expire(at));
    this.#alarm = { at, cancel };
  }

  /** Real timers may ring a little early: the request that was meant has to go all the same. */
  #expire(alarmAt: number): void {
    const now = Math.max(alarmAt, this.#clock.monotonic());
    let next: number | undefined;
    for (const waiting of this.#queue.slice(this.#head)) {
      if (waiting.gone) continue;
      if (waiting.deadline <= now) waiting.expire();
      else next = Math.min(next ?? waiting.deadline, waiting.deadline);
    }
    this.#setAlarm(next);
  }
}
