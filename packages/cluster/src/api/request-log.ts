import { sizeOf } from "../store/index.ts";

/** One request that the server answered. */
export interface RequestEntry {
  /** Kubernetes' verb: `get`, `list`, `watch`, `create`, `patch`, … */
  readonly verb: string;
  readonly method: string;
  /** With the query, as the client sent it. */
  readonly path: string;
  readonly user: string;
  /** As whom the request acted, when that is another user. */
  readonly impersonatedUser?: string | undefined;
  readonly userAgent: string;
  /** `configmaps`, `widgets.example.com`; undefined for paths that name no resource. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly status: number;
  /** What admission noted about the request, as the audit log of a real server does; absent when it noted nothing. */
  readonly auditAnnotations?: Readonly<Record<string, string>> | undefined;
  /** What a write carried; undefined for reads. */
  readonly body: unknown;
}

/**
 * What clients asked of the server, for tests to look at.
 *
 * @example
 * ```ts
 * cluster.requests.clear();
 * await runOperator();
 * expect(cluster.requests.filter({ verb: "patch" })).toEqual([]);
 * ```
 */
export class RequestLog implements Iterable<RequestEntry> {
  #entries: RequestEntry[] = [];
  /** Of each entry's body, at the same index. */
  #sizes: number[] = [];
  #bytes = 0;
  readonly #limit: number;
  readonly #most: number;

  /** Keeps the last `limit` requests, and of them as many as have no more than about `bytes` in their bodies. */
  constructor(limit = 10_000, bytes = 16 * 1_024 * 1_024) {
    this.#limit = limit;
    this.#most = bytes;
  }

  /** The requests so far, oldest first. */
  get entries(): readonly RequestEntry[] {
    return this.#entries;
  }

  [Symbol.iterator](): Iterator<RequestEntry> {
    return this.#entries[Symbol.iterator]();
  }

  /** Forgets everything so far. */
  clear(): void {
    this.#entries = [];
    this.#sizes = [];
    this.#bytes = 0;
  }

  /** The requests that look like `wanted`, or that a function picks. */
  filter(wanted: Partial<RequestEntry> | ((entry: RequestEntry) => boolean)): RequestEntry[] {
    if (typeof wanted === "function") return this.#entries.filter(wanted);
    const fields = Object.entries(wanted) as [keyof RequestEntry, unknown][];
    return this.#entries.filter((entry) => fields.every(([key, value]) => entry[key] === value));
  }

  /** Called by the server with each answer. */
  add(entry: RequestEntry): void {
    const size = sizeOf(entry.body);
    this.#entries.push(entry);
    this.#sizes.push(size);
    this.#bytes += size;
    // In larger steps, because taking one off the front moves all the others.
    if (this.#entries.length > this.#limit * 1.1 + 1) this.#drop(this.#entries.length - this.#limit);
    if (this.#bytes > this.#most) this.#drop(this.#tooMany());
  }

  /** How many of the oldest have to go to make some room; the newest one stays. */
  #tooMany(): number {
    let left = this.#bytes;
    let count = 0;
    while (left > this.#most * 0.9 && count < this.#sizes.length - 1) left -= this.#sizes[count++] as number;
    return count;
  }

  #drop(count: number): void {
    for (const size of this.#sizes.slice(0, count)) this.#bytes -= size;
    this.#entries = this.#entries.slice(count);
    this.#sizes = this.#sizes.slice(count);
  }
}
