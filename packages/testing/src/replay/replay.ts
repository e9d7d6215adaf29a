/** Plays what an operator saw to the same operator or to new code, and compares what it writes. */
import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { Client, type RawRequest } from "@lotse/client";
import { ConfigError } from "@lotse/client/meta";
import type { LogRecord, Operator, RunningOperator, StartOptions } from "lotse";
import {
  parseTape,
  type Tape,
  type TapeAsk,
  type TapeEntry,
  type TapeInput,
  type TapeTick,
  tapeRandom,
} from "lotse/tape";
import { ReplayClock } from "./clock.ts";
import { plain, ReplayLine } from "./line.ts";
import { storyOf } from "./text.ts";
import { differencesOf, isWrite, type ReplayDifference, type ReplayedWrite } from "./writes.ts";

/** How a recording is played. */
export interface ReplayOptions {
  /** Returns what differs instead of throwing it. */
  readonly report?: boolean;
  /** Takes the log of the operator, line by line, as it is played to. */
  readonly log?: StartOptions["log"];
  /** More options of `operator.start()`. */
  readonly start?: Omit<StartOptions, "client" | "clock" | "random" | "log" | "signal" | "record">;
}

/** What came of it. */
export interface ReplayReport {
  /** The operator that was recorded. */
  readonly operator: string;
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** How many writes there were when it was recorded, and now. */
  readonly recorded: number;
  readonly replayed: number;
  /** In the order of time. */
  readonly differences: readonly ReplayDifference[];
  /** The recording ends before the operator did: it was full, or the process was killed. */
  readonly cut?: Tape["cut"];
  /** What the operator has logged. */
  readonly log: readonly LogRecord[];
}

/** The new code writes something else. */
export class ReplayError extends Error {
  override readonly name = "ReplayError";
  readonly report: ReplayReport;

  constructor(message: string, report: ReplayReport) {
    super(message);
    this.report = report;
  }
}

/**
 * Plays a recording of `lotse run --record FILE` to an operator: its requests are answered from it, its clock stands where
 * the recorded one stood, its randomness is the same. Takes as long as the operator's own work takes. Throws a
 * {@link ReplayError} when it writes anything else than it did then.
 *
 * @example
 * ```ts
 * await replay("night.tape.jsonl", operator);
 * const { differences } = await replay("night.tape.jsonl", operator, { report: true });
 * ```
 */
export async function replay(
  file: string | URL,
  operator: Operator,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const tape = readTape(file);
  const report = await new Player(tape, operator, options).play();
  if (report.differences.length === 0 || options.report) return report;
  throw new ReplayError(storyOf(report.differences, { file: String(file), writes: report.recorded }), report);
}

function readTape(file: string | URL): Tape {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`the recording ${String(file)} cannot be read: ${(cause as Error).message}`, {
      cause,
      hint: "lotse run operator.ts --record FILE makes one",
    });
  }
  return parseTape(text);
}

/** As many as between two inputs when it was recorded, and one for the player's own steps. */
const TURNS_BETWEEN = 4;
/** A request that does not follow at once may wait for something that nobody recorded. */
const PATIENCE_MS = 500;
/** Before the operator is ready, modules are loaded and whatever it opens is opened. */
const START_PATIENCE_MS = 10_000;
/** So often; then it is clear that the new code does something else. */
const MOST_WAITS = 5;

class Player {
  readonly #tape: Tape;
  readonly #operator: Operator;
  readonly #options: ReplayOptions;
  readonly #clock: ReplayClock;
  readonly #line: ReplayLine;
  readonly #records: LogRecord[] = [];
  readonly #replayed: ReplayedWrite[] = [];
  readonly #stop = new AbortController();
  /** Timers that the tape will tell of: where on the tape, and the time that they were set for. */
  readonly #told = new Map<number, { readonly at: number; readonly ms: number }>();
  /** The handlers that have run for an object since it was last written to. */
  readonly #ran = new Map<string, Set<string>>();
  #asking: { readonly handler: string; readonly path: string } | undefined;
  #waits = 0;
  #isReady = false;
  #isOver = false;

