/** What a member knows, hears and does: the words of membership.ts and plans.ts. */
import { LEASE_JITTER } from "../../declare/index.ts";
import type { Moment } from "../lease/index.ts";
import { isSameView, makeClaim, type OwnClaim, targetOf } from "./claims.ts";
import type { Slices, View } from "./rendezvous.ts";
import type { Claim, Seat } from "./seat.ts";
import { type Ghost, otherSeats, type Sight } from "./sights.ts";

/** Who a member is, and how patient. */
export interface Member {
  /** This run of this process, unlike every other. */
  readonly run: string;
  /** How the slice of an object is found. */
  readonly rule: string;
  readonly durationMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** One stay of a member on one seat. */
export interface Stay {
  readonly seat: number;
  /** By this its Lease is known as the own one. */
  readonly writer: string;
  /** The newest that is known of the Lease: what the next write is based on. */
  readonly base: Seat;
  /** The claim that was last seen to be stored, and those that were sent since: each of them may be stored. */
  readonly claims: readonly [OwnClaim, ...OwnClaim[]];
  /** The highest epoch that is known to be stored. */
  readonly stored: number;
  /** A look at all Leases has shown it. */
  readonly seen: boolean;
  readonly held: Slices;
  /** When the last renewal that succeeded was sent. */
  readonly renewed: Moment;
  /** It was not renewed in time: nothing may be written. */
  readonly late: boolean;
}

/** A seat that was asked for. */
export interface Taking {
  readonly seat: number;
  readonly writer: string;
  readonly said: Claim;
  readonly sentAt: Moment;
}

/** Everything is let go that is not the member's own among these seats. */
export interface Letting {
  readonly view: View;
  /** What the member keeps. */
  readonly slices: Slices;
  /** Which task it is: only its own answer counts. */
  readonly id: number;
  /** `due`: not told yet · `done`: nothing runs any more. */
  readonly stage: "due" | "running" | "done";
}

/** A request about the member's own seat. */
export type Asked = "take" | "write" | "read" | "empty";

/** Where a member stands, with all that the next decision needs. Times are monotonic. */
export interface MemberState {
  /** All seats at one moment: the newest such moment that is known. */
  readonly seats: readonly Seat[] | undefined;
  /** When each seat was last seen to change. */
  readonly sights: ReadonlyMap<number, Sight>;
  /** Seats whose holders are about to claim their part, and have not taken too long for it. */
  readonly expected: readonly number[];
  /** Those whose Lease has vanished: they may not know it yet. */
  readonly ghosts: readonly Ghost[];
  readonly stay: Stay | undefined;
  /** The seat that was asked for, while it is not known whether it was got. */
  readonly taking: Taking | undefined;
  /** What is being let go, and was not given up yet. */
  readonly letting: Letting | undefined;
  readonly asked: { readonly what: Asked; readonly at: number } | undefined;
  /** What is known of the own Lease is not the newest. */
  readonly outdated: boolean;
  /** Conflicts in a row. */
  readonly conflicts: number;
  /** No request about the own seat before this, unless there is something to say. */
  readonly nextAt: number;
  /** The seat that is being emptied because its holder is gone. */
  readonly expelling: number | undefined;
  /** Seats whose claims this member waits for. */
  readonly awaited: readonly number[];
  /** How many seats were asked for. */
  readonly stays: number;
  /** How often something was let go. */
  readonly lettings: number;
  /** The objects are known: it may claim its part. Before that it only says that it is there. */
  readonly warm: boolean;
  /** The process is about to end: it takes nothing up. */
  readonly leaving: boolean;
  /** Everything is written, and the seat is given back; by then at the latest it is left to run out. */
  readonly releaseBy: number | undefined;
  readonly over: boolean;
}

/** What has happened. */
export type MemberInput =
  /** All seats at one moment. */
  | { readonly is: "observed"; readonly seats: readonly Seat[] }
  /** The own seat was taken or held on by a write that was sent at `sentAt`. */
  | { readonly is: "written"; readonly seat: Seat; readonly sentAt: Moment }
  /** What the Lease of the own seat is; undefined: there is none. */
  | { readonly is: "read"; readonly seat: Seat | undefined }
  /** The write was not based on the newest record. */
  | { readonly is: "conflict" }
  /** No answer, or a refusal: a write may have landed all the same. */
  | { readonly is: "failed" }
  /** The own seat was given back. */
  | { readonly is: "emptied" }
  /** What came of emptying another's seat will be observed. */
  | { readonly is: "expelled"; readonly seat: number }
  /** Nothing runs any more for what was let go. */
  | { readonly is: "let go"; readonly id: number }
  | { readonly is: "due" }
  /** The objects are known. */
  | { readonly is: "warm" }
  | { readonly is: "leave" }
  | { readonly is: "release" };

/** What to do, beside what is under way. */
export type MemberTask =
  /** Answered by `written`, `conflict` or `failed`. `before` is the seat's Lease where there is one. */
  | {
      readonly run: "take";
      readonly seat: number;
      readonly before: Seat | undefined;
      readonly writer: string;
      readonly said: Claim;
    }
  | { readonly run: "write"; readonly before: Seat; readonly writer: string; readonly said: Claim }
  /** Answered by `read` or `failed`. */
  | { readonly run: "read"; readonly seat: number }
  /** Answered by `emptied`, `conflict` or `failed`. */
  | { readonly run: "empty"; readonly before: Seat; readonly writer: string }
  /** Answered by `expelled`, in any case. */
  | { readonly run: "expel"; readonly before: Seat }
  /** What is not owned any more is let go; answered by `let go`. */
  | { readonly run: "let go"; readonly id: number; readonly why: string };

/** What follows from an input. */
export interface MemberStep {
  readonly state: MemberState;
  readonly tasks: readonly MemberTask[];
  /** When to look again, by the monotonic clock. */
  readonly wakeAt: number;
}

/** What a decision depends on besides the state and the input. */
export interface MemberInputs {
  readonly now: Moment;
  readonly random: () => number;
  readonly member: Member;
}

/** The newest claim that was sent. */
export function lastOf(stay: Pick<Stay, "claims">): OwnClaim {
  return stay.claims.at(-1) as OwnClaim;
}

/** What the member should claim: the newest claim itself, if that is it. */
export function wanted(state: MemberState, stay: Stay, member: Member): OwnClaim {
  return state.warm ? wantedWhenWarm(state, stay, member) : lastOf(stay);
}

/** The same as if the objects were known already. */
export function wantedWhenWarm(
  { seats, expected, leaving }: MemberState,
  stay: Pick<Stay, "seat" | "claims" | "seen">,
  { rule }: Member,
): OwnClaim {
  const said = lastOf(stay);
  if (!stay.seen || !seats) return said;
  let view = targetOf({ seat: stay.seat, rule }, said, otherSeats(seats, stay), expected);
  // Who is about to leave claims no more than it has: to others that would only be in the way.
  if (leaving && view.length > 0) view = [...new Set([...said.view, ...view])].sort((a, b) => a - b);
  const isSame = isSameView(view, said.view) && !said.joining;
  return isSame ? said : makeClaim(stay.seat, { epoch: said.epoch + 1, view, joining: false });
}

/** Whether it takes part, and leaves everything to others, who share in another way. */
export function isYielding(stay: Stay | undefined): boolean {
  if (!stay?.seen) return false;
  const { view, joining } = lastOf(stay);
  return view.length === 0 && !joining;
}

/** Between two requests. Those of many processes do not come at once. */
export function pause({ member, random }: Pick<MemberInputs, "member" | "random">): number {
  return member.retryMs * (1 + (LEASE_JITTER - 1) * random());
}
