/** What an operator says of its own condition. Decisions only; who asks, and how, is in `endpoints`. */

/** One stream of objects. */
export interface StreamHealth {
  readonly kind: string;
  /** Absent: the whole cluster. */
  readonly namespace?: string | undefined;
  readonly phase: "listing" | "watching" | "waiting";
  /** For how long it has been in this phase. */
  readonly forMs: number;
  /** How long ago the last list, event or bookmark came; before the first: the stream was opened. */
  readonly quietMs: number;
  readonly objects: number;
  /** What it waits for. */
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  /** It only helps to know sooner what is found out anyway: the operator works without it. */
  readonly optional?: boolean | undefined;
}

/** A part of the API that does not answer: a group version, or `*` when the list of groups could not be had. */
export interface BrokenApi {
  readonly apiVersion: string;
  readonly error: string;
}

/** Where the API server asks the operator. */
export interface WebhookHealth {
  /** Whether it answers; undefined where it has nothing to answer. */
  readonly serving: boolean | undefined;
  /** Requests that are being answered. */
  readonly inFlight: number;
  /** Why the API server could not be told of it, or not of all. */
  readonly registration?: string | undefined;
  readonly certificate?:
    | {
        readonly notBefore: string | undefined;
        readonly notAfter: string | undefined;
        readonly problem: string | undefined;
      }
    | undefined;
}

/** How the coordination is, for health and metrics. */
export interface CoordinationHealth {
  readonly type: "leader" | "shards" | "peering";
  /** Who this process is. */
  readonly identity: string;
  /** `working`: on all objects, or on its share · `standby`: another works · `paused`: a person or a peer wants it so. */
  readonly state: "waiting" | "working" | "standby" | "paused";
  /** Who works instead, if known. */
  readonly holder?: string | undefined;
  /** Why it is paused, or cannot take part. */
  readonly reason?: string | undefined;
  /** Who shares the objects, as far as this process knows. */
  readonly members?: readonly string[] | undefined;
  /** How often this process has changed its mind about that. */
  readonly epoch?: number | undefined;
  /** The part of the objects that this process works on, from 0 to 1. */
  readonly share?: number | undefined;
  /** How long ago the Lease was renewed. */
  readonly renewedMs?: number | undefined;
}

/** The operator as a whole. */
export interface OperatorHealth {
  readonly operator: string;
  /** `starting`: not everything is known yet · `ready`: at work · `stopping` · `stopped` · `failed`: for good. */
  readonly phase: "starting" | "ready" | "stopping" | "stopped" | "failed";
  /** Why it failed. */
  readonly error?: string | undefined;
  readonly streams: readonly StreamHealth[];
  /** Kinds that are declared and that the cluster does not have. */
  readonly missing: readonly string[];
  /** Why the kinds of the cluster cannot be found out now; those that are known are handled. */
  readonly discovery?: string | undefined;
  /** Parts of the API that do not answer: their kinds are waited for. */
  readonly broken?: readonly BrokenApi[] | undefined;
  /** Absent where the API server asks nothing of it. */
  readonly webhooks?: WebhookHealth | undefined;
  /** How it shares its work with other processes; absent where it is alone. */
  readonly coordination?: CoordinationHealth | undefined;
}

/** A yes, or a no with its reasons. */
export interface Verdict {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

/** Whether a new start could do any good: not while the operator waits for a cluster that does not answer. */
export function isAlive({ operator, phase, error }: OperatorHealth): Verdict {
  if (phase === "failed") return no(`${operator} has failed: ${error ?? "for an unknown reason"}`);
  return phase === "stopped" ? no(`${operator} has stopped`) : YES;
}

/** Whether the operator sees what happens and can act on it: at once, or when it is its turn. */
export function isReady(health: OperatorHealth): Verdict {
  const { operator, phase, error, streams, missing, discovery, webhooks, coordination } = health;
  const reasons: string[] = [];
  if (phase === "failed") reasons.push(`${operator} has failed: ${error ?? "for an unknown reason"}`);
  else if (phase !== "ready") reasons.push(`${operator} is ${phase}`);
  for (const kind of missing) reasons.push(`${operator} waits for the kind ${kind}`);
  if (discovery !== undefined) reasons.push(`the kinds of the cluster cannot be found out: ${discovery}`);
  for (const { kind, namespace, phase, error, optional } of streams) {
    if (phase !== "waiting" || optional) continue;
    reasons.push(`the stream of ${kind}${namespace ? ` in ${namespace}` : ""} is interrupted: ${error ?? "no reason"}`);
  }
  if (webhooks) reasons.push(...webhookReasons(webhooks));
  // Who stands by, or is paused, is ready: only who cannot take part is not.
  if (coordination?.state === "waiting" && coordination.reason !== undefined) {
    reasons.push(`${operator} cannot take its part beside other processes: ${coordination.reason}`);
  }
  return reasons.length > 0 ? no(...reasons) : YES;
}

function webhookReasons({ serving, registration, certificate }: WebhookHealth): string[] {
  return [
    ...(serving === false ? ["the webhook server does not answer"] : []),
    ...(registration === undefined ? [] : [`the API server could not be told of the operator: ${registration}`]),
    ...(certificate?.problem === undefined ? [] : [`the certificate of the webhook server: ${certificate.problem}`]),
  ];
}

const YES: Verdict = { ok: true, reasons: [] };

function no(...reasons: string[]): Verdict {
  return { ok: false, reasons };
}
