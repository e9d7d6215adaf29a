/**
 * What does this object need? A pure function of what is known; all I/O is around it.
 *
 * ```
 *  deletion mark ─┬─ our finalizer, delete handlers unfinished ──▶ delete
 *                 └─ otherwise ──▶ release
 *  no handler matches ──▶ nothing (stealth)
 *  no record ──▶ create
 *  a cycle is open ──▶ go on with it
 *  digest = handled ─┬─ has been where no handler matched since ──▶ update
 *                    ├─ first sight in this process ──▶ resume
 *                    └─ otherwise ──▶ nothing
 *  else ──▶ update (with resume at first sight)
 * ```
 *
 * A handler that failed for good is owed another try once the object is not what it failed with, or when a person asks
 * for it: it joins whatever cycle that makes, with the reason for which it was called before.
 */
import type { KubeBody } from "@lotse/client";
import type { ChangeHandler, Memo, Reason } from "../declare/index.ts";
import { matchesChange, matchesFilters } from "../declare/index.ts";
import { type Essence, KnownEssence } from "./essence.ts";
import { type ObjectRecord, type OpenCycle, type RunRecord, unpackEssence } from "./record.ts";

/** What {@link decide} looks at. */
export interface Situation {
  /** The newest known body, with own writes laid over it. */
  readonly body: KubeBody;
  /** The record that counts: the one on the object, or the remembered one when another client wiped it. */
  readonly record: ObjectRecord | undefined;
  /** The object carries our marks, but they cannot be read: never a creation. */
  readonly unreadable: boolean;
  /** Whether this process has yet to see the object handled once. */
  readonly firstSight: boolean;
  /** The essence of the body. */
  readonly essence: Essence;
  /** All changing handlers of the kind, in the order of their declaration. */
  readonly handlers: readonly ChangeHandler[];
  /** Our finalizer's name. */
  readonly finalizer: string;
  /** Names that it had before. */
  readonly formerFinalizers?: readonly string[];
  /**
   * The last essence that no handler was told of, if the object has been in one since the last change was handled: no handler
   * matched it, or the operator itself had written it. A return from there is a change, even if it leads to what was
   * handled before.
   */
  readonly unmatchedEssence?: Essence | undefined;
  /** Something that a cleanup waits for has happened: it need not wait for its time. */
  readonly retryCleanupNow?: boolean;
  /** A person asks for another try of whatever waits for one, or has failed for good. */
  readonly retryNow?: boolean;
  /** Something has happened outside of the cluster: whatever waits for another try need not wait for its time. */
  readonly woken?: boolean;
  /** In-memory notes, for filters. */
  readonly memo?: Memo;
  /** Wall-clock milliseconds. */
  readonly now: number;
  /** Milliseconds until a deadline in the record. Default: by the wall clock. */
  readonly remainingMs?: ((due: string) => number) | undefined;
  /** For how long no client has changed the object, if its essence has this digest. Default: for ever. */
  readonly quietFor?: ((digest: string) => number) | undefined;
  /** For how long the change has waited for its handlers. */
  readonly waitingForMs?: number | undefined;
}

/** The work of all selected handlers for one transition. */
export interface Cycle {
  readonly reason: Reason;
  /** Essence that it opened with: becomes the base when it closes. */
  readonly opened: {
    readonly digest: string;
    readonly essence: Essence | undefined;
    /** In canonical form, where it has been brought into it. */
    readonly text?: string | undefined;
  };
  /** Essence before the transition. */
  readonly old: Essence | undefined;
  /** Handlers of this cycle, finished ones included. */
  readonly selected: readonly ChangeHandler[];
  readonly runs: Readonly<Record<string, RunRecord>>;
  /** Only these of the handlers for the reason; the others have seen the essence already. */
  readonly only?: readonly string[] | undefined;
  /** Those that are called for something else: that had failed for good, or had waited for the object to be left alone. */
  readonly owed?: Readonly<Record<string, Reason>> | undefined;
  /** What the latter have not heard of yet, packed: what the object was like before. */
  readonly later?: ObjectRecord["later"] | undefined;
}

/** What the object was like before the change that a handler of a cycle is called for. */
export function oldFor(cycle: Cycle, id: string): Essence | undefined {
  if (reasonFor(cycle, id) === "create") return undefined;
  const later = cycle.later?.[id];
  return later ? unpackEssence(later.base) : cycle.old;
}

