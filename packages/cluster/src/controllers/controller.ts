import type { Backend, Scope } from "../registry/index.ts";

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
  readonly scope: Scope;
}

/**
 * Work by key, one piece at a time, in order of arrival. Keys that wait are not queued twice; a key that comes back while
 * its work runs is worked on again. Failed work is tried again after a while, so that controllers heal by themselves.
 */
export class WorkQueue {
  readonly #work: (key: string) => Promise<void>;
  readonly #backend: Backend;
  readonly #waiting = new Set<string>();
  readonly #retries = new Map<string, () => void>();
  #running = false;
  #stopped = false;

  constructor(backend: Backend, work: (key: string) => Promise<void>) {
    this.#backend = backend;
    this.#work = work;
  }

  get idle(): boolean {
    return !this.#running && this.#waiting.size === 0;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#retries.get(key)?.();
    this.#retries.delete(key);
    this.#waiting.add(key);
    if (!this.#running) void this.#run();
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
    this.#waiting.clear();
    for (const cancel of this.#retries.values()) cancel();
    this.#retries.clear();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // The writer whose change brought the work gets its answer first.
    await Promise.resolve();
    for (;;) {
      const [key] = this.#waiting;
      if (key === undefined) break;
      this.#waiting.delete(key);
      try {
        await this.#work(key);
      } catch {
        this.addAfter(key, RETRY_MS);
      }
    }
    this.#running = false;
  }
}

const RETRY_MS = 1_000;
