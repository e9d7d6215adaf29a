import type { Backend, Requester } from "../registry/index.ts";

/** Keeps something true about the cluster by itself. */
export interface Controller {
  /** Begins to watch; called once, before the first request is answered. */
  start(): void;
  stop(): void;
  /** Whether it has nothing left to do that it could do now. */
  readonly idle: boolean;
}

/** What every controller works with: it writes as the server itself. */
export interface ControllerContext {
  readonly backend: Backend;
  readonly requester: Requester;
}

/** What a queue is told about its work. */
export interface QueueOptions {
  /** How much one turn for this key costs: how many objects are looked at. Nothing, unless told. */
  readonly weigh?: (key: string) => number;
}

/** Keys that cost less are worked on whenever something changes. */
const HEAVY = 64;
/** Of the objects that a turn looks at, this share changes before the next turn while there is other work to do. */
const SHARE = 8;
const RETRY_MS = 1_000;

/**
 * Work by key, one piece at a time, in order of arrival. Keys that wait are not queued twice; a key that comes back while
 * its work runs is worked on again. Failed work is told of and tried again after a while, so that controllers heal by
 * themselves.
 *
 * A turn that looks at many objects is not taken for each of them that changes, which would make the work for N objects
 * N²: it waits until an eighth of them have changed, or until there has been nothing else to do for some turns of the
 * event loop, the more of them, the more objects there are.
 */
export class WorkQueue {
  readonly #work: (key: string) => Promise<void>;
  readonly #backend: Backend;
  readonly #name: string;
  readonly #weigh: (key: string) => number;
  readonly #waiting = new Set<string>();
  /** Heavy keys: how often they were woken, and how to wait no longer. */
  readonly #put = new Map<string, { wakes: number; readonly cancel: () => void }>();
  readonly #retries = new Map<string, () => void>();
  readonly #followed: (() => void)[] = [];
  #running = false;
  #stopped = false;

  /** `name`: whose work it is, for the people who are told that it failed. */
  constructor(
    backend: Backend,
    name: string,
    work: (key: string) => Promise<void>,
    { weigh = () => 0 }: QueueOptions = {},
  ) {
    this.#backend = backend;
    this.#name = name;
    this.#work = work;
    this.#weigh = weigh;
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.size === 0 && this.#put.size === 0;
  }

  /** Works on a key as soon as it is its turn. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#retries.get(key)?.();
    this.#retries.delete(key);
    this.#put.get(key)?.cancel();
    this.#put.delete(key);
    this.#waiting.add(key);
    if (!this.#running) void this.#run();
  }

  /** Works on every object of a table: on those that are there, then on those that come or change, until it is stopped. */
  follow(table: string): void {
    const { store } = this.#backend;
    for (const { key } of store.list(table)) this.add(key);
    const unwatch = store.watch(table, store.revision, ({ key, type }) => {
      if (type !== "deleted") this.add(key);
    });
    this.#followed.push(unwatch);
  }

  /** One of the objects that a turn for this key looks at has changed: there may be more to come. */
  wake(key: string): void {
    if (this.#stopped || this.#waiting.has(key)) return;
    const weight = this.#weigh(key);
    const put = this.#put.get(key);
    if (weight < HEAVY) this.add(key);
    else if (!put) {
      const patience = { quiet: Math.ceil((2 * weight) / HEAVY), turns: Math.max(HEAVY, weight / 2) };
      const cancel = this.#backend.pace.whenQuiet(() => this.add(key), patience);
      this.#put.set(key, { wakes: 1, cancel });
    } else if (++put.wakes * SHARE >= weight) this.add(key);
  }

  /** Works on a key again later, unless something brings it back before. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    this.#retries.get(key)?.();
    this.#retries.set(
      key,
      this.#backend.clock.after(ms, () => this.add(key)),
    );
  }

  stop(): void {
    this.#stopped = true;
    for (const unwatch of this.#followed.splice(0)) unwatch();
    this.#waiting.clear();
    for (const { cancel } of this.#put.values()) cancel();
    this.#put.clear();
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // The writer whose change brought the work gets its answer first.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const rest = this.#backend.pace.rest();
      // Nothing but the end of the cluster ends the wait with an error, and then there is nothing left to do.
      if (rest) await rest.catch(() => this.stop());
      const [key] = this.#waiting;
      if (key === undefined) break;
      this.#waiting.delete(key);
      try {
        await this.#work(key);
      } catch (error) {
        this.#backend.troubles.reportUnlessRace(`${this.#name} failed at ${key.replace("\n", " ")}`, error);
        this.addAfter(key, RETRY_MS);
      }
    }
    this.#running = false;
  }
}