/** Why a handler of a cycle is called. */
export function reasonFor({ reason, owed }: Cycle, id: string): Reason {
  return owed?.[id] ?? reason;
}

/** What {@link decide} found. */
export interface Decision {
  /** `add` comes before anything else; `drop` comes with the turn's patch. */
  readonly finalizer: "keep" | "add" | "drop";
  readonly cycle: Cycle | undefined;
  /** Handlers to run now, in order. */
  readonly due: readonly ChangeHandler[];
  /** The earliest retry that is not due yet, in wall-clock milliseconds. */
  readonly nextDue: number | undefined;
  /** Handlers of the kind whose filters the object passes. */
  readonly matching: readonly ChangeHandler[];
  /** The essence of the body that was looked at. */
  readonly current: CurrentEssence;
}

/** What an object is like now. */
export interface CurrentEssence {
  readonly digest: string;
  readonly essence: Essence;
  /** In canonical form, where it has been brought into it. */
  readonly text?: string | undefined;
}

/** Whether the object is marked for deletion. */
export function isDeleting(body: KubeBody): boolean {
  return body.metadata?.deletionTimestamp !== undefined;
}

/** Whether handlers of the kind can ask for `old`, `new` or `diff` later, so that the base has to be kept. */
export function keepsBase(handlers: readonly ChangeHandler[]): boolean {
  return handlers.some((handler) => handler.reasons.has("update"));
}

/** Whether `handler` is for the transition from `old` to `now`: it asks for changes of a field, and this is one. */
export function isForChange(
  { change, filters }: ChangeHandler,
  old: Essence | undefined,
  now: Essence | undefined,
): boolean {
  return change === undefined || filters.field === undefined || matchesChange(filters.field, change, old, now);
}

/** See the module comment. */
export function decide(situation: Situation): Decision {
  const { body, essence, finalizer, handlers } = situation;
  const current = new KnownEssence(essence);
  const base = new Base(situation.record);
  const { digest } = current;
  const matching = handlers.every(({ filters }) => isForAll(filters))
    ? handlers
    : handlers.filter(({ filters, param }) => {
        const { memo = {} } = situation;
        const cause = filters.when && {
          reason: likelyReason(situation, digest),
          old: base.essence,
          new: essence,
          memo,
          param,
        };
        // A handler that names a field is for both sides of its change, so that it also hears of a field that vanishes.
        const sources = filters.field === undefined ? [] : [essence, base.essence];
        return matchesFilters(filters, body, sources, cause);
      });
  const finalizers = body.metadata?.finalizers ?? NO_NAMES;
  const own = finalizers.includes(finalizer);
  const held = own || finalizers.some((name) => situation.formerFinalizers?.includes(name));
  const holds = matching.some((handler) => handler.reasons.has("delete") && !handler.optional);

  if (isDeleting(body)) return decideDeletion(situation, base, matching, held, current);
  if (holds && !own) return { finalizer: "add", cycle: undefined, due: [], nextDue: undefined, matching, current };
  const cycle = matching.length > 0 ? cycleOf(situation, base, matching, current) : undefined;
  const { due, nextDue } = dueOf(cycle, situation, digest, isAtOnce(situation));
  return { finalizer: held && !holds ? "drop" : "keep", cycle, due, nextDue, matching, current };
}

const NO_NAMES: readonly string[] = [];

/** Whether a handler is for every object of its kind. */
function isForAll({ labels, annotations, field, when }: ChangeHandler["filters"]): boolean {
  return labels === undefined && annotations === undefined && field === undefined && when === undefined;
}

/** The essence of the last change that was handled: unpacked once, when it is first asked for. */
class Base {
  readonly #record: ObjectRecord | undefined;
  #unpacked: { readonly essence: Essence | undefined } | undefined;

  constructor(record: ObjectRecord | undefined) {
    this.#record = record;
  }

  get essence(): Essence | undefined {
    this.#unpacked ??= { essence: unpackEssence(this.#record?.base) };
    return this.#unpacked.essence;
  }
}

