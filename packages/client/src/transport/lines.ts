const NEWLINE = 0x0a;

/**
 * Cuts bytes into lines. Works on the Buffers as they come, because turning each chunk into a string first costs a third
 * of a watch's throughput, and a character may be split between two chunks.
 */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #partial: Buffer[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Calls back for each line that `chunk` completes; empty lines are skipped. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      let line: string;
      if (this.#partial.length === 0) line = chunk.toString("utf8", start, end);
      else {
        this.#partial.push(chunk.subarray(start, end));
        line = Buffer.concat(this.#partial).toString("utf8");
        this.#partial = [];
      }
      start = end + 1;
      if (line !== "" && line !== "\r") this.#onLine(line);
    }
    if (start < chunk.length) this.#partial.push(start === 0 ? chunk : chunk.subarray(start));
  }

  /** What came after the last newline. */
  get rest(): string {
    return Buffer.concat(this.#partial).toString("utf8");
  }
}
