// The witness: sees parents and children through streams of its own, and takes the times.
import { configMapsIn, widgetsIn } from "../engine/bed.mjs";

/** The children of a parent; only the first one tells its size. */
export const parts = ["settings", "rules", "pages"];

/** A parent is settled when its children are there, the settings have its size, and its status tells it. */
export class Witness {
  #parents = new Map();
  #settled = 0;
  #present = 0;
  #lastEvent = performance.now();
  #stops = [];
  #failure;
  #lookers = new Set();
  #sent = new Map();
  #goneAt = new Map();
  /** Milliseconds since the last {@link Witness.begin}. */
  samples = { child: [], status: [], repair: [] };

  constructor(api, namespace) {
    this.#follow(api, widgetsIn(namespace), (event, now) => this.#seeParent(event, now));
    this.#follow(api, configMapsIn(namespace), (event, now) => this.#seeChild(event, now));
  }

  /** A server that is busy ends streams that lag behind: then they go on where they were. */
  #follow(api, path, see, version = "") {
    let last = version;
    const stop = api.lines(
      `${path}?watch=true${version && `&resourceVersion=${version}`}`,
      (lines) => {
        const now = performance.now();
        this.#lastEvent = now;
        for (const line of lines) {
          const event = JSON.parse(line);
          if (event.type === "ERROR") this.#failure = new Error(`the watch failed: ${event.object.message}`);
          else {
            last = event.object.metadata.resourceVersion;
            see(event, now);
          }
        }
        for (const look of this.#lookers) look();
      },
      (error) => {
        if (error.ended && last !== version) this.#follow(api, path, see, last);
        else this.#failure = error;
      },
    );
    this.#stops.push(stop);
  }

  /** Forgets the samples taken so far. */
  begin() {
    this.samples = { child: [], status: [], repair: [] };
    this.#sent.clear();
    this.#goneAt.clear();
  }

  /** A change of the parent is about to be sent. */
  sending(name, size) {
    this.#sent.set(name, { size, at: performance.now() });
  }

  isSettled(name, size) {
    const known = this.#parents.get(name);
    return known?.size === size && known.settled;
  }

  /** Resolves with the time of the last event when `count` parents are there and all are settled. */
  settled(count, limitMs, alive) {
    const condition = () => this.#present === count && this.#settled === count;
    return this.until(condition, `${count} parents settled`, limitMs, alive);
  }

  /** Resolves with the time of the event that made `condition` true. */
  async until(condition, what, limitMs, alive) {
    const deadline = performance.now() + limitMs;
    while (!condition()) {
      if (this.#failure) throw this.#failure;
      alive();
      if (performance.now() > deadline) {
        throw new Error(`${what}: not so after ${limitMs / 1000} s (${this.#settled} of ${this.#present} are settled)`);
      }
      await this.#change(condition, 200);
    }
    return this.#lastEvent;
  }

  /** Resolves when `condition` holds after an event, or after a while. */
  #change(condition, ms) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#lookers.delete(look);
        resolve();
      };
      const look = () => condition() && done();
      const timer = setTimeout(done, ms);
      this.#lookers.add(look);
    });
  }

  /** Resolves when nothing has happened for a while: what somebody still writes late belongs to what was before. */
  async quiet(ms = 500) {
    for (;;) {
      const left = this.#lastEvent + ms - performance.now();
      if (left <= 0) return;
      await new Promise((resolve) => setTimeout(resolve, left + 1));
    }
  }

  close() {
    for (const stop of this.#stops) stop();
  }

  #seeParent({ type, object }, now) {
    const { name } = object.metadata;
    const entry = this.#entry(name);
    const there = type !== "DELETED";
    this.#present += Number(there) - Number(entry.there);
    Object.assign(entry, { there, size: object.spec.size, status: object.status?.size });
    this.#judge(entry);
    const sent = this.#sent.get(name);
    if (sent && !sent.status && sent.size === entry.status) {
      sent.status = true;
      this.samples.status.push(now - sent.at);
    }
  }

  #seeChild({ type, object }, now) {
    const { name } = object.metadata;
    const [, parent, part] = /^(.*)-(\w+)$/.exec(name) ?? [];
    if (!parts.includes(part)) return;
    const entry = this.#entry(parent);
    if (type === "DELETED") {
      entry.parts.delete(part);
      this.#goneAt.set(name, now);
    } else {
      entry.parts.set(part, object.data.size);
      const goneAt = this.#goneAt.get(name);
      if (goneAt !== undefined && type === "ADDED") {
        this.#goneAt.delete(name);
        this.samples.repair.push(now - goneAt);
      }
    }
    this.#judge(entry);
    const sent = this.#sent.get(parent);
    if (sent && !sent.child && part === "settings" && object.data.size === String(sent.size)) {
      sent.child = true;
      this.samples.child.push(now - sent.at);
    }
  }

  #entry(name) {
    let entry = this.#parents.get(name);
    if (!entry) {
      entry = { there: false, size: undefined, status: undefined, parts: new Map(), settled: false };
      this.#parents.set(name, entry);
    }
    return entry;
  }

  #judge(entry) {
    const { there, size, status, parts: has } = entry;
    const settled = there && status === size && has.size === parts.length && has.get("settings") === String(size);
    this.#settled += Number(settled) - Number(entry.settled);
    entry.settled = settled;
  }
}
