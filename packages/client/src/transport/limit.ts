/**
 * How many requests may be in flight at a time? As many as the server bears, which the client does not know beforehand
 * and which changes: so it is tried out, as TCP does. One more for each round trip that used the limit up and went well;
 * half of it when the server says that it is overloaded; a tenth less when its answers have become much slower than those to the same
 * kind of request used to be.
 *
 * Pure: it learns from samples, and knows no clock and no network. What must stay true:
 *   - a limit that is not used up does not grow, for nothing is known about it;
 *   - one overload lowers it once: what began before the last decrease says nothing about the new limit;
 *   - slow answers alone never choke a client, because they may be the fault of a webhook, or of the client itself.
 */

/** What is known when a request is over. Times are those of one monotonic clock. */
export interface LimitSample {
  /** Requests of one kind take about the same time: `GET pods/`, `POST deployments`. */
  readonly kind: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** From the request's end to the beginning of the answer; undefined when there was none. */
  readonly latencyMs: number | undefined;
  /** How many were in flight when it began, itself included. */
  readonly inFlight: number;
  /** The server said that it has too much to do, or did not answer in time. */
  readonly overloaded: boolean;
}

/** Enough for a burst of a script or the first list of an operator, and far below what an API server takes from one client. */
const START = 32;
const LEAST = 2;
/** An API server works on a few hundred requests at a time, for all of its clients. */
export const MOST_IN_FLIGHT = 256;
/** Where slowness stops to count. */
const LEAST_BY_LATENCY = 8;
const ON_OVERLOAD = 0.5;
const ON_SLOWNESS = 0.9;
/** A limit of which this part is in use counts as used up. */
const USED_UP = 0.8;
/** So much slower than usual is slow; below the second figure it is noise, such as a garbage collection. */
const SLOWER = 2;
const NOISE_MS = 25;
/** More kinds of requests than this are not told apart. */
const KINDS = 256;

interface Latency {
  /** What is usual: follows faster answers at once, and slower ones only when they stay. */
  usual: number;
  recent: number;
}

/** See the module comment. */
export class AdaptiveLimit {
  readonly #latencies = new Map<string, Latency>();
  #limit = START;
  #decreasedAt = Number.NEGATIVE_INFINITY;

  /** How many requests may be in flight now. */
  get current(): number {
    return Math.floor(this.#limit);
  }

  observe(sample: LimitSample): void {
    const slow = sample.latencyMs !== undefined && this.#isSlow(sample.kind, sample.latencyMs);
    const usedUp = sample.inFlight >= this.current * USED_UP;
    if (sample.overloaded) this.#decrease(sample, ON_OVERLOAD, LEAST);
    else if (usedUp && slow) this.#decrease(sample, ON_SLOWNESS, LEAST_BY_LATENCY);
    else if (usedUp && sample.latencyMs !== undefined) {
      this.#limit = Math.min(MOST_IN_FLIGHT, this.#limit + 1 / this.#limit);
    }
  }

  #decrease({ startedAt, endedAt }: LimitSample, factor: number, least: number): void {
    if (startedAt < this.#decreasedAt) return;
    this.#decreasedAt = endedAt;
    this.#limit = Math.min(this.#limit, Math.max(least, this.#limit * factor));
  }

  #isSlow(kind: string, latencyMs: number): boolean {
    const known = this.#latencies.get(kind);
    if (known === undefined) {
      for (const oldest of this.#latencies.keys()) {
        if (this.#latencies.size < KINDS) break;
        this.#latencies.delete(oldest);
      }
      this.#latencies.set(kind, { usual: latencyMs, recent: latencyMs });
      return false;
    }
    known.recent += (latencyMs - known.recent) * 0.2;
    known.usual += (latencyMs - known.usual) * (latencyMs < known.usual ? 0.2 : 0.005);
    return known.recent > known.usual * SLOWER + NOISE_MS;
  }
}

/** The kind of a request: its verb and its resource, without the names in its path. */
export function kindOfRequest({ method, path }: { readonly method: string; readonly path: string }): string {
  // "/api/v1/…" or "/apis/GROUP/VERSION/…"
  let at = afterSlashes(path, 0, path.startsWith("/apis/") ? 4 : 3);
  if (path.startsWith("namespaces/", at)) {
    const inside = afterSlashes(path, at, 2);
    if (inside >= 0) at = inside;
  }
  if (at < 0) return `${method} ${path}`;
  const plural = path.indexOf("/", at);
  if (plural < 0) return `${method} ${path.slice(at)}`;
  const name = path.indexOf("/", plural + 1);
  return `${method} ${path.slice(at, plural)}/${name < 0 ? "" : path.slice(name + 1)}`;
}

/** Where the text behind so many slashes begins; -1 when there are fewer. */
function afterSlashes(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left--) {
    at = text.indexOf("/", at) + 1;
    if (at === 0) return -1;
  }
  return at;
}
