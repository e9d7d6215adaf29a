/** What one client may ask of the server, and all of them together. */
export interface WebhookLimits {
  /**
   * The largest body. An API server takes objects of 3 MiB; of an update it sends the old one and the new one, with
   * little beside them.
   */
  readonly bodyBytes: number;
  /** All bodies together that are being received or worked on. */
  readonly heldBytes: number;
  /** The request line and the headers. */
  readonly headerBytes: number;
  /** Requests at a time. Beyond, 429 with `Retry-After`: the client of API servers tries again by itself. */
  readonly requests: number;
  readonly connections: number;
  /** Requests at a time on one connection of HTTP/2; a Go client opens another connection beyond. */
  readonly streams: number;
  /** For the greeting of TLS: work for both sides. */
  readonly handshakeMs: number;
  /** For a request's headers. */
  readonly headersMs: number;
  /** From the headers to the last byte of the body. */
  readonly bodyMs: number;
  /** How long a connection without requests stays open. */
  readonly idleMs: number;
  /** The deadline of a request that brings none, and the longest: no API server waits for longer. */
  readonly answerMs: number;
}

const MIB = 1_024 * 1_024;

/**
 * A `ConversionReview` carries a whole list: an API server sends all objects of one answer at once, however many a client
 * asked for. Those who serve conversions take bodies of this size.
 */
export const LIST_BYTES = 64 * MIB;

/** The limits of a server that is told nothing else. */
export const defaultLimits: WebhookLimits = {
  bodyBytes: 7 * MIB,
  heldBytes: 192 * MIB,
  headerBytes: 32 * 1_024,
  requests: 500,
  connections: 1_000,
  streams: 250,
  handshakeMs: 10_000,
  headersMs: 10_000,
  bodyMs: 10_000,
  idleMs: 120_000,
  answerMs: 30_000,
};

/** The bytes of all bodies that are in memory. */
export class HeldBytes {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** How many there are. */
  get count(): number {
    return this.#held;
  }

  /** Whether there is room for so many more; then they count from now on. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}
