/**
 * A pause that people ask for without any CRD: an annotation on the operator's Lease. Pure: reading it, writing it, and what
 * follows from it at a time. One pause is a JSON object; when several people pause an operator, the value is a list of them.
 */
import { isObject } from "@lotse/client/meta";

/** The annotation of an operator's Lease. */
export const PAUSE_ANNOTATION = "lotse.dev/pause";

/** The priority of `lotse freeze` unless it is told another, as Kopf has it. */
export const PAUSE_PRIORITY = 100;

/** An operator is to do nothing for a time. */
export interface Pause {
  /** Who wants it: `user@host`. One pause each. */
  readonly by: string;
  /** Wall-clock time in milliseconds when it ends by itself. */
  readonly until: number;
  /** Operators that were started with a higher one do not pause. */
  readonly priority: number;
  readonly message?: string | undefined;
  /** For how long it was asked, in milliseconds: what it lasts at most where clocks disagree. */
  readonly lifetimeMs?: number | undefined;
}

/** Now, by both clocks: what others wrote down is compared with `now`, what is measured here with `monotonic`. */
export interface Moment {
  readonly now: number;
  readonly monotonic: number;
}

/** The pauses that an annotation speaks of, over or not, and what cannot be read of it, for the log. */
export interface ParsedPauses {
  readonly pauses: readonly Pause[];
  readonly problem?: string | undefined;
}

/** Reads the annotation's value; what cannot be read pauses nobody. */
export function parsePauses(text: string | undefined): ParsedPauses {
  if (text === undefined || text.trim() === "") return { pauses: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { pauses: [], problem: "it is no JSON" };
  }
  const pauses = new Map<string, Pause>();
  let problem: string | undefined;
  for (const entry of Array.isArray(value) ? value : [value]) {
    const pause = parsePause(entry);
    if (typeof pause === "string") problem ??= pause;
    else pauses.set(pause.by, pause);
  }
  return { pauses: [...pauses.values()], problem };
}

function parsePause(entry: unknown): Pause | string {
  if (!isObject(entry)) return "it is no object";
  const { by, until, priority = PAUSE_PRIORITY, message, lifetime } = entry;
  const ends = typeof until === "string" ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(ends)) return "`until` is no time";
  if (typeof priority !== "number" || !Number.isFinite(priority)) return "`priority` is no number";
  return {
    by: typeof by === "string" && by !== "" ? by : "unknown",
    until: ends,
    priority,
    ...(typeof message === "string" && message !== "" && { message }),
    ...(typeof lifetime === "number" && lifetime > 0 && { lifetimeMs: lifetime * 1_000 }),
  };
}

/** The annotation's value for these pauses; null takes the annotation off. */
export function formatPauses(pauses: readonly Pause[]): string | null {
  const entries = pauses.map(({ by, until, priority, message, lifetimeMs }) => ({
    by,
    until: new Date(until).toISOString(),
    priority,
    ...(message !== undefined && { message }),
    ...(lifetimeMs !== undefined && { lifetime: lifetimeMs / 1_000 }),
  }));
  if (entries.length === 0) return null;
  return JSON.stringify(entries.length === 1 ? entries[0] : entries);
}

/** The annotation's value with this pause in it; the same person's pause before it and what is over are left out. */
export function withPause(text: string | undefined, pause: Pause, now: number): string {
  const others = parsePauses(text).pauses.filter(({ by, until }) => by !== pause.by && until > now);
  return formatPauses([...others, pause]) as string;
}

/** The annotation's value without the pause of `by`; null takes the annotation off. */
export function withoutPause(text: string | undefined, by: string, now: number): string | null {
  return formatPauses(parsePauses(text).pauses.filter((pause) => pause.by !== by && pause.until > now));
}

/**
 * The strongest pause in force at `now` for an operator with this priority, by the wall clock alone: for a look in passing.
 * A process that keeps reading uses {@link seePauses}, which no change of the clock can prolong.
 */
export function readPause(
  annotations: Readonly<Record<string, string>> | undefined,
  now: number,
  priority = 0,
): Pause | undefined {
  return strongest(
    parsePauses(annotations?.[PAUSE_ANNOTATION]).pauses.filter((pause) => pause.until > now),
    priority,
  );
}

/** The pauses that a process has seen, each with the time of its own clock when it is over. */
export interface SeenPauses {
  readonly pauses: readonly (Pause & { readonly endsAt: number })[];
  /** What cannot be read of the annotation. */
  readonly problem?: string | undefined;
}

/** Before the first look at the Lease. */
export const NO_PAUSES: SeenPauses = { pauses: [] };

/**
 * A look at the Lease's annotations. How long a pause lasts is computed once, when it is first seen, and measured by the
 * process' own clock from then on: a wall clock that jumps does not prolong it.
 */
export function seePauses(
  before: SeenPauses,
  annotations: Readonly<Record<string, string>> | undefined,
  { now, monotonic }: Moment,
): SeenPauses {
  const { pauses, problem } = parsePauses(annotations?.[PAUSE_ANNOTATION]);
  return {
    problem,
    pauses: pauses.map((pause) => {
      const known = before.pauses.find(({ by, until }) => by === pause.by && until === pause.until);
      const remaining = Math.min(pause.until - now, pause.lifetimeMs ?? Number.POSITIVE_INFINITY);
      return { ...pause, endsAt: known?.endsAt ?? monotonic + remaining };
    }),
  };
}

/** The strongest of the seen pauses that is in force for an operator with this priority; `endsAt` by its own clock. */
export function pauseInForce(
  { pauses }: SeenPauses,
  monotonic: number,
  priority = 0,
): (Pause & { readonly endsAt: number }) | undefined {
  return strongest(
    pauses.filter(({ endsAt }) => endsAt > monotonic),
    priority,
  );
}

/** Of equal priorities the one that lasts longest: when it ends is when somebody has to look again. */
function strongest<P extends Pause>(pauses: readonly P[], priority: number): P | undefined {
  let found: P | undefined;
  for (const pause of pauses) {
    if (pause.priority < priority) continue;
    const stronger =
      found === undefined ||
      pause.priority > found.priority ||
      (pause.priority === found.priority && pause.until > found.until);
    if (stronger) found = pause;
  }
  return found;
}

/** What people are told of a pause: who wants it and why. */
export function describePause({ by, message }: Pause): string {
  return message === undefined ? `paused by ${by}` : `paused by ${by}: ${message}`;
}
