/**
 * What is on a tape: a head, then one JSON object a line, in the order in which the operator was shown things. Everything
 * that comes from outside is an input: an answer, a line of a stream, a timer. A tape that ends in the middle of a line is
 * as good as one that ends before it.
 */
import type { RequestIdentity } from "@lotse/client";
import { ConfigError, isObject } from "@lotse/client/meta";

/** Of the form that this package writes. */
export const TAPE_VERSION = 1;

/** One object: what a tape of it alone is about. */
export interface TapeSubject {
  /** The plural, or the kind in any case. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** How the operator was started. */
export interface TapeStart {
  readonly namespaces?: readonly string[] | undefined;
  readonly crds?: "install" | "wait" | undefined;
  readonly events?: "all" | "warnings" | "none" | undefined;
}

/** The first line. */
export interface TapeHead {
  readonly tape: "lotse";
  readonly version: number;
  readonly operator: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** All random numbers follow from it. */
  readonly seed: number;
  readonly server: string;
  readonly namespace: string;
  readonly start: TapeStart;
  readonly only?: TapeSubject | undefined;
}

/** When the operator was shown something: its wall clock, and its monotonic one. */
export interface TapeMoment {
  readonly now: number;
  readonly mono: number;
}

/** Why a request or a stream failed. */
export interface TapeFailure {
  /** The class of the error. */
  readonly name: string;
  readonly message: string;
  /** Of a refusal: the server's status and its words. */
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly details?: object | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Of a connection that broke: whether anything had been sent. */
  readonly sent?: boolean | undefined;
  readonly phase?: string | undefined;
  /** The operator itself did not want to wait any more. */
  readonly aborted?: boolean | undefined;
}

/** A request of the operator. */
export interface TapeAsk extends RequestIdentity {
  readonly k: "ask";
  /** Requests are counted from 1 on. */
  readonly id: number;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** How the body is meant: the media type. */
  readonly type?: string | undefined;
  readonly body?: unknown;
  readonly stream?: true | undefined;
}

/** What the operator was shown. */
export type TapeInput =
  | (TapeMoment & { readonly k: "answer"; readonly id: number; readonly status: number } & TapeAnswerBody)
  | (TapeMoment & { readonly k: "failure"; readonly id: number; readonly failure: TapeFailure })
  /** A stream has begun. */
  | (TapeMoment & { readonly k: "open"; readonly id: number; readonly status: number })
  | (TapeMoment & { readonly k: "line"; readonly id: number } & TapeAnswerBody)
  | (TapeMoment & { readonly k: "end"; readonly id: number; readonly failure?: TapeFailure | undefined })
  /** A timer, counted from 1 on, and the time that it was set for. */
  | (TapeMoment & { readonly k: "timer"; readonly id: number; readonly ms: number })
  /** The operator was told to stop. */
  | (TapeMoment & { readonly k: "stop" });

/** JSON as what it says, anything else as text. */
export interface TapeAnswerBody {
  readonly body?: unknown;
  readonly text?: string | undefined;
}

/** Time has moved on when the clock was read for the n-th time after all that followed from the last input. */
export interface TapeTick extends TapeMoment {
  readonly k: "tick";
  readonly n: number;
}

/** The tape is full; nothing that came later is on it. */
export interface TapeFull {
  readonly k: "full";
  readonly bytes: number;
}

/** A line of a tape. */
export type TapeEntry = TapeAsk | TapeInput | TapeTick | TapeFull;

/** A tape that was read. */
export interface Tape {
  readonly head: TapeHead;
  readonly entries: readonly TapeEntry[];
  /** Why it ends before the operator did, if it does. */
  readonly cut?: "full" | "torn" | undefined;
}

/**
 * Reads the text of a tape. Throws when it is none, or damaged elsewhere than at its end.
 *
 * @example
 * ```ts
 * const { head, entries } = parseTape(readFileSync("shop.tape.jsonl", "utf8"));
 * ```
 */
export function parseTape(text: string): Tape {
  const lines = text.split("\n");
  const torn = lines.pop() !== "";
  const [first = "", ...rest] = lines;
  const head = parsed(first);
  if (!isHead(head)) {
    throw new ConfigError("this is no recording of an operator", {
      hint: "lotse run operator.ts --record FILE makes one",
    });
  }
  if (head.version !== TAPE_VERSION) {
    throw new ConfigError(`the recording has the form ${head.version}, and this version reads ${TAPE_VERSION}`, {
      hint: "use the version of lotse that recorded it, or record it anew",
    });
  }
  const entries: TapeEntry[] = [];
  for (const [i, line] of rest.entries()) {
    const entry = parsed(line);
    if (!isObject(entry) || typeof entry.k !== "string") {
      throw new ConfigError(`line ${i + 2} of the recording is damaged`, { hint: "record it anew" });
    }
    if (entry.k === "full") return { head, entries, cut: "full" };
    entries.push(entry as unknown as TapeEntry);
  }
  return { head, entries, ...(torn && { cut: "torn" as const }) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isHead(value: unknown): value is TapeHead {
  return isObject(value) && value.tape === "lotse" && typeof value.version === "number";
}
