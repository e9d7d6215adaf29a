/**
 * What becomes of an event before anything is sent: counted together with its equals, held back by its object's rate, or
 * written. No I/O and no clock: the time comes with each call.
 */
import type { EventInput } from "./events-body.ts";

/** One Event in the cluster and how often it has happened. */
export interface EventSeries {
  readonly event: EventInput;
  /** Which object it is about. Writes of one object keep their order. */
  readonly objectKey: string;
  count: number;
  /** Wall-clock milliseconds. */
  readonly firstAt: number;
  lastAt: number;
  /** The name of the Event in the cluster; set with the first write. */
  name: string | undefined;
  /** The Event is there: the next write is a PATCH. */
  created: boolean;
  /** A POST of it went out and its answer was lost. */
  uncertain: boolean;
  /** It waits to be written: what happens until then needs no write of its own. */
  queued: boolean;
}

/** What to do with an event. */
export type Admission =
  /** Write it. */
  | { readonly type: "write"; readonly series: EventSeries }
  /** Its equal waits to be written and now counts one more. */
  | { readonly type: "merged" }
  /** Its object has used up its rate. `first`: the operator's log has not told of it yet. */
  | { readonly type: "limited"; readonly first: boolean }
  /** There is no room for it. */
  | { readonly type: "full" };

/** How much is remembered and let through. */
export interface AggregateLimits {
  /** Writes about one object at once. */
  readonly burst: number;
  /** After how long one more is allowed. */
  readonly refillMs: number;
  /** How many series, and how many objects' rates, are remembered. */
  readonly remember: number;
  /** After how long without a sign of it a series is forgotten. */
  readonly forgetMs: number;
}

/** The two clocks' readings. */
export interface Instant {
  /** Wall-clock milliseconds, for what is written down. */
  readonly now: number;
  /** For spans of time. */
  readonly monotonic: number;
}

interface Bucket {
  tokens: number;
  at: number;
  told: boolean;
}

/** Floating point: 300 tenths of a token are one. */
const NEARLY_ONE = 1 - 1e-9;

/** Remembers recent events by what they say, and by object how many were written lately. */
export class EventAggregate {
  readonly #limits: AggregateLimits;
  readonly #series: RecentMap<EventSeries>;
  readonly #buckets: RecentMap<Bucket>;

  constructor(limits: AggregateLimits) {
    this.#limits = limits;
    this.#series = new RecentMap(limits.remember, limits.forgetMs);
    // After this long a bucket is full again, and a new one is no different.
    this.#buckets = new RecentMap(limits.remember, limits.burst * limits.refillMs);
  }

  /** How much is remembered, for tests and metrics. */
  get size(): number {
    return this.#series.size + this.#buckets.size;
  }

  /** Takes in one event; `room` says whether one more write may be queued. */
  observe(event: EventInput, at: Instant, room: boolean): Admission {
    const objectKey = objectKeyOf(event);
    const key = [objectKey, event.type, event.reason, event.message].join("\0");
    const known = this.#series.get(key, at.monotonic);
    if (known) {
      // Also when it is not written now: the next write tells the true number.
      known.count++;
      known.lastAt = at.now;
      if (known.queued) return { type: "merged" };
    }
    if (!room) return { type: "full" };
    const bucket = this.#bucket(objectKey, at.monotonic);
    if (bucket.tokens < NEARLY_ONE) {
      const first = !bucket.told;
      bucket.told = true;
      return { type: "limited", first };
    }
    bucket.tokens -= 1;
    if (known) return { type: "write", series: known };
    const series: EventSeries = {
      event,
      objectKey,
      count: 1,
      firstAt: at.now,
      lastAt: at.now,
      name: undefined,
      created: false,
      uncertain: false,
      queued: false,
    };
    this.#series.set(key, series, at.monotonic);
    return { type: "write", series };
  }

  #bucket(objectKey: string, now: number): Bucket {
    const { burst, refillMs } = this.#limits;
    const known = this.#buckets.get(objectKey, now);
    if (known) {
      known.tokens = Math.min(burst, known.tokens + (now - known.at) / refillMs);
      known.at = now;
      return known;
    }
    const bucket = { tokens: burst, at: now, told: false };
    this.#buckets.set(objectKey, bucket, now);
    return bucket;
  }
}

function objectKeyOf({ object: { uid, apiVersion, kind, namespace, name } }: EventInput): string {
  return uid || [apiVersion, kind, namespace ?? "", name].join("/");
}

/** A map that forgets what was not used for a while, and the longest unused first when it grows too large. */
class RecentMap<V> {
  /** In the order of last use, oldest first. */
  readonly #entries = new Map<string, { readonly value: V; readonly usedAt: number }>();
  readonly #limit: number;
  readonly #idleMs: number;

  constructor(limit: number, idleMs: number) {
    this.#limit = limit;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, now: number): V | undefined {
    this.#forget(now);
    const entry = this.#entries.get(key);
    if (entry) this.#put(key, entry.value, now);
    return entry?.value;
  }

  set(key: string, value: V, now: number): void {
    this.#put(key, value, now);
    this.#forget(now);
  }

  #put(key: string, value: V, now: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, usedAt: now });
  }

  #forget(now: number): void {
    for (const [key, { usedAt }] of this.#entries) {
      if (this.#entries.size <= this.#limit && now - usedAt < this.#idleMs) return;
      this.#entries.delete(key);
    }
  }
}
