import { fromStore, objectAt } from "../registry/index.ts";
import type { Controller, ControllerContext } from "./controller.ts";

const TABLE = "events";
/** A real server's `--event-ttl`, unless told otherwise. */
const LIFETIME = 3_600_000;

/**
 * Lets Events go an hour after they were last written, as the storage of a real server does: no admission is asked, and
 * clients that watch see them deleted.
 */
export class EventExpiry implements Controller {
  readonly #context: ControllerContext;
  /** When each was written, the longest ago first. */
  readonly #written = new Map<string, number>();
  #wake: (() => void) | undefined;
  #running = false;
  #stopWatching: () => void = () => {};

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  get idle(): boolean {
    return !this.#running;
  }

  start(): void {
    const { store, clock } = this.#context.backend;
    // Events of a cluster that was kept say themselves when they were written.
    const found = store.list(TABLE).map(({ key, object }) => ({ key, at: Math.min(writtenAt(object), clock.now()) }));
    found.sort((a, b) => a.at - b.at);
    for (const { key, at } of found) this.#written.set(key, at);
    this.#stopWatching = store.watch(TABLE, store.revision, ({ type, key }) => {
      this.#written.delete(key);
      if (type !== "deleted") this.#written.set(key, clock.now());
      this.#plan();
    });
    this.#plan();
  }

  stop(): void {
    this.#stopWatching();
    this.#written.clear();
    this.#wake?.();
    this.#wake = undefined;
  }

  /** One call at a time waits: when it comes, what it was for may have been written again. */
  #plan(): void {
    if (this.#wake || this.#running) return;
    const [first] = this.#written.values();
    if (first === undefined) return;
    const { clock } = this.#context.backend;
    this.#wake = clock.after(first + LIFETIME - clock.now(), () => {
      this.#wake = undefined;
      void this.#expire();
    });
  }

  async #expire(): Promise<void> {
    const { clock, pace, store, troubles } = this.#context.backend;
    this.#running = true;
    try {
      for (const [key, at] of this.#written) {
        if (at + LIFETIME > clock.now()) break;
        const rest = pace.rest();
        if (rest) await rest;
        // While others had their turn it may have been written again, or be gone.
        if (this.#written.get(key) !== at) continue;
        const entry = store.get(TABLE, key);
        if (entry) store.delete(TABLE, key, entry.revision);
        this.#written.delete(key);
      }
    } catch (error) {
      // The cluster ends, or its disk has failed: nothing can be deleted any more, and a person has to know of a disk.
      troubles.report("Events are kept from now on, however old they are", error);
      return this.stop();
    } finally {
      this.#running = false;
    }
    this.#plan();
  }
}

/** The latest time that an Event tells. */
function writtenAt(event: Parameters<typeof fromStore>[0]): number {
  const { metadata, lastTimestamp, eventTime } = fromStore(event);
  const times = [metadata.creationTimestamp, lastTimestamp, eventTime, objectAt(event, "series").lastObservedTime];
  return Math.max(0, ...times.map((time) => Date.parse(String(time))).filter((time) => !Number.isNaN(time)));
}
