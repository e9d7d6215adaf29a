/** Records what one operator sees, at the three places where the world comes in: its clock, its randomness, its client. */
import { setMaxListeners } from "node:events";
import { Client } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import { seeded } from "../schema/index.ts";
import { TapeClock } from "./clock.ts";
import {
  TAPE_VERSION,
  type TapeAnswerBody,
  type TapeEntry,
  type TapeHead,
  type TapeStart,
  type TapeSubject,
} from "./format.ts";
import { InputGate } from "./gate.ts";
import { Masks } from "./masks.ts";
import { Belonging } from "./only.ts";
import { TapeTransport } from "./transport.ts";

/** What is recorded, and where to. */
export interface RecorderOptions {
  readonly operator: string;
  /** The connection to the cluster; it stays its owner's, and is closed by nobody else. */
  readonly client: Client;
  /** Takes lines, several at a time, each with its end. */
  readonly write: (lines: string) => void;
  /** How the operator is started, to be started the same way when the tape is played. */
  readonly start?: TapeStart | undefined;
  /** Only what one object needs. */
  readonly only?: TapeSubject | undefined;
  /** Nothing is written beyond that many bytes. Default 100 MiB. */
  readonly limitBytes?: number | undefined;
  /** Hears that the tape is full, or cannot be written; the operator works on. */
  readonly onEnd?: ((why: "full" | Error) => void) | undefined;
  /** Tells the operator to stop. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  readonly seed?: number | undefined;
}

/** What `operator.start()` gets to be recorded. */
export interface TapeRecorder {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborts when the given one does: the operator hears of that, too, when it is its turn. */
  readonly signal: AbortSignal;
  /** To be called when the operator has stopped. */
  close(): Promise<void>;
}

/** As much as an editor still opens. */
export const DEFAULT_LIMIT_BYTES = 100 * 2 ** 20;
/** For the line that says that no more follow. */
const RESERVED_BYTES = 100;

/**
 * Begins a tape.
 *
 * @example
 * ```ts
 * const tape = await recordTape({ operator: "shop", client, write: (lines) => appendFileSync("shop.tape.jsonl", lines) });
 * const running = operator.start({ client: tape.client, clock: tape.clock, random: tape.random, signal: tape.signal });
 * ```
 */
export async function recordTape(o: RecorderOptions): Promise<TapeRecorder> {
  const clock = o.clock ?? systemClock;
  const seed = o.seed ?? Math.floor(Math.random() * 2 ** 31);
  const gate = new InputGate();
  const { server, namespace } = o.client.config;
  const writer = new TapeWriter(o, () => gate.open());
  const head: TapeHead = {
    tape: "lotse",
    version: TAPE_VERSION,
    operator: o.operator,
    now: Math.floor(clock.now()),
    seed,
    server: new URL(server).origin,
    namespace,
    start: o.start ?? {},
    ...(o.only && { only: o.only }),
  };
  writer.head(head);
  const tapeClock = new TapeClock(clock, gate, {
    ticked: (n, moment) => writer.entry({ k: "tick", n, ...moment }),
    fired: (id, ms, moment) => writer.entry({ k: "timer", id, ms, ...moment }),
  });
  const random = tapeRandom(seed);
  const secrets = new Masks();
  const belonging = o.only && new Belonging(o.only);
  /** The paths of requests that are on the tape. */
  const kept = new Map<number, string>();
  const cleaned = (id: number, { body, text }: TapeAnswerBody): TapeAnswerBody | undefined => {
    if (text !== undefined) return { text: secrets.text(text) };
    if (body === undefined) return {};
    const shown = belonging ? belonging.shown(body, kept.get(id) ?? "") : body;
    return shown === undefined ? undefined : { body: secrets.body(shown) };
  };
  const transport = new TapeTransport(o.client, gate, {
    asked: (id, request) => {
      const { method, path, query, headers, stream } = request;
      const body = typeof request.body === "string" ? jsonOf(request.body) : request.body;
      if (belonging && !belonging.asked(method, path, body)) return;
      kept.set(id, path);
      const type = headers?.["content-type"];
      writer.entry({
        k: "ask",
        id,
        method,
        path,
        ...(query && { query: withoutUndefined(query) }),
        ...(typeof type === "string" && { type }),
        ...(body !== undefined && { body: secrets.body(body instanceof Uint8Array ? "(bytes)" : body) }),
        ...(stream && { stream: true as const }),
      });
    },
    answered: (id, status, body) => {
      const moment = tapeClock.input();
      if (!kept.has(id)) return;
      writer.entry({ k: "answer", id, status, ...moment, ...cleaned(id, body) });
      kept.delete(id);
    },
    failed: (id, failure) => {
      const moment = tapeClock.input();
      if (kept.delete(id))
        writer.entry({ k: "failure", id, ...moment, failure: { ...failure, message: secrets.text(failure.message) } });
    },
    opened: (id, status) => {
      const moment = tapeClock.input();
      if (kept.has(id)) writer.entry({ k: "open", id, status, ...moment });
    },
    line: (id, body) => {
      const moment = tapeClock.input();
      const shown = kept.has(id) ? cleaned(id, body) : undefined;
      if (shown) writer.entry({ k: "line", id, ...moment, ...shown });
    },
    ended: (id, failure) => {
      const moment = tapeClock.input();
      if (kept.delete(id)) writer.entry({ k: "end", id, ...moment, ...(failure && { failure }) });
    },
  });
  const stop = new AbortController();
  // Every request under way listens to it; Node.js would take more than ten for a leak.
  setMaxListeners(0, stop.signal);
  const onAbort = () => {
    gate.push(() => {
      writer.entry({ k: "stop", ...tapeClock.input() });
      stop.abort(o.signal?.reason);
    });
  };
  o.signal?.addEventListener("abort", onAbort, { once: true });
  // Whether it is in the cluster decides where webhooks are reached.
  const { config } = o.client;
  const client = await Client.connect({ url: server, namespace, config, transport, clock: tapeClock, random });
  return {
    client,
    clock: tapeClock,
    random,
    signal: stop.signal,
    close: async () => {
      o.signal?.removeEventListener("abort", onAbort);
      gate.open();
      await client.close();
      writer.flush();
    },
  };
}

/**
 * The random numbers of a tape.
 *
 * @example
 * ```ts
 * const random = tapeRandom(7);
 * random() === tapeRandom(7)();
 * ```
 */
export function tapeRandom(seed: number): () => number {
  return seeded(seed).next;
}

/** Puts lines on the tape, those of one turn of the event loop at once: whoever is killed loses no more than that. */
class TapeWriter {
  readonly #o: RecorderOptions;
  readonly #onEnd: () => void;
  readonly #limit: number;
  #lines = "";
  #bytes = 0;
  #isOver = false;
  #scheduled = false;

  constructor(o: RecorderOptions, onEnd: () => void) {
    this.#o = o;
    this.#onEnd = onEnd;
    this.#limit = (o.limitBytes ?? DEFAULT_LIMIT_BYTES) - RESERVED_BYTES;
  }

  head(head: TapeHead): void {
    this.#put(head);
    this.flush();
  }

  entry(entry: TapeEntry): void {
    if (!this.#isOver) this.#put(entry);
  }

  flush(): void {
    const lines = this.#lines;
    this.#lines = "";
    if (lines === "") return;
    try {
      this.#o.write(lines);
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #put(value: object): void {
    const line = `${JSON.stringify(value)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#limit) {
      this.#lines += `${JSON.stringify({ k: "full", bytes: this.#bytes } satisfies TapeEntry)}\n`;
      this.#isOver = true;
      this.flush();
      this.#end("full");
      return;
    }
    this.#bytes += bytes;
    this.#lines += line;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  #end(why: "full" | Error): void {
    this.#isOver = true;
    this.#lines = "";
    this.#o.onEnd?.(why);
    this.#onEnd();
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withoutUndefined(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
