import type { Clock } from "@lotse/client/meta";
import { StatusError } from "./errors.ts";

/** When the server's own work makes room for others. */
export interface PaceOptions {
  readonly clock: Clock;
  /** Calls back in a later turn of the event loop, after whatever input has come meanwhile. */
  readonly defer: (fn: () => void) => void;
  /** Calls back in this turn, after every promise has settled that can: what was begun is then done, or waits itself. */
  readonly afterPromises: (fn: () => void) => void;
  /** How long own work may go on in one turn of the event loop. */
  readonly budgetMs?: number;
  /** How many pieces of work one turn takes at most, however quick they are: what a clock that stands still goes by. */
  readonly pieces?: number;
  /**
   * Whether a client waits whom only more turns help: connections are taken one in each, and their greeting takes some
   * more. While it says so, a turn takes one piece.
   */
  readonly crowded?: () => boolean;
  /** How many turns patient work is put off at most, unless it says so itself. */
  readonly patience?: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** How long work is put off that costs the same whether one thing has changed or a hundred. */
export interface Patience {
  /** Turns for which no other work has waited; one unless told. What is dear waits for more of them. */
  readonly quiet?: number;
  /** Turns at most, however busy they are. */
  readonly turns?: number;
}

interface Patient {
  readonly run: () => void;
  quiet: number;
  left: number;
}

const stopping = () =>
  new StatusError({ code: 503, reason: "ServiceUnavailable", message: "the cluster is being stopped" });

/**
 * Shares the event loop between the work that the server does by itself and everybody who waits for an answer. Whatever
 * could go on for long (controllers, the kubelet, deletions of many objects) asks before each piece of work, and waits
 * for a later turn when this one has had enough. All of them share one budget, so that many who are quick each are not
 * slow together.
 *
 * One piece at a time: the next one is let in when all promises of the one before have settled, so that its time is
 * known. Were many let in at once, each of them quick to ask and slow to work, they would all work in this one turn.
 */
export class Pace {
  readonly #options: Required<PaceOptions>;
  #waiting: Waiter[] = [];
  #first = 0;
  #patient: Patient[] = [];
  /** A turn is under way in which work was done. */
  #open = false;
  /**
   * It was opened by work that a request brought in, so that what is deferred comes in the same turn of the event loop:
   * what was used up before counts there as well.
   */
  #early = false;
  #carried = 0;
  /** A piece of work was let in and is not known to be done. */
  #busy = false;
  #since = 0;
  #done = 0;
  #deferred = false;
  /** Virtual time must not pass while work waits: this holds a call that is due now. */
  #hold: (() => void) | undefined;
  #turns = 0;
  #most = 0;
  #longest = 0;
  #stopped = false;

  constructor(options: PaceOptions) {
    this.#options = { budgetMs: 4, pieces: 16, patience: 64, crowded: () => false, ...options };
  }

  /** Turns of the event loop so far in which own work was done. */
  get turns(): number {
    return this.#turns;
  }

  /** The most pieces of work that one turn took. */
  get most(): number {
    return this.#most;
  }

  /** The most milliseconds that the own work of one turn took. */
  get longest(): number {
    return this.#longest;
  }

  /** Asked before each piece of work: undefined when it may be done now, else it is waited for. */
  rest(): Promise<void> | undefined {
    if (this.#stopped) return Promise.reject(stopping());
    if (!this.#busy && this.#queued === 0 && this.#hasRoom()) {
      if (!this.#open) this.#early = true;
      this.#letIn();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#schedule();
    });
  }

  /**
   * Calls back after some turns for which no other work has waited, or when these do not come for too long. For work that
   * costs the same whether one thing has changed or a hundred. The returned function takes it back.
   */
  whenQuiet(run: () => void, { quiet = 1, turns = this.#options.patience }: Patience = {}): () => void {
    if (this.#stopped) return () => {};
    const entry = { run, quiet, left: turns };
    this.#patient.push(entry);
    this.#schedule();
    return () => {
      this.#patient = this.#patient.filter((one) => one !== entry);
      if (this.#queued === 0 && this.#patient.length === 0) this.#letGo();
    };
  }

  /** For a request that takes long: resolves in the next turn of the event loop, whatever else waits. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#options.defer(resolve));
  }

  /** Work that is under way ends at its next piece; callers that wait are told so. */
  stop(): void {
    this.#stopped = true;
    this.#letGo();
    this.#patient = [];
    const waiting = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    for (const { reject } of waiting) reject(stopping());
  }

  get #queued(): number {
    return this.#waiting.length - this.#first;
  }

  #hasRoom(): boolean {
    const { clock, budgetMs, pieces, crowded } = this.#options;
    if (!this.#open) return true;
    return this.#done < (crowded() ? 1 : pieces) && clock.monotonic() - this.#since < budgetMs;
  }

  #letIn(): void {
    if (!this.#open) {
      this.#open = true;
      this.#turns++;
      this.#done = 0;
      this.#since = this.#options.clock.monotonic() - this.#carried;
      this.#defer();
    }
    this.#most = Math.max(this.#most, ++this.#done);
    this.#busy = true;
    this.#options.afterPromises(() => this.#finished());
  }

  /** The work that was let in has done what it could do: the next one, if this turn has time for it. */
  #finished(): void {
    this.#busy = false;
    if (this.#open) this.#longest = Math.max(this.#longest, this.#options.clock.monotonic() - this.#since);
    if (this.#open && this.#hasRoom()) this.#admit(this.#firstWaiting());
  }

  #admit(run: (() => void) | undefined): void {
    if (this.#queued > 0 || this.#patient.length > 0) this.#schedule();
    if (!run) return;
    this.#letIn();
    run();
  }

  #defer(): void {
    if (this.#deferred) return;
    this.#deferred = true;
    this.#options.defer(() => {
      this.#deferred = false;
      this.#next();
    });
  }

  #schedule(): void {
    this.#defer();
    this.#hold ??= this.#options.clock.after(0, () => {
      this.#hold = undefined;
    });
  }

  #letGo(): void {
    this.#hold?.();
    this.#hold = undefined;
  }

  /** A new turn of the event loop. */
  #next(): void {
    this.#letGo();
    this.#carried = this.#early ? this.#options.clock.monotonic() - this.#since : 0;
    this.#early = false;
    this.#open = false;
    this.#admit(this.#busy ? undefined : (this.#ripe() ?? this.#firstWaiting()));
    this.#carried = 0;
  }

  #ripe(): (() => void) | undefined {
    for (const entry of this.#patient) {
      entry.left--;
      if (this.#queued === 0) entry.quiet--;
    }
    const at = this.#patient.findIndex(({ quiet, left }) => quiet <= 0 || left <= 0);
    return at < 0 ? undefined : this.#patient.splice(at, 1)[0]?.run;
  }

  #firstWaiting(): (() => void) | undefined {
    if (this.#queued === 0) return undefined;
    const run = this.#waiting[this.#first++]?.resolve;
    // In larger steps, because taking one off the front moves all the others.
    if (this.#first > 1_024 || this.#queued === 0) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
    return run;
  }
}
