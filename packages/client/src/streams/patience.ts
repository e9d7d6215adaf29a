/**
 * How long does a stream wait before it tries again, and what may cut the wait short? Decisions only.
 *
 *     the server is away        0.8 s doubling to 30 s; but the scout of a client looks every 2.5 s, after a minute less
 *                               and less often, and the first answer to one wakes all others
 *     the list is forbidden     0.8 s doubling to 1 min: only an administrator can change that, and hardly ever at once
 *     the kind is not there     0.8 s doubling to 10 s: a person installs it, and wants to see it work
 *     anything else             0.8 s doubling to 30 s
 */
import { ApiError, ForbiddenError, NotFoundError } from "../transport/index.ts";

/** Each wait is between half of its ceiling and all of it. */
const FIRST_CEILING_MS = 1_600;
const LAST_CEILING_MS = 30_000;
const FORBIDDEN_CEILING_MS = 60_000;
const MISSING_CEILING_MS = 10_000;
/** A server that is back shall be noticed within three seconds, the time to connect included. */
const SCOUT_MS = 2_500;
/** After a minute it is noticed within a twentieth of the time that it was away, and always within so many seconds. */
const SCOUT_PART = 0.05;
const SCOUT_CEILING_MS = 15_000;
/** All streams hear of the server's answer in the same moment; this much of chance keeps them from coming all at once. */
const NEWS_SPREAD_MS = 300;

/** The wait after `failures` earlier ones in a row; `random` is in [0, 1). */
export function backoffMs(failures: number, random: number, error?: unknown): number {
  const ceiling = Math.min(ceilingFor(error), FIRST_CEILING_MS * 2 ** Math.min(failures, 10));
  return ceiling * (0.5 + random / 2);
}

function ceilingFor(error: unknown): number {
  if (error instanceof ForbiddenError) return FORBIDDEN_CEILING_MS;
  return error instanceof NotFoundError ? MISSING_CEILING_MS : LAST_CEILING_MS;
}

/** What is left of a wait of `ms` for the scout, when the server has been away for `downMs`. */
export function scoutMs(ms: number, downMs: number, random: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const pause = Math.min(SCOUT_CEILING_MS, Math.max(SCOUT_MS, downMs * SCOUT_PART));
  return Math.min(ms, Math.max(asked, pause * (0.5 + random / 2)));
}

/**
 * How long a stream that has waited for `waitedMs` goes on to wait when the server has answered another request. `early`
 * tries in a row were made at such news, and failed all the same: then it is not the server that is away, but only what
 * this stream asks for, and the answers that others get are no news for it. So it heeds them less and less.
 */
export function afterNewsMs(waitedMs: number, early: number, random: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const rest = early === 0 ? 0 : Math.min(LAST_CEILING_MS, 1_000 * 2 ** Math.min(early, 10));
  return Math.max(0, Math.max(asked, rest) - waitedMs) + random * NEWS_SPREAD_MS;
}
