/**
 * When is a failed request sent again? A pure decision over what failed; the loop around it sleeps and sends.
 *
 * Nothing may happen twice that the caller asked for once: a verb that is not idempotent is repeated only when the server
 * cannot have acted, that is when no byte was sent or it said 429.
 */

import { ApiError, ConnectionError } from "./errors.ts";
import type { RawRequest } from "./request.ts";
import { PATCH_MEDIA_TYPE } from "./request.ts";

/** One try and four more: about two seconds of patience on average before the caller hears of it. */
const MAX_ATTEMPTS = 5;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
const RETRIED_STATUS = new Set([429, 500, 502, 503, 504]);

/** Milliseconds to wait before the next attempt, or `undefined` when the failure is final. */
export function retryDelay(
  request: RawRequest,
  failure: unknown,
  o: { attempt: number; random: () => number; remainingMs: number },
): number | undefined {
  if (request.retry === false || o.attempt >= MAX_ATTEMPTS || !isRetriable(request, failure)) return undefined;
  const ceiling = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (o.attempt - 1));
  const delay = ceiling * (0.5 + o.random() / 2);
  const asked = failure instanceof ApiError ? (failure.retryAfterMs ?? 0) : 0;
  const wait = Math.max(delay, asked);
  return wait < o.remainingMs ? wait : undefined;
}

function isRetriable(request: RawRequest, failure: unknown): boolean {
  if (failure instanceof ConnectionError) return !failure.lasting && (!failure.sent || isIdempotent(request));
  if (!(failure instanceof ApiError)) return false;
  return failure.status === 429 || (RETRIED_STATUS.has(failure.status) && isIdempotent(request));
}

/** Merge patches and applies say how it shall be; JSON patch operations say what to do, and may do it twice. */
function isIdempotent(request: RawRequest): boolean {
  if (request.method !== "PATCH") return request.method !== "POST";
  const type = request.headers?.["content-type"];
  return type === PATCH_MEDIA_TYPE.merge || type === PATCH_MEDIA_TYPE.apply;
}

/** Milliseconds in a `Retry-After` header: seconds, or a date. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
