/**
 * What to do about one registered object. Pure. Replicas of one operator, and its old and new versions while it is rolled
 * out, all look after the same objects: one that finds the mark of another version does not fight it, but waits until
 * that version should have gone.
 */
import type { KubeBody } from "@lotse/client";
import { digestAnnotation, digestOfWanted, isAsWanted, type Wanted } from "./wanted.ts";

/** What is known of one object. */
export interface Standing {
  /** Undefined: it is not there. */
  readonly live: KubeBody | undefined;
  /** The digest that this process has written last; undefined before it has written. */
  readonly written: string | undefined;
  /** When the mark of another version was first seen (monotonic). */
  readonly yieldedAt: number | undefined;
}

/** What to do. */
export type Decision =
  | { readonly type: "nothing" }
  /** It is to be written: the first time, or because something else is wanted now. */
  | { readonly type: "write" }
  /** Another client has changed or deleted it. */
  | { readonly type: "put back"; readonly deleted: boolean }
  /** Another version of this operator has written it; look again at `until` (monotonic). */
  | { readonly type: "yield"; readonly until: number };

/** How long another version of the operator may take to go. */
export const YIELD_MS = 5 * 60_000;

/** See the module comment. */
export function decide(wanted: Wanted, standing: Standing, operator: string, now: number): Decision {
  const { live, written, yieldedAt } = standing;
  if (!live) {
    if (wanted.partial) return { type: "nothing" };
    return written === undefined ? { type: "write" } : { type: "put back", deleted: true };
  }
  const digest = digestOfWanted(wanted.body);
  const mark = live.metadata?.annotations?.[digestAnnotation(operator)];
  if (isAsWanted(live, wanted)) return mark === digest ? { type: "nothing" } : unmarked(mark, written);
  if (written === undefined) return { type: "write" };
  if (mark !== undefined && mark !== written && mark !== digest) {
    const until = (yieldedAt ?? now) + YIELD_MS;
    return now < until ? { type: "yield", until } : { type: "write" };
  }
  return written === digest ? { type: "put back", deleted: false } : { type: "write" };
}

/**
 * It has all that is wanted, but is marked otherwise: what this process, or one before it, has written is written anew,
 * because more may be in it than is wanted now. What another version has written since stays.
 */
function unmarked(mark: string | undefined, written: string | undefined): Decision {
  return mark === undefined || written === undefined || mark === written ? { type: "write" } : { type: "nothing" };
}
