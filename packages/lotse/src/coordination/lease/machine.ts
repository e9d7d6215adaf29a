/**
 * One process and one Lease, as one pure function: `next(state, input)` says what to do then, and whether the process leads.
 * The I/O around it is in keeper.ts.
 *
 *     following ──free, or not renewed for its duration──► taking ──written──► holding ──written──► holding
 *         ▲  ▲                                               │ conflict: read      │ taken, deleted, not renewed in time
 *         │  └───────────────────────────────────────────────┘                     ▼
 *         └──────────── settled: nothing runs any more for what was lost ──── settling
 *
 * What must stay true:
 * - Only what this process saw, by its own monotonic clock, counts; never a time that another process wrote down.
 * - Others are given their whole time from when a record was seen, and what is seen was written before.
 * - Every write is based on the newest record that is known: where another process was first, it fails.
 * - A record is this process' own only if this run wrote it: another process may have the same identity.
 * - What is held is lost as soon as the fence is closed; a late answer does not bring it back.
 * - Nothing is taken while work for what was lost still runs.
 */
import { LEASE_JITTER } from "../../declare/index.ts";
import { isFenceOpen, type Moment } from "./fence.ts";
import {
  isOwn,
  type LeaseBody,
  type LeaseClaim,
  type LeaseRecord,
  newLease,
  releasedLease,
  renewedLease,
  takenLease,
} from "./record.ts";

/** What was last seen of the Lease. */
export interface Observed {
  /** Undefined: there is none. */
  readonly record: LeaseRecord | undefined;
  /** From when on it may be taken, by the monotonic clock. */
  readonly freeAt: number;
}

/** Why the Lease is no longer held. */
export type LossReason = "taken" | "deleted" | "late" | "released";

/** Where a process stands, with all that the next decision needs. Times are monotonic. */
export interface LeaseState {
  readonly observed: Observed | undefined;
  /** A write has met another one: what is observed is not the newest. */
  readonly outdated: boolean;
  /** Set while the Lease is held: when the last renewal that succeeded was sent. */
  readonly renewed: Moment | undefined;
  /** The request under way, and when it began. */
  readonly asked: { readonly what: Asked; readonly at: number } | undefined;
  /** No request before this. */
  readonly nextAt: number;
  /** When to look again where changes are not shown by themselves. */
  readonly lookAt: number;
  /** Changes are shown by themselves. */
  readonly watched: boolean;
  /** Work for what was lost may still run. */
  readonly settling: boolean;
  /** The process is about to end: it keeps what it holds, and takes nothing. */
  readonly leaving: boolean;
  /** Everything is done, and the Lease is given back; by then at the latest it is left to run out. */
  readonly releaseBy: number | undefined;
  /** Conflicts in a row. */
  readonly conflicts: number;
}

/** What a request is for. */
export type Asked = "read" | "take" | "renew" | "release";

/** What has happened. */
export type LeaseInput =
  /** The answer to a read; undefined: there is no such Lease. */
  | { readonly is: "read"; readonly record: LeaseRecord | undefined }
  /** A write has landed, which was sent at `sentAt`. */
  | { readonly is: "written"; readonly record: LeaseRecord; readonly sentAt: Moment }
  /** The write was not based on the newest record. */
  | { readonly is: "conflict" }
  /** No answer, or a refusal: a write may have landed all the same. */
  | { readonly is: "failed" }
  /** A watch shows the Lease, or with `record` undefined that it was deleted. */
  | { readonly is: "seen"; readonly record: LeaseRecord | undefined; readonly version: string }
  | { readonly is: "watched"; readonly watched: boolean }
  /** Time has passed. */
  | { readonly is: "due" }
  /** Nothing runs any more for what was lost. */
  | { readonly is: "settled" }
  | { readonly is: "leave" }
  | { readonly is: "release" };

/** What to do next. */
export type LeaseTask =
  | { readonly run: "read" }
  /** A create where there is none yet, else an update of the version in the body. */
  | {
      readonly run: "write";
      readonly what: Exclude<Asked, "read">;
      readonly verb: "create" | "update";
      readonly body: LeaseBody;
    }
  /** Until then, by the monotonic clock, or until something else happens. */
  | { readonly run: "wait"; readonly until: number }
  | { readonly run: "end" };

