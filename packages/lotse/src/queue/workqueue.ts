import type { Clock } from "@lotse/client/meta";
import { type Delayed, DelayHeap } from "./heap.ts";
import { PRIORITY, type Priority, type Ready, ReadyList } from "./ready.ts";

/** How a {@link WorkQueue} works. */
export interface WorkQueueOptions<K extends string = string> {
  readonly clock: Clock;
  /** How many keys are worked on at the same time. */
  readonly concurrency: number;
  /** Works on one key, which has waited so long. Must not reject: what a failure means is decided there. */
  readonly work: (key: K, waitedMs: number) => Promise<void>;
  /** Keys of one group (a namespace) take turns with those of others. */
  readonly groupOf: (key: K) => string;
  /** Told what happens, with times in milliseconds. */
  readonly observer?: QueueObserver | undefined;
}

/** Measures a queue. */
export interface QueueObserver {
  /** A key was given something to do. */
  added(): void;
  /** A key's time has come. */
  due(): void;
  /** A key gets its turn after so long. */
  waited(ms: number): void;
  /** A key's work took so long. */
  worked(ms: number): void;
}

/**
 * An entry's life. Absent from the map means idle: the queue's memory is proportional to what is pending.
 *
 * ```
 *            add                take               done
 *   (idle) ────────▶ queued ────────▶ running ────────────▶ (idle)
 *      │ addAt          ▲ due          │  ▲ add: again = its priority
 *      └──────▶ delayed ┘              ▼  │ done
 *                  ▲                 queued, or delayed
 * ```
 */
interface Entry<K> extends Delayed, Ready {
  readonly key: K;
  running: boolean;
  /** Added while it ran: the priority to queue it with when it is done. */
  again: Priority | undefined;
  /** Asked to be woken while it ran: when. */
  wakeAt: number | undefined;
  /** Since when it waits, or is worked on (monotonic). */
  since: number;
  /** Told when the work that goes on for it is done. */
  waiters: (() => void)[] | undefined;
}

/** What a key does in the queue. */
export type QueuedState =
  | { readonly is: "running" | "ready" }
  /** Waits until this time (monotonic milliseconds). */
  | { readonly is: "delayed"; readonly dueAt: number };

/**
 * One entry for each key, whatever arrives: a key that is added while it waits is not added again; a key that is added
 * while it is worked on runs once more afterwards; no key is worked on twice at the same time. Delays of all keys share
 * one timer, and the earliest wins. Adding a key now cancels its delay: its work says anew when it is due.
 */
export class WorkQueue<K extends string = string> {
  readonly #options: WorkQueueOptions<K>;
  readonly #entries = new Map<K, Entry<K>>();
  readonly #ready = new ReadyList<Entry<K>>();
  readonly #delays = new DelayHeap<Entry<K>>();
  readonly #idleWaiters: (() => void)[] = [];
  #running = 0;
  #state: "open" | "paused" | "closed" = "paused";
  #cancelTimer: (() => void) | undefined;
  #timerDueAt = Number.POSITIVE_INFINITY;

  constructor(options: WorkQueueOptions<K>) {
    this.#options = options;
  }

  /** Keys that wait for their turn now. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Keys that are worked on. */
  get running(): number {
    return this.#running;
  }

  /** Keys that wait for a time. */
  get delayed(): number {
    return this.#delays.size;
  }

