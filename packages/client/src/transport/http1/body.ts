import { Readable } from "node:stream";

/** Where the bytes of a body come from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The reader has gone before the end. */
  abandon(): void;
}

/** A body that is read while it comes; a slow reader slows the server down. */
export class AnswerBody extends Readable {
  readonly #source: BodySource;
  #held = false;
  #complete = false;

  constructor(source: BodySource) {
    super();
    this.#source = source;
  }

  /** More of it. */
  add(bytes: Buffer): void {
    if (this.push(bytes) || this.#held) return;
    this.#held = true;
    this.#source.pause();
  }

  /** All of it has come. */
  complete(): void {
    this.#complete = true;
    this.push(null);
  }

  override _read(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#complete) this.#source.abandon();
    callback(error);
  }
}
