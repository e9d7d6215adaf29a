import type { KubeBody } from "@lotse/client";
import type { Memo } from "../declare/index.ts";
import type { ObjectRecord } from "./record.ts";
import type { WritePlan } from "./write.ts";

/** An event of the raw stream, kept for `on.event` handlers until the object's turn. */
export interface RawEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | undefined;
  readonly body: KubeBody;
}

/** What the process remembers of one object. May be lost at any time without harm. */
export interface ObjectMemory {
  readonly key: string;
  readonly uid: string;
  readonly memo: Memo;
  /** Nothing has been handled for it in this process yet: resume handlers are owed. */
  firstSight: boolean;
  /** The record as we last wrote or read it, for the case that somebody wipes it. */
  record: ObjectRecord | undefined;
  /** A write that failed: kept and sent before anything else, so that no handler is called again for it. */
  pending: WritePlan | undefined;
  /** Framework errors in a row; decides the pause before the next look. */
  errors: number;
  /** Our finalizer is off: nothing is left to do but to wait for the end. */
  released: boolean;
  /** The object is gone; this was its last known body. */
  gone: KubeBody | undefined;
  /** Its deletion was handled while it was still there, so nothing has to be done after the fact. */
  deletionHandled: boolean;
  readonly events: RawEvent[];
  /** The body that its last turn looked at; the store's own, not a copy. */
  lastBody: KubeBody | undefined;
  /** Digest of the last essence seen, and when it was first seen (monotonic): what `idle` counts from. */
  digest: string | undefined;
  changedAt: number;
  /** Its deletion mark has been seen: what ran for it before was told to stop. */
  deletionSeen: boolean;
  /** Aborts what runs for the object now. */
  running: AbortController | undefined;
}

/** Nothing is known yet of the object with `uid`. */
export function newMemory(key: string, uid: string, now: number, memo: Memo): ObjectMemory {
  return {
    key,
    uid,
    memo,
    firstSight: true,
    record: undefined,
    pending: undefined,
    errors: 0,
    released: false,
    gone: undefined,
    deletionHandled: false,
    events: [],
    lastBody: undefined,
    digest: undefined,
    changedAt: now,
    deletionSeen: false,
    running: undefined,
  };
}
