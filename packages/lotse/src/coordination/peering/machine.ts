/**
 * Whether this process works or gives way: a pure machine over what peering objects say, what this process has written into
 * them, and time. One object for the whole cluster, or one in each served namespace: the process works when all let it.
 *
 * As in Kopf, a live peer with a higher priority pauses this one, and so does one with the same priority that is made by
 * another framework: then all pause. Equal peers made by Lotse have an order, the first of them works. What Kopf cannot do:
 * a process begins only after the server has confirmed a record of it that says so, and when every other peer of Lotse says
 * that it has stopped, or is dead. Hence, as long as their clocks agree, no two of them work at the same time.
 */
import { isFenceOpen, type Moment } from "../lease/index.ts";
import { type PeerRecord, parsePeers } from "../peers/index.ts";

/** This process. */
export interface OwnPeer {
  readonly identity: string;
  readonly instance: string;
  /** RFC 3339, in UTC. */
  readonly since: string;
  readonly priority: number;
  readonly lifetimeMs: number;
  /** Waits for the object, instead of working as if alone. */
  readonly mandatory: boolean;
}

/** `waiting`: for the object, the server's word, or a peer that has not stopped yet. The others as in health. */
export type Stance = "waiting" | "working" | "standby" | "paused";

/** What a process says of itself; see `LotsePeer`. */
export type Says = "working" | "paused";

interface SeenPeer extends PeerRecord {
  /** When this very record was first seen, by the own monotonic clock. */
  readonly seenAt: number;
}

/** One peering object. */
interface PeeringObject {
  readonly scope: string;
  readonly version: string | undefined;
  readonly peers: ReadonlyMap<string, SeenPeer>;
  /** When it was first seen (monotonic). */
  readonly since: number;
  /** The own record, as the server has confirmed it; `at`: when it was sent. */
  readonly written?: { readonly says: Says; readonly at: Moment } | undefined;
  /** Monotonic: the record is renewed then. */
  readonly renewAt: number;
  /** Monotonic: no write before, because the last one failed. */
  readonly retryAt: number;
  /** Monotonic: whoever removes the record is answered then, and not before. */
  readonly answerAt: number;
  readonly removeAt: number;
  /** The server drops fields that Kopf does not know. */
  readonly prunes: boolean;
  /** Another process that calls itself as this one does. */
  readonly double?: SeenPeer | undefined;
}

/** What is known; see the module comment. */
export interface PeeringState {
  /** Whether it is known where to look for objects. */
  readonly looked: boolean;
  /** Where objects are looked for: undefined when it is known which there are, else why not. */
  readonly scopes: ReadonlyMap<string, string | undefined>;
  readonly objects: ReadonlyMap<string, PeeringObject>;
  readonly stance: Stance;
  /** Since when it may not work, while something of it still runs (monotonic). */
  readonly yieldingSince?: number | undefined;
}

/** What is to be done. */
export interface Decision {
  readonly stance: Stance;
  /** Why it does not work, in words. */
  readonly reason?: string | undefined;
  /** Who works instead. */
  readonly holder?: string | undefined;
  /** Peers with the same priority, made by another framework: everybody pauses. */
  readonly equals: readonly string[];
  /** It waits for an object that is not there. */
  readonly absent: boolean;
  /** Own records to be written. */
  readonly writes: readonly { readonly key: string; readonly says: Says; readonly why: WriteReason }[];
  /** Records of dead peers to be removed. */
  readonly removals: readonly { readonly key: string; readonly version?: string; readonly identities: string[] }[];
  /** When to decide again at the latest (monotonic). */
  readonly lookAt: number;
}

/** Why a record is written. `missing`: another peer has removed it. */
export type WriteReason = "joins" | "turns" | "renews" | "missing";

/** What runs gets so long to stop before others begin: its writes are refused from the first moment on. */
export const YIELDING_MS = 10_000;

/** An object that appears while the process works interrupts it only if its record is not confirmed within this time. */
const JOINING_MS = 5_000;

/** Records of dead peers are looked after by all peers: one try of each, then a pause. */
const REMOVAL_PAUSE_MS = 5_000;

