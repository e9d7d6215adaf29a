import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import type { Clock } from "@lotse/client/meta";
import { errorMessage } from "@lotse/client/meta";
import { Refusal } from "./answers.ts";
import { tooLarge } from "./head.ts";
import type { HeldBytes } from "./limits.ts";

/** What may be read of one body. */
export interface BodyLimits {
  readonly bytes: number;
  readonly held: HeldBytes;
  readonly clock: Clock;
  readonly patienceMs: number;
}

/** A body that has come. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Its bytes count as held until then. */
  release(): void;
}

/** There is no room for more bodies now. */
export function tooMany(what: string): Refusal {
  return new Refusal(429, `${what}, try again in a second`, { "retry-after": "1" });
}

/** Reads a body to its end. Undefined: the client went away before. What is refused is read no further. */
export function readBody(stream: Readable, limits: BodyLimits): Promise<ReceivedBody | Refusal | undefined> {
  const { bytes: most, held, clock, patienceMs } = limits;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const release = () => held.giveBack(size);
    const settle = (result: ReceivedBody | Refusal | undefined) => {
      cancel();
      stream.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      if (result instanceof Refusal || result === undefined) {
        release();
        // Whoever sends the answer decides what becomes of the rest.
        stream.on("error", () => undefined).pause();
      }
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      if (size + chunk.length > most) return settle(tooLarge(most));
      if (!held.take(chunk.length))
        return settle(tooMany("the bodies of other requests fill the memory of this server"));
      size += chunk.length;
      chunks.push(chunk);
    };
    const onEnd = () => {
      const [only] = chunks;
      settle({ bytes: chunks.length === 1 && only ? only : Buffer.concat(chunks), release });
    };
    const onGone = () => settle(undefined);
    const cancel = clock.after(patienceMs, () => {
      settle(new Refusal(408, `the body did not come within ${patienceMs} ms`));
    });
    stream.on("data", onData).once("end", onEnd).once("error", onGone).once("close", onGone);
  });
}

/** The value of a body. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | Refusal {
  if (bytes.length === 0) return new Refusal(400, "the body is empty, a review was expected");
  if (!isUtf8(bytes)) return new Refusal(400, "the body is no UTF-8");
  try {
    return { value: JSON.parse(bytes.toString("utf8")) as unknown };
  } catch (error) {
    return new Refusal(400, `the body is no JSON: ${quoteless(errorMessage(error))}`);
  }
}

/** The parser of JSON quotes a part of the text, which may be a Secret: the sentence ends before it. */
function quoteless(message: string): string {
  const [, kind] =
    /^(Unexpected (?:token|end of JSON input|non-whitespace character)|[A-Z][a-z ]+)/.exec(message) ?? [];
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  const what = kind?.trim() ?? "it cannot be parsed";
  return position === undefined ? what : `${what} at position ${position}`;
}
