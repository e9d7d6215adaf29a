/**
 * What may a member work on? Pure. What must stay true:
 *
 * - A member works on a slice only while every claim of its own that may be stored gives it the slice.
 * - It begins with a slice only after it has seen, in one look at all Leases that shows its own claim, that no claim of
 *   another member gives the slice to that one. Of two who claim one slice, the one whose claim was stored later sees the
 *   other's.
 * - What it has, it keeps until it says otherwise, whatever others claim.
 */
import { both, either, NO_SLICES, SLICES, type Slices, slicesOf, type View, without } from "./rendezvous.ts";
import type { Claim, Seat } from "./seat.ts";

const ALL_SLICES: Slices = new Uint8Array(SLICES).fill(1);

/** One who claims something: a seat that is taken, or was until a moment ago. */
export type Claimant = Pick<Seat, "seat" | "holder" | "view" | "joining" | "rule">;

/** Who wants to know. */
export interface Claiming {
  readonly seat: number;
  readonly rule: string;
}

/** Whether someone sits there who may be working. */
export function claimsAnything({ holder, view }: Claimant): boolean {
  return holder !== undefined && (view === undefined || view.length > 0);
}

/** What others may be working on. */
function claimedBy(other: Claimant, { seat, rule }: Claiming, own: View): Slices {
  if (!claimsAnything(other)) return NO_SLICES;
  // Who counts differently, or cannot be understood, may mean everything.
  if (other.view === undefined || other.rule !== rule) return ALL_SLICES;
  // Two who know of each other never claim the same: one of both has the larger weight.
  if (other.view.includes(seat) && own.includes(other.seat)) return NO_SLICES;
  return slicesOf(other.seat, other.view);
}

/** A claim, and what it gives to the one who made it. */
export interface OwnClaim extends Claim {
  readonly slices: Slices;
}

/** A claim of the member on this seat. */
export function makeClaim(seat: number, said: Claim): OwnClaim {
  return { ...said, slices: slicesOf(seat, said.view) };
}

/** What all of the claims give. */
export function inAll(claims: readonly [{ readonly slices: Slices }, ...{ readonly slices: Slices }[]]): Slices {
  return claims.map(({ slices }) => slices).reduce(both);
}

/**
 * What is held after a look at all Leases that shows the first of the claims, and whose claims are in the way of more.
 * `welcome`: what will be claimed next; the rest is not taken up any more.
 */
export function heldAfter(
  held: Slices,
  claims: readonly [OwnClaim, ...OwnClaim[]],
  welcome: Slices,
  me: Claiming,
  others: Iterable<Claimant>,
): { readonly held: Slices; readonly awaited: readonly number[] } {
  const claimed = inAll(claims);
  const kept = both(held, claimed);
  let gained = without(both(claimed, welcome), kept);
  const awaited: number[] = [];
  if (!gained.includes(1)) return { held: kept, awaited };
  for (const other of others) {
    const theirs = claimedBy(other, me, claims[0].view);
    if (both(gained, theirs).includes(1)) awaited.push(other.seat);
    gained = without(gained, theirs);
  }
  return { held: either(kept, gained), awaited };
}

/**
 * Which seats the member should believe to be taken, after what it has said. `expected`: those who join, and for whom it is
 * worth to wait. What a member works on it keeps until they claim it; what nobody works on is left to them, so that
 * processes that start together do not each read everything.
 */
export function targetOf(
  me: Claiming,
  said: Pick<Claim, "view" | "joining">,
  others: readonly Claimant[],
  expected: readonly number[],
): View {
  const foreign = others.filter((other) => other.rule !== me.rule && claimsAnything(other));
  // Members of both sorts never work at once. Who works goes on; of two who began together the lower seat does.
  const yields = said.view.length === 0 ? foreign.length > 0 : foreign.some(({ seat }) => seat < me.seat);
  if (yields) return [];
  const counts = ({ seat, joining }: Claimant) =>
    !joining || (expected.includes(seat) && (said.joining || said.view.includes(seat)));
  const equals = others.filter((other) => other.holder !== undefined && other.rule === me.rule && counts(other));
  return [...new Set([me.seat, ...equals.map(({ seat }) => seat)])].sort((a, b) => a - b);
}

/** Whether both are the same seats. */
export function isSameView(a: View, b: View): boolean {
  return a.length === b.length && a.every((seat, index) => seat === b[index]);
}
