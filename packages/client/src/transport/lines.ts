const NEWLINE = 0x0a;

const CARRIAGE_RETURN = 0x0d;

const UNLIMITED = { longest: Number.POSITIVE_INFINITY, tooLong: () => new Error("a line is too long") };

/**
 * Cuts bytes into lines. Works on the Buffers as they come, because turning each chunk into a string first costs a third
 * of a watch's throughput, and a character may be split between two chunks. The lines are bytes as well, for a reader who
 * does not want all of them; they share their memory with the chunks, so a consumer that keeps one keeps a copy.
 *
 * A line that never ends would fill the memory: `push` throws what `tooLong` makes as soon as one is longer than
 * `longest`.
 */
export class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  readonly #longest: number;
  readonly #tooLong: () => Error;
  #partial: Buffer[] = [];
  #partialBytes = 0;

  constructor(
    onLine: (line: Buffer) => void,
    o: { readonly longest: number; readonly tooLong: () => Error } = UNLIMITED,
  ) {
    this.#onLine = onLine;
    this.#longest = o.longest;
    this.#tooLong = o.tooLong;
  }

  /** Calls back for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      let line = chunk.subarray(start, end);
      if (this.#partialBytes + line.length > this.#longest) throw this.#tooLong();
      if (this.#partial.length > 0) {
        this.#partial.push(line);
        line = Buffer.concat(this.#partial);
        this.#partial = [];
        this.#partialBytes = 0;
      }
      start = end + 1;
      if (line.length > 1 || (line.length === 1 && line[0] !== CARRIAGE_RETURN)) this.#onLine(line);
    }
    if (start === chunk.length) return;
    this.#partial.push(start === 0 ? chunk : chunk.subarray(start));
    this.#partialBytes += chunk.length - start;
    if (this.#partialBytes > this.#longest) throw this.#tooLong();
  }

  /** What came after the last newline. */
  get rest(): string {
    return Buffer.concat(this.#partial).toString("utf8");
  }
}