function decideDeletion(
  situation: Situation,
  base: Base,
  matching: readonly ChangeHandler[],
  held: boolean,
  current: Decision["current"],
): Decision {
  const quiet = { cycle: undefined, due: [], nextDue: undefined, matching, current };
  if (!held) return { finalizer: "keep", ...quiet };
  const { record, firstSight } = situation;
  const runs = record?.open?.reason === "delete" ? revived(situation, record.runs ?? {}, current.digest) : {};
  const selected = matching.filter(
    (handler) =>
      (handler.reasons.has("delete") && isForChange(handler, base.essence, current.essence)) ||
      (firstSight && handler.reasons.has("resume") && handler.deleted) ||
      handler.id in runs,
  );
  if (selected.every((handler) => runs[handler.id]?.outcome !== undefined)) {
    return { finalizer: keptBy(selected, runs).length > 0 ? "keep" : "drop", ...quiet };
  }
  // A change that no handler was told of before the deletion is told with it.
  const old = base.essence ?? current.essence;
  const cycle: Cycle = { reason: "delete", opened: current, old, selected, runs };
  const atOnce = situation.retryCleanupNow || isAtOnce(situation);
  return { finalizer: "keep", cycle, ...dueOf(cycle, situation, current.digest, atOnce), matching, current };
}

/** Whether what waits for its next try need not wait. */
export function isAtOnce({ retryNow = false, woken = false }: Situation): boolean {
  return retryNow || woken;
}

/** Handlers that have given up on the deletion and hold the object for that. */
export function keptBy(
  handlers: readonly ChangeHandler[],
  runs: Readonly<Record<string, Pick<RunRecord, "outcome">>>,
): readonly ChangeHandler[] {
  return handlers.filter(({ id, onGiveUp }) => onGiveUp === "keep" && runs[id]?.outcome === "failed");
}

/** The runs without those that had been given up on, if there is a reason to hope: a change, or another process. */
function revived(
  { handlers, firstSight, retryNow = false }: Situation,
  runs: Readonly<Record<string, RunRecord>>,
  digest: string,
): Readonly<Record<string, RunRecord>> {
  const again = keptBy(handlers, runs).filter(({ id }) => firstSight || retryNow || runs[id]?.saw !== digest);
  if (again.length === 0) return runs;
  return Object.fromEntries(Object.entries(runs).filter(([id]) => !again.some((handler) => handler.id === id)));
}

/** Why handlers would be called now; filters may ask for it before it is certain. */
function likelyReason(situation: Situation, digest: string): Reason {
  const { body, record, unreadable } = situation;
  if (isDeleting(body)) return "delete";
  if (!isHandled(record) && !unreadable) return "create";
  if (record?.open && record.open.reason !== "delete") return record.open.reason;
  return unreadable || (record?.handled === digest && !isBack(situation, digest)) ? "resume" : "update";
}

/** Whether a record tells of a change, handled or under way; it may be there only for what timers remember. */
function isHandled(record: ObjectRecord | undefined): boolean {
  return record?.handled !== undefined || record?.open !== undefined;
}

/** Whether the object has come back to what was handled, from where no handler matched. */
function isBack({ record, unmatchedEssence }: Situation, digest: string): boolean {
  return unmatchedEssence !== undefined && record?.handled === digest && record.open === undefined;
}

function cycleOf(
  situation: Situation,
  base: Base,
  matching: readonly ChangeHandler[],
  current: Decision["current"],
): Cycle | undefined {
  const { record, firstSight, unreadable } = situation;
  const later = record?.later;
  if (!isHandled(record) && !unreadable) {
    // Handlers of deletions alone need no memory of the creation.
    if (!matching.some((handler) => handler.reasons.size > 1 || !handler.reasons.has("delete"))) return undefined;
    const selected = matching.filter((handler) => isFor(handler, "create", undefined, current.essence));
    return { reason: "create", opened: current, old: undefined, selected, runs: NO_RUNS, later };
  }
  const back = isBack(situation, current.digest);
  const resumes = ({ reasons }: ChangeHandler) => firstSight && reasons.has("resume");
  if (record?.open && record.open.reason !== "delete")
    return openCycle(situation, base, record, record.open, matching, current, resumes);

  const owed = owedBy(situation, matching, current.digest);
  const isOwed = ({ id }: ChangeHandler) => owed !== undefined && id in owed;
  // Where no handler asks for changes none is told, and what was handled last is no measure of what has changed since.
  const unasked = firstSight && !keepsBase(matching);
  if (unreadable || unasked || (record?.handled === current.digest && !back)) {
    const selected = matching.filter((handler) => resumes(handler) || isOwed(handler));
    if (selected.length === 0 && !unreadable) return undefined;
    const only = selected.map(({ id }) => id);
    const opened = { opened: current, runs: NO_RUNS, later };
    return { ...opened, reason: "resume", old: current.essence, selected, owed, ...(!firstSight && { only }) };
  }
  const old = back ? situation.unmatchedEssence : base.essence;
  const selected = matching.filter(
    (handler) => isFor(handler, "update", old, current.essence) || resumes(handler) || isOwed(handler),
  );
  // No handler asked for this change, but one asks for changes: the base moves on, so that the next one is told alone.
  if (selected.length === 0 && !keepsBase(matching)) return undefined;
  return { reason: "update", opened: current, old, selected, runs: NO_RUNS, owed, later };
}

