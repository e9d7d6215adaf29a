/** Cuts the answer of a watch into its events, in each of the two forms that servers send them in. */
import type { IncomingHttpHeaders } from "node:http";

/** The form of a watch: lines of JSON, or protobuf with the length before each; undefined when nobody can tell. */
export function formOf(headers: IncomingHttpHeaders): "lines" | "frames" | undefined {
  if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") return undefined;
  return headers["content-type"]?.includes("protobuf") ? "frames" : "lines";
}

const NEWLINE = 0x0a;
const LENGTH_BYTES = 4;

/** Calls back for each event, with the bytes that make it one: the newline behind it, or the length before it. */
export class EventReader {
  readonly #form: "lines" | "frames";
  readonly #onEvent: (event: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(form: "lines" | "frames", onEvent: (event: Buffer) => void) {
    this.#form = form;
    this.#onEvent = onEvent;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let start = 0;
    for (let end = this.#endOf(bytes, start); end !== undefined; end = this.#endOf(bytes, start)) {
      this.#onEvent(bytes.subarray(start, end));
      start = end;
    }
    this.#rest = bytes.subarray(start);
  }

  /** Behind the event that begins at `start`; undefined when it is not all there yet. */
  #endOf(bytes: Buffer, start: number): number | undefined {
    if (this.#form === "lines") {
      const at = bytes.indexOf(NEWLINE, start);
      return at < 0 ? undefined : at + 1;
    }
    if (bytes.length < start + LENGTH_BYTES) return undefined;
    const end = start + LENGTH_BYTES + bytes.readUInt32BE(start);
    return end <= bytes.length ? end : undefined;
  }
}

/** An event as a rule is shown it: a line without its end; of protobuf the bytes as they are, as Latin-1 has them. */
export function shownEvent(event: Buffer, form: "lines" | "frames"): string {
  return form === "lines" ? event.toString("utf8").trimEnd() : event.toString("latin1", LENGTH_BYTES);
}