  /** For how long each of the keys that are worked on has been, in milliseconds. */
  runningForMs(): number[] {
    const now = this.#options.clock.monotonic();
    return [...this.#entries.values()].filter(({ running }) => running).map(({ since }) => now - since);
  }

  /** What a key does: undefined when the queue does not know it. */
  stateOf(key: K): QueuedState | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.running) return { is: "running" };
    return entry.level !== undefined ? { is: "ready" } : { is: "delayed", dueAt: entry.dueAt };
  }

  /** Everything that the queue remembers. */
  get size(): number {
    return this.#entries.size;
  }

  /** Begins to hand out work, or goes on with it. */
  start(): void {
    if (this.#state === "paused") this.#state = "open";
    this.#pump();
  }

  /** Hands out no more work; what runs, runs on. */
  pause(): void {
    if (this.#state === "open") this.#state = "paused";
  }

  /** Forgets all that waits and takes nothing more; resolves when nothing runs. */
  close(): Promise<void> {
    this.#state = "closed";
    this.#cancelTimer?.();
    for (const entry of [...this.#entries.values()]) {
      this.#delays.delete(entry);
      if (!entry.running) this.#entries.delete(entry.key);
    }
    return this.idle();
  }

  /** Resolves when nothing runs and nothing is ready; delays may be pending. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** `key` has something to do now. */
  add(key: K, priority: Priority): void {
    if (this.#state === "closed") return;
    const entry = this.#entry(key);
    if (entry.running) {
      entry.again = Math.min(entry.again ?? priority, priority) as Priority;
      return;
    }
    this.#delays.delete(entry);
    if (entry.level === undefined) this.#begins(entry);
    this.#ready.add(entry, priority);
    this.#pump();
  }

  /** `key` has something to do at `dueAt` (monotonic milliseconds); the earliest of several wins. */
  addAt(key: K, dueAt: number): void {
    if (this.#state === "closed") return;
    const entry = this.#entry(key);
    if (entry.running) {
      entry.wakeAt = Math.min(entry.wakeAt ?? dueAt, dueAt);
      return;
    }
    if (entry.level !== undefined) return;
    if (entry.heapIndex >= 0 && entry.dueAt <= dueAt) return;
    this.#delays.set(entry, dueAt);
    this.#schedule();
  }

  /** `key` is gone: what waits for it is forgotten. */
  forget(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#delays.delete(entry);
    entry.wakeAt = undefined;
    if (!entry.running && entry.level === undefined) this.#entries.delete(key);
  }

  /** Resolves when the work that goes on for `key` at this moment is done; at once when there is none. */
  done(key: K): Promise<void> {
    const entry = this.#entries.get(key);
    if (!entry?.running) return Promise.resolve();
    return new Promise((resolve) => {
      entry.waiters = [...(entry.waiters ?? []), resolve];
    });
  }

  #entry(key: K): Entry<K> {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = {
        key,
        group: this.#options.groupOf(key),
        dueAt: 0,
        heapIndex: -1,
        level: undefined,
        running: false,
        again: undefined,
        wakeAt: undefined,
        since: 0,
        waiters: undefined,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  /** An entry begins to wait for its turn. */
  #begins(entry: Entry<K>): void {
    entry.since = this.#options.clock.monotonic();
    this.#options.observer?.added();
  }

  #pump(): void {
    while (this.#state === "open" && this.#running < this.#options.concurrency) {
      const entry = this.#ready.take();
      if (!entry) break;
      entry.running = true;
      this.#running++;
      const now = this.#options.clock.monotonic();
      const waitedMs = now - entry.since;
      this.#options.observer?.waited(waitedMs);
      entry.since = now;
      this.#run(entry, waitedMs);
    }
    if (this.#isIdle()) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #run(entry: Entry<K>, waitedMs: number): void {
    // What rejects although it must not is for the process to tell of, and keeps no other key from its turn.
    const done = () => this.#done(entry);
    void this.#options.work(entry.key, waitedMs).then(done, (error: unknown) => {
      done();
      throw error;
    });
  }

  #done(entry: Entry<K>): void {
    const { again, wakeAt, waiters } = entry;
    if (waiters) {
      entry.waiters = undefined;
      for (const tell of waiters) tell();
    }
    entry.running = false;
    entry.again = undefined;
    entry.wakeAt = undefined;
    this.#running--;
    this.#options.observer?.worked(this.#options.clock.monotonic() - entry.since);
    if (this.#state === "closed" || (again === undefined && wakeAt === undefined)) this.#entries.delete(entry.key);
    else if (again !== undefined) {
      this.#begins(entry);
      this.#ready.add(entry, again);
    } else if (wakeAt !== undefined) this.#delays.set(entry, wakeAt);
    this.#schedule();
    this.#pump();
  }

  /** One timer for all delays, set for the earliest. */
  #schedule(): void {
    const first = this.#delays.first;
    if (!first || this.#state === "closed") return;
    if (this.#cancelTimer && this.#timerDueAt <= first.dueAt) return;
    this.#cancelTimer?.();
    this.#timerDueAt = first.dueAt;
    this.#cancelTimer = this.#options.clock.after(first.dueAt - this.#options.clock.monotonic(), () => this.#onTimer());
  }

  #onTimer(): void {
    this.#cancelTimer = undefined;
    const now = this.#options.clock.monotonic();
    for (let first = this.#delays.first; first && first.dueAt <= now; first = this.#delays.first) {
      this.#delays.delete(first);
      this.#options.observer?.due();
      first.since = now;
      this.#ready.add(first, PRIORITY.retry);
    }
    this.#schedule();
    this.#pump();
  }

  #isIdle(): boolean {
    return this.#running === 0 && (this.#ready.size === 0 || this.#state === "closed");
  }
}
