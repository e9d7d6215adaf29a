import type { KubeBody } from "@lotse/client";
import type { IdentityKey } from "@lotse/client/meta";
import type { Essence, FailureContext, Memo } from "../declare/index.ts";
import type { TurnNotes, Wake } from "../report/index.ts";
import type { Deadlines } from "./deadlines.ts";
import { CALM, type LoopState } from "./hot-loop.ts";
import type { ObjectRecord } from "./record.ts";
import type { RestoreState } from "./restore.ts";
import type { Stop } from "./stop.ts";
import type { WritePlan } from "./write.ts";

/** An event of the raw stream, kept for `on.event` handlers until the object's turn. */
export interface RawEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | undefined;
  readonly body: KubeBody;
  /** It shows an own write. */
  readonly own?: true;
}

/** Something that has failed for good. */
export interface FinalFailure {
  readonly handler: string;
  readonly reason: FailureContext<KubeBody>["reason"];
  readonly error: unknown;
  readonly attempts: number;
}

/** What the process remembers of one object. May be lost at any time without harm. */
export interface ObjectMemory {
  readonly key: IdentityKey;
  readonly uid: string;
  /** Made when somebody asks for it: most handlers take no notes. */
  memo: Memo | undefined;
  /** Nothing has been handled for it in this process yet: resume handlers are owed. */
  firstSight: boolean;
  /** The record as we last wrote or read it, for the case that somebody wipes it. */
  record: ObjectRecord | undefined;
  /** A write that failed: kept and sent before anything else, so that no handler is called again for it. */
  pending: WritePlan | undefined;
  /** Somebody else has changed the object since its last turn. */
  foreign: boolean;
  /** Digest of the essence after our last write. */
  ownDigest: string | undefined;
  /** The version that our last write has made: the stream may show it before the answer does. */
  ownVersion: string | undefined;
  loop: LoopState;
  /** The fight that the object has yet to be told of. */
  fight: string | undefined;
  /** What has been said once and need not be said again. */
  told: ReadonlySet<"superseded" | "base"> | undefined;
  /** Framework errors in a row; decides the pause before the next look. */
  errors: number;
  /** Our finalizer is off: nothing is left to do but to wait for the end. */
  released: boolean;
  /** The object is gone; this was its last known body. */
  gone: KubeBody | undefined;
  /** Its deletion was handled while it was still there, so nothing has to be done after the fact. */
  deletionHandled: boolean;
  events: RawEvent[] | undefined;
  /** The body that its last turn looked at; the store's own, not a copy. */
  lastBody: KubeBody | undefined;
  /** The last essence that was told to nobody since the last change was handled: no handler matched, or it was our own. */
  away: Essence | undefined;
  /** Digest of the last essence seen, and when it was first seen (monotonic): what `idle` counts from. */
  digest: string | undefined;
  changedAt: number;
  /** Its deletion mark has been seen: what ran for it before was told to stop. */
  deletionSeen: boolean;
  /** Aborts what runs for the object now. */
  running: Stop | undefined;
  /** Something that its cleanup waits for has happened: it is tried again at once. */
  hurried: boolean;
  /** Somebody asks for another try of whatever waits for one, or has failed for good. */
  retryNow: boolean;
  /** Something has happened outside of the cluster: whatever waits for another try need not wait for its time. */
  woken: boolean;
  /** When the retries in its record are due, by the monotonic clock. */
  deadlines: Deadlines | undefined;
  /** Since when a change waits for its handlers (monotonic); what `debounce` counts its longest wait from. */
  waitingSince: number | undefined;
  /** What has failed for good since its last turn, for `on.failure`. */
  failures: FinalFailure[] | undefined;
  /** How often its record was wiped and put back. */
  restored: RestoreState | undefined;
  /** What has woken it since its last turn, for the journal. */
  woke: Wake[] | undefined;
  /** What its present turn has done so far, for the journal. */
  notes: TurnNotes | undefined;
}

/** More than this is not worth telling of one turn. */
const MOST_WAKES = 8;

/** What the present turn has noted down so far. */
export function notesOf(memory: ObjectMemory): TurnNotes {
  memory.notes ??= { ran: [], wrote: [] };
  return memory.notes;
}

/** Remembers why the object gets its next turn. */
export function noteWake(memory: ObjectMemory, wake: Wake): void {
  memory.woke ??= [];
  if (memory.woke.length < MOST_WAKES) memory.woke.push(wake);
}

/** The raw events that wait; from now on they do not. */
export function takeEvents(memory: ObjectMemory): readonly RawEvent[] {
  const events = memory.events ?? [];
  memory.events = undefined;
  return events;
}

/** Nothing is known yet of the object with `uid`. */
export function newMemory(key: IdentityKey, uid: string, now: number): ObjectMemory {
  return {
    key,
    uid,
    memo: undefined,
    firstSight: true,
    record: undefined,
    pending: undefined,
    foreign: true,
    ownDigest: undefined,
    ownVersion: undefined,
    loop: CALM,
    fight: undefined,
    told: undefined,
    errors: 0,
    released: false,
    gone: undefined,
    deletionHandled: false,
    events: undefined,
    lastBody: undefined,
    away: undefined,
    digest: undefined,
    changedAt: now,
    deletionSeen: false,
    running: undefined,
    hurried: false,
    retryNow: false,
    woken: false,
    deadlines: undefined,
    waitingSince: undefined,
    failures: undefined,
    restored: undefined,
    woke: undefined,
    notes: undefined,
  };
}

/** Whether this is said for the first time. */
export function firstTime(memory: ObjectMemory, what: "superseded" | "base"): boolean {
  if (memory.told?.has(what)) return false;
  memory.told = new Set([...(memory.told ?? []), what]);
  return true;
}
