/**
 * Where a socket puts what it reads. A stream in between would cost as much as all of the parsing: each piece would become
 * an event, and each event another look whether there is more. Here a socket writes into memory that it is given, and says
 * how much; what it has written is never written over, so that bodies can be handed out as they lie.
 */
export class Intake {
  readonly #onBytes: (bytes: Buffer) => void;
  /** What is left of the present piece of memory; it is what the socket writes into next. */
  #room: Buffer;

  constructor(onBytes: (bytes: Buffer) => void) {
    this.#onBytes = onBytes;
    this.#room = Buffer.allocUnsafeSlow(USUAL_BYTES);
  }

  /** For `net.connect` and `tls.connect`. */
  get onread(): { buffer: () => Buffer; callback: (bytes: number) => boolean } {
    return { buffer: () => this.#room, callback: this.#take };
  }

  readonly #take = (count: number): boolean => {
    const room = this.#room;
    const full = count === room.length;
    const left = room.length - count;
    // Who fills all of it has more to say: a list, or many events at once.
    if (full) this.#room = Buffer.allocUnsafeSlow(LARGE_BYTES);
    else this.#room = left < LEAST_BYTES ? Buffer.allocUnsafeSlow(USUAL_BYTES) : room.subarray(count);
    this.#onBytes(full ? room : room.subarray(0, count));
    return true;
  };
}

/** Some answers. Each connection has as much, also while it is idle. */
const USUAL_BYTES = 16 * 1024;
const LARGE_BYTES = 64 * 1024;
/** Less is not worth a read. */
const LEAST_BYTES = 4 * 1024;
