/** One request that the server answered. */
export interface RequestEntry {
  /** Kubernetes' verb: `get`, `list`, `watch`, `create`, `patch`, … */
  readonly verb: string;
  readonly method: string;
  /** With the query, as the client sent it. */
  readonly path: string;
  readonly user: string;
  /** As whom the request acted, when that is somebody else. */
  readonly impersonatedUser?: string | undefined;
  readonly userAgent: string;
  /** `configmaps`, `widgets.example.com`; undefined for paths that name no resource. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly status: number;
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
  readonly #limit: number;

  /** Keeps the last `limit` requests. */
  constructor(limit = 10_000) {
    this.#limit = limit;
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
  }

  /** The requests that look like `wanted`, or that a function picks. */
  filter(wanted: Partial<RequestEntry> | ((entry: RequestEntry) => boolean)): RequestEntry[] {
    if (typeof wanted === "function") return this.#entries.filter(wanted);
    const fields = Object.entries(wanted) as [keyof RequestEntry, unknown][];
    return this.#entries.filter((entry) => fields.every(([key, value]) => entry[key] === value));
  }

  /** Called by the server with each answer. */
  add(entry: RequestEntry): void {
    this.#entries.push(entry);
    // In larger steps, because taking one off the front moves all the others.
    if (this.#entries.length > this.#limit * 1.1 + 1) this.#entries = this.#entries.slice(-this.#limit);
  }
}