const NO_RUNS: Cycle["runs"] = Object.freeze({});

/** A cycle that an earlier turn, or an earlier process, has begun. */
function openCycle(
  { retryNow = false }: Situation,
  base: Base,
  record: ObjectRecord,
  { reason, digest, essence, only, owed }: OpenCycle,
  matching: readonly ChangeHandler[],
  current: Decision["current"],
  resumes: (handler: ChangeHandler) => boolean,
): Cycle {
  const known = Object.entries(record.runs ?? {});
  // Who has failed for good waits for the end of the cycle, and then for another state, unless a person asks.
  const given = retryNow ? known.filter(([, { outcome }]) => outcome === "failed").map(([id]) => id) : [];
  const runs = Object.fromEntries(known.filter(([id]) => !given.includes(id)));
  const old = reason === "create" ? undefined : base.essence;
  const selected = matching.filter((handler) => {
    const { id } = handler;
    if (id in runs || given.includes(id) || (owed && id in owed)) return true;
    if (only && handler.reasons.has(reason) && !only.includes(id)) return false;
    return isFor(handler, reason, old, current.essence) || (reason !== "create" && resumes(handler));
  });
  const opened = digest === current.digest ? current : { digest, essence: unpackEssence(essence) };
  return { reason, opened, old, selected, runs, only, owed, later: record.later };
}

/** Whether `handler` is for this reason, and for this change if it asks for one of a field. */
function isFor(handler: ChangeHandler, reason: Reason, old: Essence | undefined, now: Essence): boolean {
  return handler.reasons.has(reason) && isForChange(handler, old, now);
}

/**
 * Handlers that failed for good and have a reason to hope: another state of the object, or a person who asks. And those
 * that wait for the object to be left alone.
 */
function owedBy(
  { record, retryNow = false }: Situation,
  matching: readonly ChangeHandler[],
  digest: string,
): Readonly<Record<string, Reason>> | undefined {
  if (!record?.failed && !record?.later) return undefined;
  const owed = matching.flatMap(({ id }) => {
    if (record.later && id in record.later) return [[id, "update"] as const];
    const failed = record.failed?.[id];
    return failed && (retryNow || failed.saw !== digest) ? [[id, failed.reason] as const] : [];
  });
  return owed.length > 0 ? Object.fromEntries(owed) : undefined;
}

function dueOf(
  cycle: Cycle | undefined,
  situation: Situation,
  digest: string,
  atOnce: boolean,
): Pick<Decision, "due" | "nextDue"> {
  const { now, remainingMs = (due) => Date.parse(due) - now } = situation;
  const due: ChangeHandler[] = [];
  let nextDue: number | undefined;
  for (const handler of cycle?.selected ?? []) {
    const run = cycle?.runs[handler.id];
    if (run?.outcome !== undefined) continue;
    const left = atOnce
      ? 0
      : run?.due === undefined
        ? unsettledMs(handler, cycle as Cycle, situation, digest)
        : remainingMs(run.due);
    // A deadline that cannot be read is over: better one attempt too early than none at all.
    if (!(left > 0)) due.push(handler);
    else nextDue = Math.min(nextDue ?? now + left, now + left);
  }
  return { due, nextDue };
}

/** Milliseconds until quick changes are over, for a handler that waits for that. */
function unsettledMs(
  { id, debounce }: ChangeHandler,
  cycle: Cycle,
  { quietFor, waitingForMs = 0 }: Situation,
  digest: string,
): number {
  if (!debounce || cycle.runs[id] || reasonFor(cycle, id) !== "update") return 0;
  const quietForMs = quietFor?.(digest) ?? Number.POSITIVE_INFINITY;
  return Math.min(debounce.quietMs - quietForMs, debounce.atMostMs - waitingForMs);
}