  constructor(tape: Tape, operator: Operator, options: ReplayOptions) {
    this.#tape = tape;
    this.#operator = operator;
    this.#options = options;
    this.#clock = new ReplayClock(tape.head.now);
    // Every request under way listens to it; Node.js would take more than ten for a leak.
    setMaxListeners(0, this.#stop.signal);
    const asks = tape.entries.filter((entry) => entry.k === "ask");
    this.#line = new ReplayLine(asks, (request, recorded) => this.#asked(request, recorded));
    for (const [at, entry] of tape.entries.entries()) {
      if (entry.k === "timer") this.#told.set(entry.id, { at, ms: entry.ms });
    }
  }

  async play(): Promise<ReplayReport> {
    this.#clock.input(this.#clock.moment, ticksAfter(this.#tape.entries, -1));
    this.#clock.idle();
    const running = await this.#start();
    let failure: { readonly error: unknown } | undefined;
    running.stopped.catch((error: unknown) => {
      if (!this.#isOver) failure ??= { error };
    });
    running.ready.then(
      () => {
        this.#isReady = true;
      },
      () => undefined,
    );
    const { entries } = this.#tape;
    for (const [i, entry] of entries.entries()) {
      if (failure) break;
      if (entry.k === "ask") await this.#untilAsked(entry, running);
      else if (isInput(entry)) await this.#input(entry, i, ticksAfter(entries, i));
    }
    this.#isOver = true;
    await this.#end(running);
    if (failure) throw failure.error;
    return this.#report();
  }

  async #start(): Promise<RunningOperator> {
    const { head } = this.#tape;
    const clock = this.#clock;
    const random = tapeRandom(head.seed);
    const client = await Client.connect({
      url: head.server,
      namespace: head.namespace,
      transport: this.#line,
      clock,
      random,
    });
    const { namespaces, crds, events } = head.start;
    return this.#operator.start({
      ...(namespaces && { namespaces }),
      ...(crds && { crds }),
      ...(events && { events }),
      coordination: "alone",
      webhooks: { register: false, port: 0, host: "127.0.0.1" },
      ...this.#options.start,
      client,
      clock,
      random,
      signal: this.#stop.signal,
      log: (record) => this.#log(record),
      record: ({ handler, path }) => {
        this.#asking = { handler, path: path.split("?", 1)[0] ?? path };
      },
    });
  }

  async #input(entry: TapeInput, at: number, ticks: readonly TapeTick[]): Promise<void> {
    const clock = this.#clock;
    // Timers that were not set when it was recorded, or were set for another time.
    const isTold = (id: number, ms: number) => {
      const told = this.#told.get(id);
      return told !== undefined && told.ms === ms && told.at >= at;
    };
    for (const fire of clock.due(entry.mono, isTold)) {
      fire();
      await turns(TURNS_BETWEEN);
    }
    clock.input({ now: entry.now, mono: entry.mono }, ticks);
    if (entry.k === "timer") clock.fire(entry.id, entry.ms);
    else if (entry.k === "stop") this.#stop.abort();
    else this.#line.deliver(entry);
    await turns(TURNS_BETWEEN);
    clock.idle();
  }

  /** Whatever else the operator waits for, such as a call to the world outside, comes in its own time. */
  async #untilAsked({ id }: TapeAsk, running: RunningOperator): Promise<void> {
    for (let turn = 0; turn < 2 * TURNS_BETWEEN; turn++) {
      if (this.#line.isAsked(id)) return;
      await nextTurn();
    }
    if (this.#waits >= MOST_WAITS) return;
    let isIdle = false;
    // One that has not started has nothing to do, either.
    const isStarting = !this.#isReady;
    running.idle().then(
      () => {
        isIdle = true;
      },
      () => {
        isIdle = true;
      },
    );
    const until = performance.now() + (isStarting ? START_PATIENCE_MS : PATIENCE_MS);
    while (!this.#line.isAsked(id) && (isStarting || !isIdle)) {
      if (performance.now() >= until) {
        this.#waits++;
        return;
      }
      await delay(1);
    }
  }

  /** What the operator does now is compared with nothing: it only has to end. */
  async #end(running: RunningOperator): Promise<void> {
    this.#stop.abort();
    this.#line.end();
    let isStopped = false;
    const stopped = running.stopped.then(
      () => {
        isStopped = true;
      },
      () => {
        isStopped = true;
      },
    );
    const clock = this.#clock;
    while (!isStopped) {
      await turns(TURNS_BETWEEN);
      const { now, mono } = clock.moment;
      clock.input({ now: now + 1_000, mono: mono + 1_000 }, []);
      for (const fire of clock.due(mono + 1_000, () => false)) fire();
    }
    await stopped;
  }

  #log(record: LogRecord): void {
    this.#records.push(record);
    this.#options.log?.(record);
    const { handler } = record.fields;
    if (record.object === undefined || typeof handler !== "string") return;
    const key = objectKey(record.object.namespace, record.object.name);
    const ran = this.#ran.get(key) ?? new Set();
    this.#ran.set(key, ran.add(handler));
  }

  #asked(request: RawRequest, recorded: TapeAsk | undefined): void {
    const { method, path, body } = request;
    const asking = this.#asking?.path === path ? this.#asking.handler : undefined;
    this.#asking = undefined;
    if (this.#isOver || !isWrite(request)) return;
    const key = keyOfPath(path);
    const handlers = asking === undefined ? [...(this.#ran.get(key) ?? [])] : [asking];
    if (asking === undefined) this.#ran.delete(key);
    this.#replayed.push({ method, path, body: plain(body), at: this.#clock.moment.now, handlers, recorded });
  }

  #report(): ReplayReport {
    const { head, entries, cut } = this.#tape;
    const recorded: { readonly ask: TapeAsk; readonly at: number }[] = [];
    let now = head.now;
    for (const entry of entries) {
      if ("now" in entry) now = entry.now;
      if (entry.k === "ask" && isWrite(entry)) recorded.push({ ask: entry, at: now });
    }
    // What was asked last may have been cut off before it was asked here.
    const differences = differencesOf(recorded, this.#replayed, { lenient: head.only !== undefined });
    return {
      operator: head.operator,
      from: new Date(head.now).toISOString(),
      to: new Date(now).toISOString(),
      recorded: recorded.length,
      replayed: this.#replayed.length,
      differences,
      ...(cut && { cut }),
      log: this.#records,
    };
  }
}

function isInput(entry: TapeEntry): entry is TapeInput {
  return entry.k !== "ask" && entry.k !== "tick" && entry.k !== "full";
}

/** How time moved on between an input and the next. */
function ticksAfter(entries: readonly TapeEntry[], at: number): TapeTick[] {
  const ticks: TapeTick[] = [];
  for (let i = at + 1; i < entries.length; i++) {
    const entry = entries[i] as TapeEntry;
    if (entry.k === "tick") ticks.push(entry);
    else if (isInput(entry)) break;
  }
  return ticks;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

const objectKey = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

/** The object that a path names, as the log names it. */
function keyOfPath(path: string): string {
  const words = path.split("/").filter(Boolean);
  const rest = words.slice(words[0] === "api" ? 2 : 3);
  const inside = rest[0] === "namespaces" && rest.length > 2;
  return inside ? objectKey(rest[1], rest[3] ?? "") : objectKey(undefined, rest[1] ?? "");
}
