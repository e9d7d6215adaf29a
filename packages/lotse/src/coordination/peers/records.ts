/**
 * What peers write down of themselves: in the status of a peering object, by identity, in Kopf's form. Pure. A peer that is
 * made by Lotse adds a field of its own, which Kopf passes over: by it such peers know each other, and hand over without
 * a moment in which two of them work.
 */
import { isObject } from "@lotse/client/meta";

/** The field of a record that only peers made by Lotse have. */
export const LOTSE_FIELD = "lotse";

/** What a peer of Lotse says beside Kopf's fields. */
export interface LotsePeer {
  /** `working`: something may run · `paused`: nothing does, and nothing will before it says otherwise. */
  readonly says: "working" | "paused";
  /** When the process took part first: of equal peers the one who came first works. */
  readonly since: string;
  /** Tells two processes apart that call themselves the same. */
  readonly instance: string;
}

/** One peer, as its record says. */
export interface PeerRecord {
  readonly identity: string;
  readonly priority: number;
  readonly lifetimeMs: number;
  /** Wall-clock time of the peer; undefined where it does not say, and is taken to be there. */
  readonly lastSeen: number | undefined;
  /** Why people pause others; Kopf passes over it. */
  readonly message: string | undefined;
  /** Undefined: it is made by another framework. */
  readonly lotse: LotsePeer | undefined;
  /** The whole record: whether it has changed is whether the peer lives. */
  readonly text: string;
}

/** What cannot be read counts as Kopf's defaults do. */
const DEFAULT_LIFETIME_S = 60;

/** Reads the status of a peering object; what is no record is left out. */
export function parsePeers(status: unknown): ReadonlyMap<string, PeerRecord> {
  const peers = new Map<string, PeerRecord>();
  if (!isObject(status)) return peers;
  for (const [identity, value] of Object.entries(status)) {
    if (isObject(value)) peers.set(identity, parsePeer(identity, value));
  }
  return peers;
}

function parsePeer(identity: string, value: Readonly<Record<string, unknown>>): PeerRecord {
  return {
    identity,
    priority: numberOf(value.priority, 0),
    lifetimeMs: numberOf(value.lifetime, DEFAULT_LIFETIME_S) * 1_000,
    lastSeen: parseTime(value.lastseen),
    message: typeof value.message === "string" && value.message !== "" ? value.message : undefined,
    lotse: parseLotse(value[LOTSE_FIELD]),
    text: JSON.stringify(value),
  };
}

function parseLotse(value: unknown): LotsePeer | undefined {
  if (!isObject(value)) return undefined;
  const { says, since, instance } = value;
  if ((says !== "working" && says !== "paused") || typeof since !== "string" || typeof instance !== "string") {
    return undefined;
  }
  return { says, since, instance };
}

function numberOf(value: unknown, otherwise: number): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : otherwise;
}

/** Kopf means UTC where no zone is told. */
function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? value : `${value}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** What a record is made of. */
export interface PeerDraft {
  readonly priority: number;
  readonly lifetimeMs: number;
  readonly now: number;
  readonly message?: string | undefined;
  readonly lotse?: LotsePeer | undefined;
}

/** A record as it is written. Kopf reads whole seconds only. */
export function formatPeer({ priority, lifetimeMs, now, message, lotse }: PeerDraft): Record<string, unknown> {
  return {
    priority,
    lifetime: wholeSeconds(lifetimeMs),
    lastseen: new Date(now).toISOString(),
    ...(message !== undefined && { message }),
    ...(lotse && { [LOTSE_FIELD]: lotse }),
  };
}

/** Seconds, rounded up: nobody shall be taken for dead before the time that was asked for. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