/** So much before others take the process for dead it stops by itself. */
export function marginMs(lifetimeMs: number): number {
  return Math.min(2_000, lifetimeMs / 10);
}

/**
 * Time between two renewals; `random` is in [0, 1). Kopf renews some seconds before the end of a lifetime: a slow server, or
 * clocks that differ by as much, and a peer that is alive is taken for dead.
 */
export function renewalMs(lifetimeMs: number, random: number): number {
  return lifetimeMs * (0.5 - 0.1 * random);
}

/** Nothing is known yet. */
export const UNKNOWN: PeeringState = { looked: false, scopes: new Map(), objects: new Map(), stance: "waiting" };

/** All places are told where objects are looked for at present. */
export function scopesKnown(state: PeeringState): PeeringState {
  return { ...state, looked: true };
}

/** Objects are looked for here, too; `problem`: why it is not known yet which there are. */
export function scopeIs(state: PeeringState, scope: string, problem: string | undefined): PeeringState {
  return { ...state, scopes: new Map(state.scopes).set(scope, problem) };
}

/** Objects are looked for here no longer. */
export function scopeClosed(state: PeeringState, scope: string): PeeringState {
  return {
    ...state,
    scopes: new Map([...state.scopes].filter(([one]) => one !== scope)),
    objects: new Map([...state.objects].filter(([, object]) => object.scope !== scope)),
  };
}

/** There is no such object, or no longer. */
export function objectGone(state: PeeringState, key: string): PeeringState {
  return { ...state, objects: new Map([...state.objects].filter(([one]) => one !== key)) };
}

/** What an object says now. */
export interface Sighting {
  readonly scope: string;
  readonly key: string;
  readonly version: string | undefined;
  readonly status: unknown;
}

/** The stream has shown an object, or the server's answer to an own write has. */
export function objectSeen(state: PeeringState, own: OwnPeer, sighting: Sighting, at: Moment): PeeringState {
  const { scope, key, version, status } = sighting;
  const before = state.objects.get(key);
  const peers = new Map<string, SeenPeer>();
  for (const [identity, record] of parsePeers(status)) {
    const known = before?.peers.get(identity);
    peers.set(identity, { ...record, seenAt: known?.text === record.text ? known.seenAt : at.monotonic });
  }
  const mine = peers.get(own.identity);
  const foreign = before?.written && !before.prunes && mine && mine.lotse?.instance !== own.instance;
  const object: PeeringObject = {
    ...(before ?? FRESH(at)),
    scope,
    version,
    peers,
    ...(foreign && { double: mine }),
  };
  return withObject(state, key, object);
}

const FRESH = ({ monotonic: since }: Moment) => ({
  ...{ since, renewAt: since, retryAt: since, answerAt: since, removeAt: since },
  prunes: false,
});

/** What the server has confirmed. */
export interface Confirmation {
  readonly says: Says;
  /** When it was sent: from then on others count. */
  readonly sentAt: Moment;
  /** Until the next renewal. */
  readonly renewalMs: number;
}

/** The server has taken the own record; its answer is told by {@link objectSeen} as well, after this. */
export function recordWritten(
  state: PeeringState,
  own: OwnPeer,
  sighting: Sighting,
  { says, sentAt, renewalMs: pause }: Confirmation,
): PeeringState {
  const object = state.objects.get(sighting.key);
  if (!object) return state;
  const mine = parsePeers(sighting.status).get(own.identity);
  return withObject(state, sighting.key, {
    ...object,
    written: { says, at: sentAt },
    renewAt: sentAt.monotonic + pause,
    // A peer whose clock is wrong may remove the record again and again: it is not answered at once each time.
    answerAt: sentAt.monotonic + Math.max(1_000, own.lifetimeMs / 10),
    prunes: mine !== undefined && mine.lotse === undefined,
  });
}

/** The server did not take the own record. */
export function writeFailed(state: PeeringState, key: string, at: Moment, pauseMs: number): PeeringState {
  const object = state.objects.get(key);
  return object ? withObject(state, key, { ...object, retryAt: at.monotonic + pauseMs }) : state;
}

