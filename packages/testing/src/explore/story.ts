/** Tells of a failure: what was done, where it was cut, what differs, and how to see it again. Pure. */
import { objectText, type Plan, planId } from "./plans.ts";
import type { Difference } from "./reference.ts";
import type { Outcome } from "./stage.ts";
import { pointText, type Trace } from "./trace.ts";

/** A disturbed run that ended otherwise. */
export interface ExploreFailure {
  /** Runs it again: `explore(operator, scenario, { only: plan, seed })`. */
  readonly plan: string;
  /** What was done, in a sentence. */
  readonly disturbance: string;
  readonly differences: readonly Difference[];
  /** All of it, to be read. */
  readonly story: string;
}

const MOST_DIFFERENCES = 4;
const WRITES_BEFORE = 3;

/** What a plan does, in a sentence. */
export function disturbanceOf(plan: Plan): string {
  const stale =
    "stale" in plan && plan.stale !== undefined ? `; its next life is shown ${plan.stale} one version behind` : "";
  switch (plan.kind) {
    case "crash":
      return `the operator is killed ${CRASH[plan.where]} "${pointText(plan.at)}"${stale}, and started again`;
    case "lose":
      return `"${pointText(plan.at)}" is done, but its answer is lost`;
    case "refuse":
      return `"${pointText(plan.at)}" never reaches the server, as the connection breaks`;
    case "delay":
      return `the event "${pointText(plan.at)}" comes late, ${plan.until === "quiet" ? "when all is quiet" : "after the next write"}`;
    case "coalesce":
      return `the event "${pointText(plan.at)}" is never shown, only the next one of its object`;
    case "repeat":
      return `the event "${pointText(plan.at)}" is shown twice`;
    case "interrupt":
      return `the object is deleted${plan.recreate ? " and made again" : ""} right before "${pointText(plan.at)}"`;
    case "again":
      return `${objectText(plan.object)} is deleted after step ${plan.step}, when all is quiet, and made again`;
    case "down":
      return plan.from === plan.to
        ? `the operator is killed after step ${plan.from}, when all is quiet, and started again${stale}`
        : `the operator is down during ${plan.to === plan.from + 1 ? `step ${plan.to}` : `steps ${plan.from + 1} to ${plan.to}`}`;
  }
}

const CRASH = {
  before: "right before it sends",
  after: "when the server has done, and not yet answered,",
  late: "after it has sent (and before it arrives)",
} as const;

/** About ten lines. */
export function storyOf(plan: Plan, differences: readonly Difference[], found: Outcome, seed: number): string {
  const shown = differences.slice(0, MOST_DIFFERENCES);
  const rest = differences.length - shown.length;
  const last = found.complaints.at(-1);
  return [
    `explore: ${disturbanceOf(plan)}.`,
    ...context(plan, found.trace),
    "Then, when all is quiet, this differs from a run without it:",
    ...shown.map(({ what, path, text }) => `  ${what}${path === undefined ? "" : ` ${path}`} ${text}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(last === undefined ? [] : [`The operator said: ${last}`]),
    "To see it again:",
    `  await explore(operator, scenario, { only: ${JSON.stringify(planId(plan))}, seed: ${seed} });`,
  ].join("\n");
}

/** What the operator had written before, and goes on with. */
function context(plan: Plan, { writes }: Trace): string[] {
  if (!("at" in plan)) return [];
  const { label, nth } = plan.at;
  const at = writes.findIndex((write) => write.label === label && write.nth === nth);
  if (at < 0) return [];
  const before = writes.slice(Math.max(0, at - WRITES_BEFORE), at).map(pointText);
  const after = writes.slice(at + 1, at + 1 + WRITES_BEFORE).map(pointText);
  const { handlers = [] } = writes[at] ?? {};
  return [
    ...(handlers.length > 0 ? [`It was at work for ${handlers.join(", ")}.`] : []),
    `Its writes before: ${before.join("; ") || "none"}.`,
    `Its writes after:  ${after.join("; ") || "none"}.`,
  ];
}
