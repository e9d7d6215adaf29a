/** What the process remembers of one object: may be lost at any time without harm. Written in this room alone. */
import type { KubeBody } from "@lotse/client";
import { type IdentityKey, type ObjectKey, objectKeyIn } from "@lotse/client/meta";
import { Aborted, type Essence, type FailureContext, type Memo } from "../declare/index.ts";
import type { TurnNotes, Wake } from "../report/index.ts";
import type { Deadlines } from "./deadlines.ts";
import { CALM, type LoopState } from "./hot-loop.ts";
import { isAlive, type Life, NEW, nextLife } from "./life.ts";
import type { ObjectRecord } from "./record.ts";
import type { RestoreState } from "./restore.ts";
import type { Stop } from "./stop.ts";
import type { Takeover } from "./takeover.ts";
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

/** What its turns have seen of the object. */
export interface Sight {
  /** The body that its last turn looked at; the store's own, not a copy. */
  body: KubeBody | undefined;
  /** Digest of the last essence seen, and when it was first seen (monotonic): what `idle` counts from. */
  digest: string | undefined;
  changedAt: number;
  /** The last essence that no handler was told of since the last change was handled: none matched, or it was our own. */
  unmatchedEssence: Essence | undefined;
}

/** What this operator has written to the object. */
export interface OwnWrites {
  /** A write that failed: kept and sent before anything else, so that no handler is called again for it. */
  pending: WritePlan | undefined;
  /** Digest of the essence after the last write. */
  digest: string | undefined;
  /** The version that the last write has made: the stream may show it before the answer does. */
  version: string | undefined;
  /** Another client has changed the object since its last turn. */
  changedByOthers: boolean;
}

/** Whether work for the object calls itself, or fights with another writer. */
export interface LoopMemory {
  state: LoopState;
  /** The fight that the object has yet to be told of. */
  fight: string | undefined;
}

/** What the object waits for. */
export interface Waiting {
  /** Framework errors in a row; decides the pause before the next turn. */
  errors: number;
  /** When the retries in its record are due, by the monotonic clock. */
  deadlines: Deadlines | undefined;
  /** Since when a change waits for its handlers (monotonic); what `debounce` counts its longest wait from. */
  changeSince: number | undefined;
  /** How often its record was wiped and put back. */
  restored: RestoreState | undefined;
}

/** What its next turn is asked for, beside what the object itself says. */
export interface Asked {
  /** Something that its cleanup waits for has happened: it is tried again at once. */
  retryCleanupNow: boolean;
  /** A person asks for another try of whatever waits for one, or has failed for good. */
  retryNow: boolean;
  /** Something has happened outside of the cluster: whatever waits for another try need not wait for its time. */
  woken: boolean;
}

/** What its next turn has to tell handlers of. */
export interface Inbox {
  events: RawEvent[] | undefined;
  /** What has failed for good since its last turn, for `on.failure`. */
  failures: FinalFailure[] | undefined;
}

/** What the journal is to be told of its turn. */
export interface TurnJournal {
  /** What has woken it since its last turn. */
  woke: Wake[] | undefined;
  /** What its present turn has done so far. */
  notes: TurnNotes | undefined;
}

/** See the module comment. */
export interface ObjectMemory {
  readonly key: IdentityKey;
  /** The key of its name, by which the store finds it. */
  readonly objectKey: ObjectKey;
  readonly uid: string;
  life: Life;
  /** Made when a handler asks for it: most take no notes. */
  memo: Memo | undefined;
  /** The record as it was last written or read, for the case that another client wipes it. */
  record: ObjectRecord | undefined;
  /** Aborts what runs for the object now. */
  running: Stop | undefined;
  /** Why the object is no longer this process's: nothing begins for it any more, and nothing of it is written. */
  left: Aborted | undefined;
  /** It was taken over from another process, and nothing has been written since; see `takeover`. */
  taken: Takeover | undefined;
  /** What has been said once and need not be said again. */
  saidOnce: ReadonlySet<"superseded" | "base"> | undefined;
  readonly sight: Sight;
  readonly ownWrites: OwnWrites;
  readonly hotLoop: LoopMemory;
  readonly waiting: Waiting;
  readonly asked: Asked;
  readonly inbox: Inbox;
  readonly journal: TurnJournal;
}