/** What follows from an input. */
export interface LeaseStep {
  readonly state: LeaseState;
  /** Absent: a request is under way. */
  readonly task?: LeaseTask;
  /** The process leads from now on, or no longer. */
  readonly event?: { readonly tell: "lead" } | { readonly tell: "follow"; readonly why: LossReason };
}

/** What a decision depends on besides the state and the input. */
export interface LeaseInputs {
  readonly now: Moment;
  readonly random: () => number;
  readonly claim: LeaseClaim;
}

/** So many conflicts in a row are answered at once; more say that another program writes all the time. */
const QUICK_CONFLICTS = 3;

/** How every process starts: it looks. */
export function begin(given: LeaseInputs): LeaseStep & { readonly task: LeaseTask } {
  const now = given.now.monotonic;
  return {
    state: {
      observed: undefined,
      outdated: false,
      renewed: undefined,
      asked: { what: "read", at: now },
      nextAt: now,
      lookAt: now,
      watched: false,
      settling: false,
      leaving: false,
      releaseBy: undefined,
      conflicts: 0,
    },
    task: { run: "read" },
  };
}

/** The decision: pure, so that every order of events can be tried. */
export function next(state: LeaseState, input: LeaseInput, given: LeaseInputs): LeaseStep {
  const { state: judged, event } = judge(state, absorb(state, input, given), input, given);
  if (judged.asked) return { state: judged, ...(event && { event }) };
  const task = plan(judged, given);
  const asked = task.run === "read" ? "read" : task.run === "write" ? task.what : undefined;
  return {
    state: asked ? { ...judged, asked: { what: asked, at: given.now.monotonic } } : judged,
    task,
    ...(event && { event }),
  };
}

/** How long one request may take: more than one fits into the time in which the Lease has to be renewed. */
export function requestMs({ renewMs, retryMs }: Pick<LeaseClaim, "renewMs" | "retryMs">): number {
  return Math.min(renewMs / 2, Math.max(retryMs, renewMs / 3));
}

/** Whether the newest record is this process' own. */
export function isOwner({ observed }: LeaseState, claim: LeaseClaim): boolean {
  return observed?.record !== undefined && isOwn(observed.record, claim);
}

/** What is known after the input. */
function absorb(state: LeaseState, input: LeaseInput, given: LeaseInputs): LeaseState {
  const now = given.now.monotonic;
  const answered: LeaseState = { ...state, asked: undefined };
  switch (input.is) {
    case "read": {
      const observed = observe(state, input.record, given);
      const conflicts = now < observed.freeAt ? 0 : state.conflicts;
      return { ...answered, observed, outdated: false, conflicts, lookAt: now + pause(given) };
    }
    case "written":
      return onWritten(answered, state.asked?.what, input, given);
    case "conflict": {
      const conflicts = state.conflicts + 1;
      const nextAt = conflicts < QUICK_CONFLICTS ? now : now + pause(given);
      return { ...answered, outdated: true, conflicts, nextAt };
    }
    case "failed": {
      // What took its time need not be waited for again. A renewal is tried once more as it was; who took what is asked.
      const nextAt = Math.max(now, (state.asked?.at ?? now) + pause(given));
      return { ...answered, nextAt, outdated: state.outdated || state.asked?.what === "take" };
    }
    case "seen": {
      const known = state.observed?.record;
      if (known && !isNewer(input.version, known.version)) return state;
      return { ...state, observed: observe(state, input.record, given), outdated: false };
    }
    case "watched":
      return { ...state, watched: input.watched };
    case "settled":
      return { ...state, settling: false };
    case "leave":
      return { ...state, leaving: true };
    case "release":
      return { ...state, leaving: true, releaseBy: state.releaseBy ?? now + 2 * requestMs(given.claim), nextAt: now };
    case "due":
      return state;
  }
}

function onWritten(
  state: LeaseState,
  what: Asked | undefined,
  { record, sentAt }: Extract<LeaseInput, { is: "written" }>,
  given: LeaseInputs,
): LeaseState {
  const nextAt = sentAt.monotonic + pause(given);
  const known: LeaseState = {
    ...state,
    observed: observe(state, record, given),
    outdated: false,
    conflicts: 0,
    nextAt,
  };
  // What was asked for before it was lost, or before the process was told to go, does not bring it back.
  const wanted = what === "renew" ? state.renewed !== undefined : what === "take" && !state.settling && !state.leaving;
  if (!wanted || state.releaseBy !== undefined) return { ...known, nextAt: given.now.monotonic };
  return { ...known, renewed: sentAt };
}

