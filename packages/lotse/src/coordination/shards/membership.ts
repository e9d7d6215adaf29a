/**
 * One member among those who share an operator's objects, as one pure function: `next(state, input)` says what to do then.
 * The I/O around it is in keeper.ts; why claims are safe is in claims.ts.
 *
 *     outside ──take a seat──► joining ──objects are known──► seated ──seats taken or left: let go, then claim──► seated
 *        ▲                                                   │ its seat was emptied by others, or its Lease is gone
 *        └───────────────── nothing runs any more ───────────┘
 *
 * What must stay true:
 * - Every write to a Lease is based on the newest record that is known of it: where another process was first, it fails.
 * - A seat is emptied only by its holder, or by a member that has not seen it change for its whole duration, by that
 *   member's own monotonic clock. No time that another process wrote down counts.
 * - A claim is written only after nothing runs any more for what it gives up.
 * - A look at all Leases that is older than what this member knows to be stored is no news.
 */
import { isFenceOpen, type Moment, requestMs } from "../lease/index.ts";
import { heldAfter, inAll, makeClaim, type OwnClaim } from "./claims.ts";
import {
  type Member,
  type MemberInput,
  type MemberInputs,
  type MemberState,
  type MemberStep,
  type MemberTask,
  pause,
  type Stay,
  type Taking,
  wanted,
  wantedWhenWarm,
} from "./member.ts";
import { planExpulsion, planLetGo, planRequest, wakeAt } from "./plans.ts";
import { both, either, NO_SLICES, type Slices } from "./rendezvous.ts";
import type { Seat } from "./seat.ts";
import { expectedOf, ghostsOf, otherSeats, sightsAfter, startAgain } from "./sights.ts";

/** So many conflicts in a row are answered at once; more say that another program writes all the time. */
const QUICK_CONFLICTS = 3;

/** How every member starts: it waits for the first look. */
export const BEGINNING: MemberState = {
  seats: undefined,
  sights: new Map(),
  expected: [],
  ghosts: [],
  stay: undefined,
  taking: undefined,
  letting: undefined,
  asked: undefined,
  outdated: false,
  conflicts: 0,
  nextAt: 0,
  expelling: undefined,
  awaited: [],
  stays: 0,
  lettings: 0,
  warm: false,
  leaving: false,
  releaseBy: undefined,
  over: false,
};

/** The decision: pure, so that every order of events can be tried. */
export function next(before: MemberState, input: MemberInput, given: MemberInputs): MemberStep {
  let state = judge(absorb(before, input, given), given);
  const tasks: MemberTask[] = [];
  for (const plan of [planLetGo, planRequest, planExpulsion]) {
    const planned = plan(state, given);
    state = planned.state;
    if (planned.task) tasks.push(planned.task);
  }
  return { state, tasks, wakeAt: wakeAt(state, given) };
}

/** What the member may begin with, now: what it holds and neither lets go nor is about to. */
export function ownedOf(state: MemberState, { member }: Pick<MemberInputs, "member">): Slices {
  const { stay } = state;
  if (!stay || stay.late || state.releaseBy !== undefined) return NO_SLICES;
  return both(stay.held, welcomeOf(state, stay, member));
}

/** What the member's writes may be about; the fence in time comes on top. */
export function heldOf({ stay, releaseBy }: MemberState): Slices {
  return stay && releaseBy === undefined ? stay.held : NO_SLICES;
}

/** What is worth its memory: what the member has, and what it gets when others have let go of it. Undefined: not known now. */
export function keptOf(state: MemberState, { member }: Pick<MemberInputs, "member">): Slices | undefined {
  const { stay, taking, warm } = state;
  if (!warm) return stay?.seen ? wantedWhenWarm(state, stay, member).slices : undefined;
  if (stay) return either(stay.held, wanted(state, stay, member).slices);
  return taking && makeClaim(taking.seat, taking.said).slices;
}

/** What the member will claim next, without what it is letting go. */
function welcomeOf(state: MemberState, stay: Stay, member: Member): Slices {
  const { letting } = state;
  return inAll([wanted(state, stay, member), ...(letting ? [letting] : [])]);
}

/** What is known after the input. */
function absorb(state: MemberState, input: MemberInput, given: MemberInputs): MemberState {
  const now = given.now.monotonic;
  const answered: MemberState = { ...state, asked: undefined };
  switch (input.is) {
    case "observed":
      return onObserved(state, input.seats, given);
    case "written":
      return onWritten(answered, input.seat, input.sentAt, given);
    case "read":
      return onRead(answered, input.seat, given);
    case "conflict": {
      const conflicts = state.conflicts + 1;
      if (state.taking) return { ...answered, conflicts, taking: undefined, nextAt: nextTryAt(state, now, given) };
      const nextAt = conflicts < QUICK_CONFLICTS ? now : now + pause(given);
      return { ...answered, conflicts, nextAt, outdated: true };
    }
    case "failed": {
      const nextAt = Math.max(now, (state.asked?.at ?? now) + pause(given));
      return { ...answered, nextAt, outdated: state.outdated || state.taking !== undefined };
    }
    case "emptied":
      return { ...answered, stay: undefined, over: true };
    case "expelled": {
      const sight = state.sights.get(input.seat);
      const sights = new Map(state.sights);
      if (sight) sights.set(input.seat, { ...sight, retryAt: now + pause(given) });
      return { ...state, expelling: undefined, sights };
    }
    case "let go": {
      const { letting, stay } = state;
      if (letting?.id !== input.id) return state;
      return { ...state, letting: stay && { ...letting, stage: "done" } };
    }
    case "leave":
      return { ...state, leaving: true };
    case "release":
      return { ...state, leaving: true, releaseBy: state.releaseBy ?? now + 2 * requestMs(given.member), nextAt: now };
    case "warm":
      return { ...state, warm: true };
    case "due":
      return state;
  }
}

