/**
 * What the page is told as it happens: log lines and changes. Lines are numbered and the newest are kept, so that a page
 * that joins late, or comes back after a cut, gets exactly the lines that it has not seen.
 */

/** The object that a log line is about. */
export interface ConsoleObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** A log line as the framework's logger hands it to a sink. */
export interface ConsoleRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly object?: ConsoleObjectReference | undefined;
}

/** One message to a page. Only log lines have an id: the page names the last one when it comes back. */
export interface FeedMessage {
  readonly event: "log" | "change" | "kind" | "kinds";
  readonly id?: string;
  /** JSON. */
  readonly data: string;
}

/** Enough to see what led to the present, little enough to send at once. */
const KEPT_LINES = 500;

/** See the module comment. */
export class Feed {
  readonly #epoch: string;
  readonly #lines: { readonly number: number; readonly message: FeedMessage }[] = [];
  readonly #listeners = new Set<(message: FeedMessage) => void>();
  #last = 0;

  /** `epoch` tells the numbers of this process from those of an earlier one on the same port. */
  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  log(record: ConsoleRecord): void {
    const number = ++this.#last;
    const message: FeedMessage = { event: "log", id: `${this.#epoch}-${number}`, data: toJson(record) };
    this.#lines.push({ number, message });
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    this.#tell(message);
  }

  tell(event: Exclude<FeedMessage["event"], "log">, data: object): void {
    this.#tell({ event, data: toJson(data) });
  }

  /** Sends the kept lines after `lastId`, then everything that happens, until the returned function is called. */
  join(listener: (message: FeedMessage) => void, lastId?: string): () => void {
    const seen = this.#numberOf(lastId);
    for (const { number, message } of this.#lines) if (number > seen) listener(message);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(message: FeedMessage): void {
    for (const listener of this.#listeners) listener(message);
  }

  #numberOf(id: string | undefined): number {
    const prefix = `${this.#epoch}-`;
    return id?.startsWith(prefix) ? Number(id.slice(prefix.length)) || 0 : 0;
  }
}

/** JSON of anything that a log line may carry: errors as their text, and no failure over a cycle or a BigInt. */
export function toJson(value: unknown): string {
  const path: unknown[] = [];
  return JSON.stringify(value, function (this: unknown, _key, part: unknown) {
    if (part instanceof Error) {
      const { hint } = part as { hint?: unknown };
      return { name: part.name, message: part.message, ...(typeof hint === "string" && { hint }) };
    }
    if (typeof part === "bigint" || typeof part === "symbol" || typeof part === "function") return String(part);
    if (typeof part !== "object" || part === null) return part;
    // `this` is the parent: everything above it is the way from the root to here.
    while (path.length > 0 && path.at(-1) !== this) path.pop();
    if (path.includes(part)) return "[circular]";
    path.push(part);
    return part;
  });
}
