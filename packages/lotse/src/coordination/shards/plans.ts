/** What a member does next: to be asked after every input. Pure. */
import { type OwnClaim, targetOf } from "./claims.ts";
import {
  type Asked,
  type Letting,
  lastOf,
  type MemberInputs,
  type MemberState,
  type MemberTask,
  type Stay,
  wanted,
} from "./member.ts";
import { both, without } from "./rendezvous.ts";
import type { Claim, Seat } from "./seat.ts";

/** What follows, and what there is to do for it. */
interface Planned {
  readonly state: MemberState;
  readonly task?: MemberTask;
}

/** What the member should give up is let go first. */
export function planLetGo(state: MemberState, { member }: MemberInputs): Planned {
  const { stay, letting } = state;
  if (letting?.stage === "due") return tell(state, letting, "its seat is lost");
  if (!stay || letting || state.releaseBy !== undefined) return { state };
  const { view, slices, epoch } = wanted(state, stay, member);
  const isNews = epoch > lastOf(stay).epoch;
  if (!isNews || !without(stay.held, slices).includes(1)) return { state };
  const id = state.lettings + 1;
  const begun: Letting = { view, slices, id, stage: "due" };
  return tell({ ...state, lettings: id }, begun, "other members get some of the objects");
}

function tell(state: MemberState, letting: Letting, why: string): Planned {
  return {
    state: { ...state, letting: { ...letting, stage: "running" } },
    task: { run: "let go", id: letting.id, why },
  };
}

/** The next request about the own seat. One at a time. */
export function planRequest(state: MemberState, given: MemberInputs): Planned {
  if (state.asked || state.over) return { state };
  const { stay, taking } = state;
  const now = given.now.monotonic;
  const ask = (what: Asked, task: MemberTask, more: Partial<MemberState> = {}): Planned => ({
    state: { ...state, ...more, asked: { what, at: now } },
    task,
  });
  if (state.releaseBy !== undefined && (now >= state.releaseBy || (!stay && !taking))) {
    return { state: { ...state, stay: undefined, over: true } };
  }
  const at = taking ?? stay;
  if (at && (state.outdated || taking)) {
    return now < state.nextAt ? { state } : ask("read", { run: "read", seat: at.seat });
  }
  if (stay) return planWrite(state, stay, given, ask);
  if (state.leaving || state.letting || !state.seats || now < state.nextAt) return { state };
  return planTake(state, state.seats, given, ask);
}

type Ask = (what: Asked, task: MemberTask, more?: Partial<MemberState>) => Planned;

function planWrite(state: MemberState, stay: Stay, { now, member }: MemberInputs, ask: Ask): Planned {
  const { base: before, writer } = stay;
  const due = now.monotonic >= state.nextAt;
  if (state.releaseBy !== undefined) return due ? ask("empty", { run: "empty", before, writer }) : { state };
  const said = lastOf(stay);
  const { letting } = state;
  // While something is let go nothing else is said: it may be what runs.
  const next = letting ? { ...letting, epoch: said.epoch + 1 } : wanted(state, stay, member);
  const isNews = letting ? letting.stage === "done" : next.epoch > said.epoch;
  if (!isNews) return due ? ask("write", { run: "write", before, writer, said: saying(said) }) : { state };
  // After a failure even news waits; otherwise only renewals do.
  const hasFailed = state.conflicts > 0 || said.epoch > stay.stored;
  if (hasFailed && !due) return { state };
  const { epoch, view, slices } = next;
  const claims: [OwnClaim, ...OwnClaim[]] = [...stay.claims, { epoch, view, slices, joining: false }];
  return ask(
    "write",
    { run: "write", before, writer, said: { epoch, view, joining: false } },
    { letting: undefined, stay: { ...stay, claims, held: both(stay.held, slices) } },
  );
}

function saying({ epoch, view, joining }: OwnClaim): Claim {
  return { epoch, view, joining };
}

/** What a member says that takes a seat. */
function firstClaim(seat: number, seats: readonly Seat[], { warm }: MemberState, rule: string): Claim {
  const first: Claim = { epoch: 1, view: [], joining: !warm };
  if (!warm) return first;
  const others = seats.filter((other) => other.seat !== seat);
  return { ...first, view: targetOf({ seat, rule }, first, others, []) };
}

/** The lowest that nobody sits on. */
function freeSeat(seats: readonly Seat[]): number {
  let seat = 0;
  while (seats.some((other) => other.seat === seat && other.holder !== undefined)) seat++;
  return seat;
}

function planTake(state: MemberState, seats: readonly Seat[], { now, member }: MemberInputs, ask: Ask): Planned {
  const seat = freeSeat(seats);
  const said = firstClaim(seat, seats, state, member.rule);
  const before = seats.find((other) => other.seat === seat);
  const stays = state.stays + 1;
  const writer = `${member.run}/${stays}`;
  const taking = { seat, writer, said, sentAt: now };
  return ask("take", { run: "take", seat, before, writer, said }, { taking, stays });
}

/** A seat whose holder is gone is emptied, so that others can have what it had. */
export function planExpulsion(state: MemberState, { now, member }: MemberInputs): Planned {
  const { stay } = state;
  const cannot = !stay?.seen || stay.late || state.expelling !== undefined || state.releaseBy !== undefined;
  if (cannot) return { state };
  for (const { seat, at, freeAt, retryAt } of state.sights.values()) {
    if (seat.seat === stay.seat || seat.holder === undefined) continue;
    // A seat that this process asked for, and believed not to have got.
    const isOrphan = seat.writer?.startsWith(`${member.run}/`) === true;
    if (now.monotonic < Math.max(retryAt, isOrphan ? at : freeAt)) continue;
    return { state: { ...state, expelling: seat.seat }, task: { run: "expel", before: seat } };
  }
  return { state };
}

/** When something falls due by itself. What is due already waits for something else than time. */
export function wakeAt(state: MemberState, { now, member }: MemberInputs): number {
  const { stay } = state;
  if (state.over) return Number.POSITIVE_INFINITY;
  const times = [state.nextAt, ...state.ghosts.map(({ until }) => until)];
  for (const { expectedUntil } of state.sights.values()) if (expectedUntil !== undefined) times.push(expectedUntil);
  if (state.releaseBy !== undefined) times.push(state.releaseBy);
  if (stay) {
    times.push(stay.renewed.monotonic + member.renewMs);
    for (const { seat, freeAt, retryAt } of state.sights.values()) {
      if (seat.seat !== stay.seat && seat.holder !== undefined) times.push(retryAt, freeAt);
    }
  }
  return Math.min(...times.filter((time) => time > now.monotonic));
}