/**
 * A seat that was to be taken has gone to another: which are free is told by the next look, or by one that came before the
 * answer.
 */
function nextTryAt({ seats = [], taking }: MemberState, now: number, given: MemberInputs): number {
  const isKnown = seats.some(({ seat, holder }) => seat === taking?.seat && holder !== undefined);
  return isKnown ? now : now + pause(given);
}

function onObserved(state: MemberState, seats: readonly Seat[], given: MemberInputs): MemberState {
  const { stay } = state;
  const sights = sightsAfter(state.sights, seats, given);
  const known: MemberState = { ...state, sights, expected: expectedOf(sights, given) };
  if (!stay) {
    const nextAt = state.conflicts > 0 ? given.now.monotonic : state.nextAt;
    return { ...known, seats, ghosts: ghostsOf(state, seats, given), nextAt };
  }
  const own = seats.find(({ seat }) => seat === stay.seat);
  if (own?.holder === undefined || own.writer !== stay.writer) {
    // The seat was lost, or this look is older than the stay: the server knows.
    const isNews = stay.seen && !known.outdated;
    return isNews ? { ...known, outdated: true, nextAt: given.now.monotonic } : known;
  }
  if (own.epoch < stay.stored) return known;
  const claims = stay.claims.filter(({ epoch }) => epoch >= own.epoch) as [OwnClaim, ...OwnClaim[]];
  const adopted: MemberState = {
    ...known,
    seats,
    ghosts: ghostsOf(state, seats, given),
    stay: { ...stay, claims, seen: true, stored: own.epoch },
  };
  return withGains(adopted, given);
}

/** Whatever no other claims is taken up. */
function withGains(state: MemberState, { member }: MemberInputs): MemberState {
  const { stay, seats, ghosts, leaving } = state;
  if (!stay?.seen || !seats || leaving) return state;
  const others = [...otherSeats(seats, stay), ...ghosts.map(({ seat }) => seat)];
  const welcome = welcomeOf(state, stay, member);
  const me = { seat: stay.seat, rule: member.rule };
  const { held, awaited } = heldAfter(stay.held, stay.claims, welcome, me, others);
  return { ...state, awaited, stay: { ...stay, held } };
}

function onWritten(state: MemberState, base: Seat, sentAt: Moment, given: MemberInputs): MemberState {
  const done: MemberState = {
    ...state,
    outdated: false,
    conflicts: 0,
    // Who gives its seat back has waited for this answer, and waits no longer.
    nextAt: state.releaseBy === undefined ? sentAt.monotonic + pause(given) : sentAt.monotonic,
    taking: undefined,
  };
  const { stay, taking } = state;
  if (taking) return { ...done, stay: seated(taking, base) };
  if (stay?.writer !== base.writer || !stay) return done;
  return { ...done, stay: { ...stay, base, stored: Math.max(stay.stored, base.epoch), renewed: sentAt } };
}

function seated({ seat, writer, said, sentAt }: Taking, base: Seat): Stay {
  const claims: [OwnClaim] = [makeClaim(seat, said)];
  return { seat, writer, base, claims, stored: said.epoch, seen: false, held: NO_SLICES, renewed: sentAt, late: false };
}

function onRead(state: MemberState, seat: Seat | undefined, given: MemberInputs): MemberState {
  const { stay, taking } = state;
  const done: MemberState = { ...state, outdated: false, taking: undefined };
  const writer = stay?.writer ?? taking?.writer;
  const isOwn = seat?.holder !== undefined && seat.writer === writer;
  if (taking && !stay) return isOwn ? { ...done, stay: seated(taking, seat) } : done;
  if (!stay) return done;
  if (isOwn) return { ...done, stay: { ...stay, base: seat, stored: Math.max(stay.stored, seat.epoch) } };
  // Another seat is taken only after nothing runs any more for what was lost.
  const lettings = state.lettings + 1;
  const letting = { view: [], slices: NO_SLICES, id: lettings, stage: "due" } as const;
  return { ...done, stay: undefined, letting, lettings, awaited: [], nextAt: given.now.monotonic };
}

/** What time has brought. */
function judge(state: MemberState, given: MemberInputs): MemberState {
  const { now, member } = given;
  const ghosts = state.ghosts.filter(({ until }) => until > now.monotonic);
  const expected = expectedOf(state.sights, given);
  const hasFaded = ghosts.length < state.ghosts.length || expected.length < state.expected.length;
  const faded = hasFaded ? withGains({ ...state, ghosts, expected }, given) : state;
  const { stay } = faded;
  if (!stay) return faded;
  const late = !isFenceOpen(stay.renewed, now, member.renewMs);
  if (late === stay.late) return faded;
  // While this member did not reach the server it saw nobody, and nobody is to blame for that.
  const sights = late ? faded.sights : startAgain(faded.sights, given);
  return { ...faded, sights, expected: expectedOf(sights, given), stay: { ...stay, late } };
}
