/** How several processes of one operator share its work: what users write. Decisions about it are in `coordination/`. */
import { type Duration, durationMs, formatDuration } from "@lotse/client/meta";
import { DeclarationError } from "./errors.ts";

/** What every member of a coordination writes down of itself in a Lease. */
export interface LeaseOptions {
  /** The Lease's name. Default: the operator's name (shards: with `-shard-` and a number behind it, a Lease for each process). */
  readonly name?: string;
  /** Where it lies. Default: the namespace that the process runs in. */
  readonly namespace?: string;
  /** Who this process is, unlike all others. Default: `POD_NAME` with a random part, else host, process and a random part. */
  readonly identity?: string;
  /** After so long without a renewal the others take the process for gone. Default 15 s. */
  readonly duration?: Duration;
  /** After so long without a renewal the process itself stops to write. Shorter than `duration`. Default 10 s. */
  readonly renew?: Duration;
  /** Time between two renewals, or tries to get it. Default 2 s. */
  readonly retry?: Duration;
  /** Pauses with a lower priority do not concern this process. Default 0: all do. */
  readonly priority?: number;
}

/** One works, all others stand by; see {@link leader}. */
export interface LeaderCoordination extends LeaseOptions {
  readonly type: "leader";
}

/** What decides who works on an object: its uid, its namespace, or what a function says of it. */
export type ShardKey = "uid" | "namespace" | ((object: ShardedObject) => string);

/** What a function that chooses shards sees of an object: metadata alone, which all members have. */
export interface ShardedObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** All share the objects; see {@link shards}. */
export interface ShardsCoordination extends LeaseOptions {
  readonly type: "shards";
  readonly by: ShardKey;
}

/** Gives way to others, as Kopf does; see {@link peering}. */
export interface PeeringCoordination {
  readonly type: "peering";
  /** Of the peering object. Default `"default"`. */
  readonly name?: string;
  /** The highest works. Default 0; a developer's process has 666. */
  readonly priority?: number;
  /** How long the others believe in this process without a word of it. Default 60 s. */
  readonly lifetime?: Duration;
  readonly identity?: string;
  /** Without the object: `true` waits for it, `false` (default) works as if alone. */
  readonly mandatory?: boolean;
  /** Whether the object is a `ClusterKopfPeering`. Default: whether the operator serves the whole cluster. */
  readonly clusterwide?: boolean;
  /** No log lines about renewals. */
  readonly stealth?: boolean;
}

/** How processes of one operator share its work. */
export type Coordination = "alone" | "leader" | LeaderCoordination | ShardsCoordination | PeeringCoordination;

/** The same, in one form. */
export type CoordinationPlan =
  | { readonly type: "alone" }
  | (LeaderCoordination & LeaseTimes)
  | (ShardsCoordination & LeaseTimes)
  | PeeringCoordination;

/** The times of a Lease, in milliseconds. */
export interface LeaseTimes {
  readonly durationMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** A try to get or renew a Lease may come this much later than planned, so that many processes do not ask at once. */
export const LEASE_JITTER = 1.2;

const DEFAULTS = { duration: "15s", renew: "10s", retry: "2s" } as const;

/**
 * One process works, all others are ready to take over: a Lease says which.
 *
 * @example
 * ```ts
 * new Operator({ name: "rates", coordination: leader({ duration: "15s", renew: "10s", retry: "2s" }) });
 * ```
 */
export function leader(options: LeaseOptions = {}): LeaderCoordination {
  leaseTimes(options);
  return { type: "leader", ...options };
}

/**
 * All processes share the objects, each object has one of them at a time.
 *
 * @example
 * ```ts
 * new Operator({ name: "rates", coordination: shards({ by: "namespace" }) });
 * ```
 */
export function shards({ by = "uid", ...options }: LeaseOptions & { readonly by?: ShardKey } = {}): ShardsCoordination {
  leaseTimes(options);
  return { type: "shards", by, ...options };
}

/**
 * The process with the highest priority works, all others pause: in the form of Kopf's peering, so that operators of both
 * frameworks give way to each other.
 *
 * @example
 * ```ts
 * new Operator({ name: "rates", coordination: peering({ name: "rates", priority: 100 }) });
 * ```
 */
export function peering(options: Omit<PeeringCoordination, "type"> = {}): PeeringCoordination {
  const { lifetime, priority } = options;
  if (lifetime !== undefined && durationMs(lifetime) < 1_000) {
    throw new DeclarationError(`a peer's lifetime of ${formatDuration(durationMs(lifetime))} is too short`, {
      hint: 'it is renewed some seconds before it ends: write at least "15s"',
    });
  }
  if (priority !== undefined && !Number.isInteger(priority)) {
    throw new DeclarationError(`a peer's priority is a whole number, and not ${priority}`, {
      hint: "peering({ priority: 100 })",
    });
  }
  return { type: "peering", ...options };
}

/** What a coordination means, in one form; throws when it cannot work. */
export function planCoordination(coordination: Coordination = "alone"): CoordinationPlan {
  if (coordination === "alone") return { type: "alone" };
  if (coordination === "leader") return { ...leader(), ...leaseTimes({}) };
  if (typeof coordination === "object" && coordination !== null) {
    if (coordination.type === "peering") return peering(coordination);
    if (coordination.type === "leader" || coordination.type === "shards") {
      return { ...coordination, ...leaseTimes(coordination) };
    }
  }
  throw new DeclarationError(`${JSON.stringify(coordination)} is no coordination`, {
    hint: 'write "alone", "leader", leader({…}), shards({…}) or peering({…})',
  });
}

/** The times of a Lease; throws when a holder could not keep it. */
export function leaseTimes({ duration, renew, retry }: Pick<LeaseOptions, "duration" | "renew" | "retry">): LeaseTimes {
  const durationMillis = durationMs(duration ?? DEFAULTS.duration);
  const renewMs = durationMs(renew ?? DEFAULTS.renew);
  const retryMs = durationMs(retry ?? DEFAULTS.retry);
  const told = {
    duration: formatDuration(durationMillis),
    renew: formatDuration(renewMs),
    retry: formatDuration(retryMs),
  };
  if (durationMillis < 1_000) {
    throw new DeclarationError(`a Lease of ${told.duration} is too short`, {
      hint: "Leases are kept in whole seconds: at least 1s",
    });
  }
  if (renewMs >= durationMillis) {
    throw new DeclarationError(
      `a Lease of ${told.duration} that is renewed within ${told.renew} may be lost while it is held`,
      {
        hint: "`renew` has to be shorter than `duration`: 10s and 15s, for instance",
      },
    );
  }
  if (retryMs <= 0 || retryMs * LEASE_JITTER >= renewMs) {
    throw new DeclarationError(`a Lease that is renewed every ${told.retry} cannot be renewed within ${told.renew}`, {
      hint: "`retry` has to fit into `renew` more than once: 2s and 10s, for instance",
    });
  }
  return { durationMs: durationMillis, renewMs, retryMs };
}