/** What was seen just now. Every version is a sign of life of its holder, who has its whole time from here on. */
function observe(
  { observed }: LeaseState,
  record: LeaseRecord | undefined,
  { now, random, claim }: LeaseInputs,
): Observed {
  const at = now.monotonic;
  if (!record) {
    // A holder that does not know yet that its Lease is gone may go on until it would have run out.
    return { record, freeAt: Math.max(at, observed?.freeAt ?? at) };
  }
  if (record.holder === undefined || isOwn(record, claim)) return { record, freeAt: at };
  if (observed?.record && observed.record.version === record.version) return observed;
  // Not all who wait for it ask at once.
  const spread = (LEASE_JITTER - 1) * claim.retryMs * random();
  return { record, freeAt: at + record.durationMs + spread };
}

/** Is it gained or lost? */
function judge(
  before: LeaseState,
  state: LeaseState,
  input: LeaseInput,
  { now, claim }: LeaseInputs,
): Pick<LeaseStep, "state" | "event"> {
  if (!state.renewed) return { state };
  const why = lossOf(state, input, now, claim);
  if (why === undefined) return before.renewed ? { state } : { state, event: { tell: "lead" } };
  const lost: LeaseState = { ...state, renewed: undefined };
  // An answer that came too late to begin with has given nothing that could be lost.
  if (!before.renewed) return { state: lost };
  return { state: { ...lost, settling: why !== "released" }, event: { tell: "follow", why } };
}

function lossOf(state: LeaseState, input: LeaseInput, now: Moment, claim: LeaseClaim): LossReason | undefined {
  if (input.is === "release") return "released";
  if (state.observed?.record === undefined) return "deleted";
  if (!isOwner(state, claim)) return "taken";
  return isFenceOpen(state.renewed, now, claim.renewMs) ? undefined : "late";
}

/** What to do now, when no request is under way. */
function plan(state: LeaseState, given: LeaseInputs): LeaseTask {
  if (state.releaseBy !== undefined) return planRelease(state, state.releaseBy, given);
  if (state.renewed) return planRenewal(state, state.renewed, given);
  if (state.settling || state.leaving) return { run: "wait", until: Number.POSITIVE_INFINITY };
  const now = given.now.monotonic;
  if (now < state.nextAt) return { run: "wait", until: state.nextAt };
  const { observed } = state;
  if (!observed || state.outdated) return { run: "read" };
  if (now >= observed.freeAt) return take(observed, given);
  if (state.watched) return { run: "wait", until: observed.freeAt };
  return now >= state.lookAt ? { run: "read" } : { run: "wait", until: Math.min(observed.freeAt, state.lookAt) };
}

function planRenewal(state: LeaseState, renewed: Moment, given: LeaseInputs): LeaseTask {
  const now = given.now.monotonic;
  const { claim } = given;
  if (now < state.nextAt) {
    return { run: "wait", until: Math.min(state.nextAt, renewed.monotonic + claim.renewMs) };
  }
  const record = state.observed?.record;
  if (!record || state.outdated) return { run: "read" };
  return { run: "write", what: "renew", verb: "update", body: renewedLease(record, claim, given.now.now) };
}

function planRelease(state: LeaseState, releaseBy: number, given: LeaseInputs): LeaseTask {
  const now = given.now.monotonic;
  const record = state.observed?.record;
  const gone = !state.outdated && !isOwner(state, given.claim);
  if (gone || now >= releaseBy) return { run: "end" };
  if (now < state.nextAt) return { run: "wait", until: Math.min(state.nextAt, releaseBy) };
  if (!record || state.outdated) return { run: "read" };
  return { run: "write", what: "release", verb: "update", body: releasedLease(record, given.claim, given.now.now) };
}

function take({ record }: Observed, { claim, now }: LeaseInputs): LeaseTask {
  if (!record) return { run: "write", what: "take", verb: "create", body: newLease(claim, now.now) };
  return { run: "write", what: "take", verb: "update", body: takenLease(record, claim, now.now) };
}

/** Between two tries. Renewals and looks of many processes do not come at once. */
function pause({ claim, random }: LeaseInputs): number {
  return claim.retryMs * (1 + (LEASE_JITTER - 1) * random());
}

/** Whether a version that a watch shows is news. Servers count upwards; where they do not, the next request tells. */
function isNewer(version: string, known: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(known)) return false;
  return BigInt(version) > BigInt(known);
}
