// The independent witness: watches the objects of one run and takes the time from the event that shows a change to the
// event that shows its status. Both come over the same stream, so what the stream itself costs cancels out.
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** See above. An object is settled when its status tells the size that its spec wants. */
export class Watcher {
  #objects = new Map();
  #open = 0;
  #lastEvent = performance.now();
  #stop;
  #failure;
  #lookers = new Set();
  #samples = [];
  #sent = new Map();
  #version = "";

  constructor(api, path) {
    // Without a version the stream begins with what is there: nothing can slip through before it is open.
    this.#watch(api, path, "");
  }

  /** A server that is busy with ten thousand objects ends streams that lag behind: then it goes on where it was. */
  #watch(api, path, version) {
    this.#stop = api.lines(
      `${path}?watch=true${version && `&resourceVersion=${version}`}`,
      (lines) => {
        const now = performance.now();
        this.#lastEvent = now;
        for (const line of lines) this.#see(JSON.parse(line), now);
        for (const look of this.#lookers) look();
      },
      (error) => {
        if (error.ended && this.#version !== version) this.#watch(api, path, this.#version);
        else this.#failure = error;
      },
    );
  }

  get size() {
    return this.#objects.size;
  }

  /** Forgets the samples taken so far. */
  begin() {
    this.#samples = [];
    this.#sent.clear();
  }

  /** The samples since {@link Watcher.begin}: `seen` from the change's own event, `sent` from its request. */
  get samples() {
    return this.#samples;
  }

  /** A change of the object is about to be sent. */
  sending(name, size) {
    this.#sent.set(name, { size, at: performance.now() });
  }

  /** Whether the object has the status that it should have for this size. */
  isSettled(name, size) {
    const known = this.#objects.get(name);
    return known?.size === size && known.settled;
  }

  /** Resolves with the time of the event that made `condition` true. */
  async until(condition, what, limitMs, alive) {
    const deadline = performance.now() + limitMs;
    while (!condition()) {
      if (this.#failure) throw this.#failure;
      alive();
      if (performance.now() > deadline) {
        throw new Error(`${what}: not so after ${limitMs / 1000} s (${this.#open} of ${this.size} objects are open)`);
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

  /** Resolves with the time of the last event when `count` objects are there and all are settled. */
  settled(count, limitMs, alive) {
    return this.until(() => this.size === count && this.#open === 0, `${count} objects settled`, limitMs, alive);
  }

  /** Resolves when nothing has happened for a while: what somebody still writes late belongs to what was before. */
  async quiet(ms = 500) {
    for (;;) {
      const left = this.#lastEvent + ms - performance.now();
      if (left <= 0) return;
      await sleep(left + 1);
    }
  }

  close() {
    this.#stop();
  }

  #see({ type, object }, now) {
    if (type === "ERROR") {
      this.#failure = new Error(`the watch failed: ${object.message}`);
      return;
    }
    const { name, resourceVersion } = object.metadata;
    this.#version = resourceVersion;
    const known = this.#objects.get(name);
    if (type === "DELETED") {
      this.#objects.delete(name);
      if (known && !known.settled) this.#open--;
      return;
    }
    const { size } = object.spec;
    const settled = object.status?.size === size;
    if (known === undefined || known.size !== size) {
      if (known === undefined || known.settled) this.#open++;
      this.#objects.set(name, { size, settled: false, at: now });
    }
    const entry = this.#objects.get(name);
    if (settled === entry.settled) return;
    entry.settled = settled;
    this.#open += settled ? -1 : 1;
    if (!settled) return;
    const sent = this.#sent.get(name);
    this.#samples.push({ name, seen: now - entry.at, sent: sent?.size === size ? now - sent.at : undefined });
  }
}