/** Dead peers were tried to be removed. */
export function removalTried(state: PeeringState, key: string, at: Moment): PeeringState {
  const object = state.objects.get(key);
  return object ? withObject(state, key, { ...object, removeAt: at.monotonic + REMOVAL_PAUSE_MS }) : state;
}

function withObject(state: PeeringState, key: string, object: PeeringObject): PeeringState {
  return { ...state, objects: new Map(state.objects).set(key, object) };
}

/** Whether a write of the operator may leave at this moment; cheap, because it is asked before each. */
export function mayPass(state: PeeringState, own: OwnPeer, at: Moment): boolean {
  return state.stance === "working" && [...state.objects.values()].every((object) => counts(object, own, at, true));
}

/** Whether others believe in this process for long enough. */
function counts(object: PeeringObject, own: OwnPeer, at: Moment, working: boolean): boolean {
  if (!object.written) return working && at.monotonic < object.since + JOINING_MS;
  return isFresh(object, own, at) && object.written.says === "working";
}

function isFresh({ written }: PeeringObject, own: OwnPeer, at: Moment): boolean {
  return isFenceOpen(written?.at, at, own.lifetimeMs - marginMs(own.lifetimeMs));
}

/** When a peer is dead, by the own monotonic clock: when its own time runs out, or it has not been heard of for so long. */
function endsAt({ lastSeen, lifetimeMs, seenAt }: SeenPeer, { now, monotonic }: Moment): number {
  const observed = seenAt + lifetimeMs;
  return lastSeen === undefined ? observed : Math.min(observed, monotonic + lastSeen + lifetimeMs - now);
}

/** What one object means for this process. */
interface Verdict {
  readonly blocked?: { readonly by: SeenPeer; readonly how: "higher" | "equal" | "first" } | undefined;
  readonly equals: readonly string[];
  /** Peers of Lotse that have to stop, and say that they have not yet. */
  readonly inTheWay: readonly string[];
  readonly dead: readonly string[];
  /** When one of them ends by itself (monotonic). */
  readonly endsAt: number;
}

function judge(object: PeeringObject, own: OwnPeer, at: Moment): Verdict {
  const others = [...object.peers.values()].filter(({ identity }) => identity !== own.identity);
  const dead = others.filter((peer) => endsAt(peer, at) <= at.monotonic);
  const live = [...others, ...(object.double ? [object.double] : [])].filter((peer) => endsAt(peer, at) > at.monotonic);
  const higher = live.filter(({ priority }) => priority > own.priority);
  const same = live.filter(({ priority }) => priority === own.priority);
  const strangers = same.filter(({ lotse }) => lotse === undefined);
  const first = same.find((peer) => comesBefore(peer, own));
  const blocked =
    (higher.length > 0 && { by: highest(higher), how: "higher" as const }) ||
    (strangers[0] && { by: strangers[0], how: "equal" as const }) ||
    (first && { by: first, how: "first" as const }) ||
    undefined;
  const rivals = live.filter(({ priority, lotse }) => priority >= own.priority || lotse?.says === "working");
  return {
    blocked,
    equals: strangers.map(({ identity }) => identity),
    inTheWay: live.filter(({ lotse }) => lotse?.says === "working").map(({ identity }) => identity),
    dead: dead.map(({ identity }) => identity),
    endsAt: Math.min(...rivals.map((peer) => endsAt(peer, at))),
  };
}

function comesBefore({ lotse }: SeenPeer, own: OwnPeer): boolean {
  if (!lotse) return false;
  return lotse.since === own.since ? lotse.instance < own.instance : lotse.since < own.since;
}

function highest(peers: readonly SeenPeer[]): SeenPeer {
  return peers.reduce((one, other) => (other.priority > one.priority ? other : one));
}

/**
 * What follows at this time. `running`: something of the operator may still run, because it works or has not stopped yet.
 * The returned state is the next one.
 */