/** The same, as other rooms see it: to be read, and changed by the functions of this room. */
export type SeenMemory = {
  readonly [K in keyof ObjectMemory]: K extends
    | "sight"
    | "ownWrites"
    | "hotLoop"
    | "waiting"
    | "asked"
    | "inbox"
    | "journal"
    ? Readonly<ObjectMemory[K]>
    : ObjectMemory[K];
};

/** More than this is not worth telling of one turn. */
const MOST_WAKES = 8;

/** What the present turn has noted down so far. */
export function notesOf({ journal }: ObjectMemory): TurnNotes {
  journal.notes ??= { ran: [], wrote: [] };
  return journal.notes;
}

/** Remembers why the object gets its next turn. */
export function noteWake({ journal }: ObjectMemory, wake: Wake): void {
  journal.woke ??= [];
  if (journal.woke.length < MOST_WAKES) journal.woke.push(wake);
}

/** Keeps a raw event until the object's turn. */
export function keepEvent({ inbox }: ObjectMemory, event: RawEvent): void {
  inbox.events ??= [];
  inbox.events.push(event);
}

/** The raw events that wait; from now on they do not. */
export function takeEvents({ inbox }: ObjectMemory): readonly RawEvent[] {
  const { events = [] } = inbox;
  inbox.events = undefined;
  return events;
}

/** The failures that wait to be told of; from now on they do not. */
export function takeFailures({ inbox }: ObjectMemory): readonly FinalFailure[] {
  const { failures = [] } = inbox;
  inbox.failures = undefined;
  return failures;
}

/** Keeps a failure until `on.failure` handlers are told of it. */
export function keepFailure({ inbox }: ObjectMemory, failure: FinalFailure): void {
  inbox.failures ??= [];
  inbox.failures.push(failure);
}

/** Another client has changed the object. */
export function noteForeignChange({ ownWrites }: ObjectMemory): void {
  ownWrites.changedByOthers = true;
}

/** The next turn has more to do than the object itself asks for. */
export function ask({ asked }: ObjectMemory, what: keyof Asked): void {
  asked[what] = true;
}

/** The notes of an object; `make` makes the first. */
export function memoOf(memory: ObjectMemory, make: () => Memo): Memo {
  memory.memo ??= make();
  return memory.memo;
}

/** Its deletion mark is there: true the first time that it is seen. */
export function seeDeletion(memory: ObjectMemory): boolean {
  if (!isAlive(memory.life)) return false;
  memory.life = nextLife(memory.life, { type: "marked" });
  return true;
}

/** The stream says that the object is no longer there; what runs for it is told. */
export function seeGone(memory: ObjectMemory, body: KubeBody): void {
  memory.life = nextLife(memory.life, { type: "gone", body });
  memory.running?.stop(new Aborted("deletion", "the object is gone"));
}

/** The object is no longer this process's: what runs for it is told, and what waits to be written is dropped. */
export function leaveObject(memory: ObjectMemory, reason: Aborted): void {
  memory.left = reason;
  memory.ownWrites.pending = undefined;
  memory.running?.stop(reason);
}

/** A write that had failed has been made after all. */
export function forgetPending({ ownWrites }: ObjectMemory): void {
  ownWrites.pending = undefined;
}

/** Nothing is known yet of the object with `uid`; `taken`: where another process may have worked on it before. */
export function newMemory(key: IdentityKey, uid: string, now: number, taken?: Takeover): ObjectMemory {
  return {
    key,
    objectKey: objectKeyIn(key),
    uid,
    life: NEW,
    memo: undefined,
    record: undefined,
    running: undefined,
    left: undefined,
    taken,
    saidOnce: undefined,
    sight: { body: undefined, digest: undefined, changedAt: now, unmatchedEssence: undefined },
    ownWrites: { pending: undefined, digest: undefined, version: undefined, changedByOthers: true },
    hotLoop: { state: CALM, fight: undefined },
    waiting: { errors: 0, deadlines: undefined, changeSince: undefined, restored: undefined },
    asked: { retryCleanupNow: false, retryNow: false, woken: false },
    inbox: { events: undefined, failures: undefined },
    journal: { woke: undefined, notes: undefined },
  };
}

/** Whether this is said for the first time. */
export function firstTime(memory: ObjectMemory, what: "superseded" | "base"): boolean {
  if (memory.saidOnce?.has(what)) return false;
  memory.saidOnce = new Set([...(memory.saidOnce ?? []), what]);
  return true;
}
