/**
 * How the work for an object stands, and what the object therefore says of itself, in the words that kubectl, Helm and
 * kstatus understand. One rule for all forms of work: handlers, timers, daemons, reconcilers, children. Pure.
 *
 * ```
 *  some work has failed for good ───────────▶ Stalled=True      Ready=False
 *  some work goes on, waits, or is retried ─▶ Reconciling=True  Ready=False
 *  all work is done ────────────────────────▶ neither           Ready=True
 * ```
 *
 * `Stalled` and `Reconciling` are there only while they are true. `Ready` is kept where the declaration asks for it. One that
 * handlers set themselves stays theirs, but does not stand as true over work that has failed: it is taken back, and
 * given back when that work is done.
 */
import { type Condition, type ConditionChanges, type ConditionInput, conditionOfType } from "./conditions.ts";
import type { ObjectRecord } from "./record.ts";

/** How one piece of an object's work stands. */
export interface Standing {
  /** Whose work: the id of a handler. */
  readonly id: string;
  /** `works`: it goes on or waits · `fails`: it failed, and will be tried again · `failed`: for good. */
  readonly state: "done" | "works" | "fails" | "failed";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** What is looked at beside the work. */
export interface StandingSurroundings {
  /** The conditions that the object has. */
  readonly existing: readonly Condition[] | undefined;
  /** What handlers have said in this turn. */
  readonly said: ConditionChanges | undefined;
  /** `Ready` is the framework's to keep. */
  readonly keepsReady: boolean;
  /** The generation of the object that was looked at: a `Ready` of another one is said anew. */
  readonly generation: number | undefined;
  /** A handler has worked on it in this turn. A new generation that none has worked on is no reason to write. */
  readonly worked: boolean;
}

const UNFINISHED: ReadonlySet<string> = new Set([
  "HandlerFailed",
  "HandlerRetrying",
  "Waiting",
  "ReconcileFailed",
  "ReconcileRetrying",
  "ChildFailed",
  "ChildrenNotReady",
]);
const FINISHED: ReadonlySet<string> = new Set(["Reconciled", "ChildrenReady", "Recovered"]);

/** Whether the framework speaks under this reason: what stands under another one was said by a handler, or by another client. */
export function isOwnReason(reason: string): boolean {
  return UNFINISHED.has(reason) || FINISHED.has(reason);
}

/** See the module comment. What stands already is not said again. */
export function standingConditions(standings: readonly Standing[], around: StandingSurroundings): ConditionChanges {
  const failed = standings.find(({ state }) => state === "failed");
  const fails = standings.find(({ state }) => state === "fails");
  const busy = fails ?? standings.find(({ state }) => state === "works");
  const set: ConditionInput[] = [];
  const remove: string[] = [];
  for (const [type, standing] of [
    ["Stalled", failed],
    ["Reconciling", failed ? undefined : busy],
  ] as const) {
    if (hasConditionChange(around.said, type)) continue;
    const stands = conditionOfType(around.existing, type);
    if (standing) {
      // Not every kind has room for the generation.
      const { observedGeneration = around.generation } = stands ?? {};
      const isCurrent = !around.worked || observedGeneration === around.generation;
      if (!says(stands, true, wordsOf(standing)) || !isCurrent) set.push({ type, status: true, ...wordsOf(standing) });
    } else if (stands && isOwnReason(stands.reason)) remove.push(type);
  }
  const ready = readyFrom(standings, failed ?? fails, failed ?? busy, around);
  if (ready) set.push(ready);
  return { set, remove };
}

function readyFrom(
  standings: readonly Standing[],
  broken: Standing | undefined,
  unfinished: Standing | undefined,
  around: StandingSurroundings,
): ConditionInput | undefined {
  if (around.said?.remove.includes("Ready")) return undefined;
  const spoken = around.said?.set.find(({ type }) => type === "Ready");
  const stands = conditionOfType(around.existing, "Ready");
  if (!around.keepsReady || spoken) {
    // The word of a handler, or of another client: it only must not say more than is true.
    const isTrue = spoken ? spoken.status === true || spoken.status === "True" : stands?.status === "True";
    if (broken) return isTrue ? { type: "Ready", status: false, ...wordsOf(broken) } : undefined;
    const taken = !spoken && stands?.status === "False" && UNFINISHED.has(stands.reason);
    return taken && !unfinished ? { type: "Ready", status: true, reason: "Recovered", message: "" } : undefined;
  }
  const last = unfinished ?? standings.findLast(({ state }) => state === "done");
  if (!last) return undefined;
  const words = unfinished ? wordsOf(unfinished) : { reason: last.reason, message: last.message };
  const status = unfinished === undefined;
  const same = says(stands, status, words) && stands?.observedGeneration === around.generation;
  return same ? undefined : { type: "Ready", status, ...words };
}

function hasConditionChange(said: ConditionChanges | undefined, type: string): boolean {
  return said?.set.some((one) => one.type === type) === true;
}

interface Words {
  readonly reason: string;
  readonly message: string;
}

function wordsOf({ id, reason, message }: Standing): Words {
  return { reason, message: id === "" ? message : `${id}: ${message}` };
}

function says(stands: Condition | undefined, status: boolean, { reason, message }: Words): boolean {
  return stands?.status === (status ? "True" : "False") && stands.reason === reason && stands.message === message;
}

/**
 * How the handlers of changes stand, by what is remembered of them; those that are done say nothing. A deletion has
 * words of its own. `isMatched`: whether the object still passes the filters of a handler; one that waits for its next
 * attempt and would not be called now is not at work, though it is remembered for when the object matches again.
 */
export function handlerStandings(
  record: ObjectRecord | undefined,
  declared: readonly string[],
  isMatched: (id: string) => boolean = () => true,
): Standing[] {
  const standings: Standing[] = [];
  if (record?.open?.reason === "delete") return standings;
  for (const id of declared) {
    const run = record?.open && record.runs?.[id];
    const failed = run?.outcome === "failed" ? run : record?.failed?.[id];
    if (failed) standings.push({ id, state: "failed", reason: "HandlerFailed", message: failed.message ?? "" });
    else if (run && run.outcome === undefined && run.message !== undefined && isMatched(id)) {
      const { message, waits } = run;
      standings.push(
        waits
          ? { id, state: "works", reason: "Waiting", message }
          : { id, state: "fails", reason: "HandlerRetrying", message },
      );
    }
  }
  return standings;
}
