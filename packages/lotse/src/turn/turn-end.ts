/** How a turn ends: what follows from it, when, and what the journal and the measures are told of it. */
import type { KubeBody } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { JournalTurn, TurnNotes, TurnResult, Wake } from "../report/index.ts";
import { remainingMs } from "./deadlines.ts";
import type { Decision } from "./decide.ts";
import type { KindWork } from "./kind-work.ts";
import type { ObjectMemory } from "./memory.ts";
import type { Settlement } from "./settle.ts";

/** What follows from a turn. */
export type TurnEnd =
  /** Nothing to do until something happens. */
  | { readonly type: "quiet" }
  /** Something is due already. */
  | { readonly type: "again" }
  /** Something is due at this time (monotonic milliseconds). */
  | { readonly type: "later"; readonly at: number }
  /** The object is gone and nothing names it any more. */
  | { readonly type: "forget" };

/** Nothing to do until something happens. */
export const QUIET: TurnEnd = { type: "quiet" };
/** Something is due already. */
export const AGAIN: TurnEnd = { type: "again" };

/** The end of a turn after which something is due at one of these times (monotonic), if at all. */
export function dueAt(now: number, ...times: readonly (number | undefined)[]): TurnEnd {
  let at = Number.POSITIVE_INFINITY;
  for (const time of times) if (time !== undefined && time < at) at = time;
  if (at === Number.POSITIVE_INFINITY) return QUIET;
  return at <= now ? AGAIN : { type: "later", at };
}

/** When a handler of the open cycle is tried again (monotonic); undefined when none waits for that. */
export function retryAt(
  { record, waiting }: ObjectMemory,
  { nextDue }: Decision,
  settlement: Settlement | undefined,
  clock: Clock,
): number | undefined {
  const due = settlement ? settlement.nextDue : nextDue;
  if (due === undefined) return undefined;
  const runs = settlement && !settlement.closed ? Object.values(record?.runs ?? {}) : [];
  const waits = runs.flatMap(({ outcome, due: until }) =>
    outcome === undefined && until !== undefined ? remainingMs(until, waiting.deadlines, clock) : [],
  );
  return clock.monotonic() + Math.max(0, Math.min(due - clock.now(), ...waits));
}

/** What is known of a turn when it has ended. */
export interface EndedTurn {
  /** Wall-clock milliseconds. */
  readonly begunAt: number;
  readonly body: KubeBody;
  /** What has woken the object; undefined when its time had come. */
  readonly woke: readonly Wake[] | undefined;
  readonly end: TurnEnd;
  /** Why the framework could not end it. */
  readonly problem: string | undefined;
  /** Why it was not to end: another process works on the object now, or may do so. */
  readonly refused?: string | undefined;
}

/** Shared by all turns in which nothing happened: with many quiet objects that is most of them. */
const NOTHING: TurnNotes = { ran: [], wrote: [] };

/** An object that nothing woke is one whose time has come. */
const DUE: readonly Wake[] = [{ by: "due" }];

const RESULTS: Readonly<Record<TurnEnd["type"], TurnResult>> = {
  quiet: "success",
  forget: "success",
  again: "requeue",
  later: "requeue_after",
};

/** Writes a turn into the journal, and counts it. */
export function noteTurn({ runtime, reporting }: KindWork, memory: ObjectMemory, turn: EndedTurn): void {
  const { clock } = runtime;
  const { begunAt, body, woke = DUE, end, problem, refused } = turn;
  const { ran, wrote, read, children } = memory.journal.notes ?? NOTHING;
  memory.journal.notes = undefined;
  const tookMs = clock.now() - begunAt;
  const after = afterwards(end, memory);
  reporting.measures.turn(problem === undefined ? RESULTS[end.type] : "error", tookMs);
  const page: { -readonly [K in keyof JournalTurn]: JournalTurn[K] } = {
    at: begunAt,
    tookMs,
    woke,
    version: body.metadata?.resourceVersion,
    ran,
    wrote,
    problem: problem ?? refused,
    after,
    nextAt: after === "waits" && end.type === "later" ? end.at - clock.monotonic() + clock.now() : undefined,
  };
  if (read) page.read = read;
  if (children) page.children = children;
  reporting.journal.add(memory.key, page);
}

/** An object that was woken while its turn was under way has the next one at once, whatever this one wanted to wait for. */
function afterwards(end: TurnEnd, { journal: { woke } }: ObjectMemory): JournalTurn["after"] {
  if (end.type === "forget") return "ends";
  return end.type === "again" || woke !== undefined ? "goes on" : "waits";
}
