const NEWLINE = 0x0a;

const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts bytes into lines. Works on the Buffers as they come, because turning each chunk into a string first costs a third
 * of a watch's throughput, and a character may be split between two chunks. The lines are bytes as well, for a reader who
 * does not want all of them; they share their memory with the chunks, so whoever keeps one keeps a copy.
 */
export class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  #partial: Buffer[] = [];

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  /** Calls back for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      let line = chunk.subarray(start, end);
      if (this.#partial.length > 0) {
        this.#partial.push(line);
        line = Buffer.concat(this.#partial);
        this.#partial = [];
      }
      start = end + 1;
      if (line.length > 1 || (line.length === 1 && line[0] !== CARRIAGE_RETURN)) this.#onLine(line);
    }
    if (start < chunk.length) this.#partial.push(start === 0 ? chunk : chunk.subarray(start));
  }

  /** What came after the last newline. */
  get rest(): string {
    return Buffer.concat(this.#partial).toString("utf8");
  }
}
