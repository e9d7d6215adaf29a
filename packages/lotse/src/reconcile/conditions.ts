/** What the framework says of an object that is reconciled, in the words that kubectl, Helm and kstatus understand. */
import type { KubeBody } from "@lotse/client";
import type { Runs, TurnKind } from "../turn/index.ts";
import type { RunEnd } from "./due.ts";

/** `Ready`, `Reconciling` and `Stalled` after a run; a condition that the function set itself stays. */
export function reportRun(runs: Runs, kind: TurnKind, body: KubeBody, end: RunEnd, problem: string): void {
  if (end.type === "aborted") return;
  const say = (type: string, status: boolean, reason: string, message: string) => {
    if (!runs.speaksOf(type)) runs.condition(type, status, reason, message);
  };
  if (end.type === "done") say("Ready", true, "Reconciled", "");
  else say("Ready", false, end.type === "stuck" ? "Stalled" : "Failing", problem);
  reportProgress(runs, end.type === "failed" ? problem : undefined, end.type === "stuck" ? problem : undefined);
  observe(runs, kind, body);
}

/** `Reconciling` and `Stalled` are there only while they are true. */
export function reportProgress(runs: Runs, busy: string | undefined, stalled: string | undefined): void {
  if (busy === undefined) runs.uncondition("Reconciling");
  else runs.condition("Reconciling", true, "Progressing", busy);
  if (stalled === undefined) runs.uncondition("Stalled");
  else runs.condition("Stalled", true, "Failed", stalled);
}

/** The present generation has been looked at. */
export function observe(runs: Runs, kind: TurnKind, { metadata, status }: KubeBody): void {
  const { generation } = metadata ?? {};
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
  if (generation === undefined || observedGeneration === generation || !kind.keepsResult("observedGeneration")) return;
  runs.change({ status: { observedGeneration: generation } });
}
