/** Who is alive? What a member has seen of the others, by its own clock. Pure. */
import { LEASE_JITTER } from "../../declare/index.ts";
import type { Moment } from "../lease/index.ts";
import type { Seat } from "./seat.ts";

/** When a seat was last seen to change. Times are monotonic. */
export interface Sight {
  /** As it was seen: emptying it is based on this. */
  readonly seat: Seat;
  readonly at: number;
  /** Its holder is gone if it did not change until then. */
  readonly freeAt: number;
  /** Not tried again before this. */
  readonly retryAt: number;
  /** Its holder joins, and is waited for until then. Undefined: it does not join. */
  readonly expectedUntil: number | undefined;
}

/** One whose Lease has vanished, or was made anew by another process, without a goodbye: it may not know that yet. */
export interface Ghost {
  readonly seat: Seat;
  /** By then it must have noticed. */
  readonly until: number;
}

interface Given {
  readonly now: Moment;
  readonly random: () => number;
  readonly member: { readonly retryMs: number };
}

/** What was seen of each seat, after a look. Every new version is a sign of life: its holder has its whole time from here on. */
export function sightsAfter(
  before: ReadonlyMap<number, Sight>,
  seats: readonly Seat[],
  given: Given,
): ReadonlyMap<number, Sight> {
  const sights = new Map<number, Sight>();
  for (const seat of seats) {
    const known = before.get(seat.seat);
    const isKnown = known?.seat.uid === seat.uid && known.seat.version === seat.version;
    sights.set(seat.seat, isKnown ? known : stillExpected(sightOf(seat, given), known));
  }
  return sights;
}

/** A sign of life of who joins gives it no more time to join. */
function stillExpected(sight: Sight, before: Sight | undefined): Sight {
  const isSameStay = before?.seat.writer === sight.seat.writer && before?.expectedUntil !== undefined;
  return isSameStay && sight.expectedUntil !== undefined ? { ...sight, expectedUntil: before.expectedUntil } : sight;
}

/** Those who join, and have not taken too long for it. */
export function expectedOf(sights: ReadonlyMap<number, Sight>, { now }: Pick<Given, "now">): readonly number[] {
  return [...sights.values()]
    .filter(({ expectedUntil }) => expectedUntil !== undefined && now.monotonic < expectedUntil)
    .map(({ seat }) => seat.seat);
}

/** As if everything had been seen just now. */
export function startAgain(before: ReadonlyMap<number, Sight>, given: Given): ReadonlyMap<number, Sight> {
  return new Map([...before].map(([number, { seat }]) => [number, sightOf(seat, given)]));
}

function sightOf(seat: Seat, { now, random, member }: Given): Sight {
  const at = now.monotonic;
  // Not all who wait for it ask at once.
  const spread = (LEASE_JITTER - 1) * member.retryMs * random();
  const expectedUntil = seat.joining ? at + seat.durationMs : undefined;
  return { seat, at, freeAt: at + seat.durationMs + spread, retryAt: at, expectedUntil };
}

/** Those whose Lease is gone since the look before. Only what was emptied first is given up for certain. */
export function ghostsOf(
  {
    seats = [],
    sights,
    ghosts,
    stay,
  }: {
    readonly seats: readonly Seat[] | undefined;
    readonly sights: ReadonlyMap<number, Sight>;
    readonly ghosts: readonly Ghost[];
    readonly stay: { readonly seat: number } | undefined;
  },
  after: readonly Seat[],
  { now }: Given,
): readonly Ghost[] {
  const uids = new Set(after.map(({ uid }) => uid));
  const vanished = otherSeats(seats, stay).filter(({ holder, uid }) => holder !== undefined && !uids.has(uid));
  const fresh = vanished.map((seat) => ({
    seat,
    until: (sights.get(seat.seat)?.at ?? now.monotonic) + seat.durationMs,
  }));
  return fresh.length === 0 ? ghosts : [...ghosts, ...fresh];
}

/** All seats but the own one. */
export function otherSeats(seats: readonly Seat[], stay: { readonly seat: number } | undefined): readonly Seat[] {
  return seats.filter(({ seat }) => seat !== stay?.seat);
}
