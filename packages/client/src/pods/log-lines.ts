/**
 * The lines of a log, for one reader.
 *
 * @example
 * ```ts
 * for await (const line of pod.logs({ follow: true })) { if (line.includes("ready")) break; }
 * const all = await pod.logs({ tailLines: 100 }).text();
 * ```
 */
export interface LogLines<T = string> extends AsyncIterable<T> {
  /** Everything, as one text. Never resolves for a log that is followed and does not end. */
  text(): Promise<string>;
  toArray(): Promise<T[]>;
}

/** Makes {@link LogLines} of a source that opens when it is read. */
export function logLines<T>(open: () => AsyncIterable<T>, textOf: (item: T) => string): LogLines<T> {
  const toArray = async () => {
    const items: T[] = [];
    for await (const item of open()) items.push(item);
    return items;
  };
  return {
    [Symbol.asyncIterator]: () => open()[Symbol.asyncIterator](),
    toArray,
    text: async () => (await toArray()).map((item) => `${textOf(item)}\n`).join(""),
  };
}

const NEWLINE = 0x0a;

/** A line, and whether a newline ended it. The last one of a stream that broke may be half of one. */
export interface RawLine {
  readonly text: string;
  readonly complete: boolean;
}

/** Cuts bytes into lines, empty ones too. A failure of the source comes after all complete lines before it. */
export async function* splitLines(source: AsyncIterable<Buffer>): AsyncGenerator<RawLine, void, undefined> {
  let partial: Buffer[] = [];
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      yield {
        text: (partial.length === 0 ? piece : Buffer.concat([...partial, piece])).toString("utf8"),
        complete: true,
      };
      partial = [];
      start = end + 1;
    }
    if (start < chunk.length) partial.push(chunk.subarray(start));
  }
  if (partial.length > 0) yield { text: Buffer.concat(partial).toString("utf8"), complete: false };
}