export function decide(
  state: PeeringState,
  own: OwnPeer,
  running: boolean,
  at: Moment,
): { readonly state: PeeringState; readonly decision: Decision } {
  const verdicts = [...state.objects].map(([key, object]) => ({ key, object, ...judge(object, own, at) }));
  const unknown = [...state.scopes.values()].find((problem) => problem !== undefined);
  const without = own.mandatory && [...state.scopes.keys()].some((scope) => !hasObject(state, scope));
  const worst =
    verdicts.find(({ blocked }) => blocked?.how !== "first" && blocked) ?? verdicts.find((one) => one.blocked);
  const allowed = state.looked && unknown === undefined && !without && !worst;
  const yieldingSince = !allowed && running ? (state.yieldingSince ?? at.monotonic) : undefined;
  const yields = yieldingSince !== undefined && at.monotonic < yieldingSince + YIELDING_MS;
  const says: Says = allowed || yields ? "working" : "paused";
  const wasWorking = state.stance === "working";
  const confirmed = verdicts.every(({ object }) => counts(object, own, at, wasWorking));
  const inTheWay = wasWorking ? [] : verdicts.flatMap((one) => one.inTheWay);

  const stand = (): Pick<Decision, "stance" | "reason" | "holder"> => {
    if (!state.looked || unknown !== undefined) return { stance: "waiting", reason: unknown ?? NOT_LOOKED };
    if (without) return { stance: "waiting", reason: "the peering object is not there" };
    if (worst?.blocked) return standingBack(worst.blocked);
    if (!confirmed) return { stance: "waiting", reason: "the own record in the peering object is not confirmed" };
    if (inTheWay.length > 0) {
      return { stance: "waiting", reason: `${inTheWay.join(", ")} has not stopped yet`, holder: inTheWay[0] };
    }
    return { stance: "working" };
  };
  const stood = stand();
  const writes = verdicts.flatMap(({ key, object }) => {
    const why = writeReason(object, own, says, at);
    return why === undefined ? [] : [{ key, says, why }];
  });
  const removals = verdicts
    .filter(({ object, dead }) => dead.length > 0 && object.removeAt <= at.monotonic)
    .map(({ key, object: { version }, dead }) => ({ key, ...(version && { version }), identities: [...dead] }));
  const validMs = own.lifetimeMs - marginMs(own.lifetimeMs);
  const times = verdicts.flatMap(({ object, endsAt: end, dead }) => [
    ...[end, object.renewAt, object.retryAt, object.answerAt],
    ...(dead.length > 0 ? [object.removeAt] : []),
    object.written ? object.written.at.monotonic + validMs : object.since + JOINING_MS,
  ]);
  if (yieldingSince !== undefined) times.push(yieldingSince + YIELDING_MS);
  const lookAt = Math.min(...times.filter((time) => time > at.monotonic));
  return {
    state: { ...state, stance: stood.stance, yieldingSince },
    decision: {
      ...stood,
      equals: worst?.equals ?? [],
      absent: state.looked && unknown === undefined && without,
      writes,
      removals,
      lookAt,
    },
  };
}

const NOT_LOOKED = "the peering object has not been looked for yet";

function hasObject(state: PeeringState, scope: string): boolean {
  return [...state.objects.values()].some((object) => object.scope === scope);
}

function standingBack({ by, how }: NonNullable<Verdict["blocked"]>): Pick<Decision, "stance" | "reason" | "holder"> {
  const holder = by.identity;
  const why = by.message === undefined ? "" : `: ${by.message}`;
  if (how === "higher") {
    return { stance: "paused", holder, reason: `${holder} has the higher priority ${by.priority}${why}` };
  }
  if (how === "first") return { stance: "standby", holder, reason: `${holder} has the same priority and came first` };
  return {
    stance: "paused",
    holder,
    reason: `${holder} has the same priority ${by.priority}, so all of them pause${why}`,
  };
}

/** Why the own record has to be written now; undefined when it need not, or may not yet. */
function writeReason(object: PeeringObject, own: OwnPeer, says: Says, at: Moment): WriteReason | undefined {
  const { written, renewAt, retryAt, answerAt, peers, double } = object;
  if (at.monotonic < retryAt) return undefined;
  if (!written) return "joins";
  if (at.monotonic >= renewAt || !isFresh(object, own, at)) return "renews";
  if (written.says !== says) return "turns";
  const missing = !peers.has(own.identity) && !double;
  return missing && at.monotonic >= answerAt ? "missing" : undefined;
}
