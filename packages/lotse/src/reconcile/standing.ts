/** How a reconciler stands for an object after a run, for what the object says of itself. Pure but for the last line. */
import type { KubeBody } from "@lotse/client";
import { TemporaryError } from "../declare/index.ts";
import { type KindWork, messageOf, type Standing, type TurnRunner } from "../turn/index.ts";
import type { RunEnd } from "./due.ts";

/** A reconciler speaks for the whole object: its name would say nothing to those who read the condition. */
const id = "";

/**
 * How a reconciler stands after a run that ended so. `children`: how its children stand, where it has some; they have
 * more to say about a failure than the failure itself.
 */
export function standingAfter(
  end: Exclude<RunEnd, { type: "aborted" }>,
  error: unknown,
  children: Standing | undefined,
): Standing {
  if (end.type === "done") return children ?? { id, state: "done", reason: "Reconciled", message: "" };
  const message = messageOf(error);
  if (end.type === "stuck") {
    return children?.state === "failed" ? children : { id, state: "failed", reason: "ReconcileFailed", message };
  }
  if (error instanceof TemporaryError) return { id, state: "works", reason: "Waiting", message };
  return { id, state: "fails", reason: "ReconcileRetrying", message };
}

/** The present generation has been looked at, whatever came of it. */
export function observe(runner: TurnRunner, work: KindWork, { metadata, status }: KubeBody): void {
  const { generation } = metadata ?? {};
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
  if (generation === undefined || observedGeneration === generation || !work.keepsResult("observedGeneration")) return;
  runner.change({ status: { observedGeneration: generation } });
}
