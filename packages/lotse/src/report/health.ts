/** What an operator says of its own condition. Decisions only; who asks, and how, is in `endpoints`. */

/** One stream of objects. */
export interface StreamHealth {
  readonly kind: string;
  /** Absent: the whole cluster. */
  readonly namespace?: string | undefined;
  readonly phase: "listing" | "watching" | "waiting";
  /** For how long it has been in this phase. */
  readonly forMs: number;
  /** How long ago the last event or bookmark came. */
  readonly quietMs?: number | undefined;
  readonly objects: number;
  /** What it waits for. */
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
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

/** Whether the operator sees what happens and can act on it. */
export function isReady({ operator, phase, error, streams, missing }: OperatorHealth): Verdict {
  const reasons: string[] = [];
  if (phase === "failed") reasons.push(`${operator} has failed: ${error ?? "for an unknown reason"}`);
  else if (phase !== "ready") reasons.push(`${operator} is ${phase}`);
  for (const kind of missing) reasons.push(`${operator} waits for the kind ${kind}`);
  for (const { kind, namespace, phase, error } of streams) {
    if (phase !== "waiting") continue;
    reasons.push(`the stream of ${kind}${namespace ? ` in ${namespace}` : ""} is interrupted: ${error ?? "no reason"}`);
  }
  return reasons.length > 0 ? no(...reasons) : YES;
}

const YES: Verdict = { ok: true, reasons: [] };

function no(...reasons: string[]): Verdict {
  return { ok: false, reasons };
}
