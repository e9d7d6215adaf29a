import type { Clock } from "../meta/index.ts";
import { Housekeeping } from "./http1/index.ts";

/** Something that has to be over at a time. */
export interface Expiring {
  /** On the monotonic clock. */
  readonly deadline: number;
  /** The time has come; it is not among the deadlines any more. */
  expire(): void;
}

/**
 * One timer for many deadlines, of which almost none is ever reached: it is set for the earliest one. Requests one after
 * another share it, too: it is taken back only when the process has had time to ask for the next one and did not.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #pending = new Set<Expiring>();
  #alarmAt = Number.POSITIVE_INFINITY;
  #cancelAlarm: (() => void) | undefined;
  readonly #housekeeping = new Housekeeping(() => {
    if (this.#pending.size === 0) this.#setAlarm(Number.POSITIVE_INFINITY);
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(one: Expiring): void {
    this.#pending.add(one);
    if (one.deadline < this.#alarmAt) this.#setAlarm(one.deadline);
  }

  /** It is over, or may take as long as it likes. A timer that nobody needs would keep the process alive. */
  delete(one: Expiring): void {
    if (this.#pending.delete(one) && this.#pending.size === 0) this.#housekeeping.soon();
  }

  /** Nothing will be added any more; what is pending has to be ended by others. */
  close(): void {
    this.#housekeeping.stop();
    this.#setAlarm(Number.POSITIVE_INFINITY);
  }

  #setAlarm(at: number): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
    this.#alarmAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#cancelAlarm = this.#clock.after(at - this.#clock.monotonic(), this.#onAlarm);
  }

  /** Real timers may ring a little early: the one that was meant has to go all the same. */
  readonly #onAlarm = () => {
    const now = Math.max(this.#alarmAt, this.#clock.monotonic());
    const due: Expiring[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const one of this.#pending) {
      if (one.deadline <= now) due.push(one);
      else next = Math.min(next, one.deadline);
    }
    for (const one of due) this.#pending.delete(one);
    this.#setAlarm(next);
    for (const one of due) one.expire();
  };
}
