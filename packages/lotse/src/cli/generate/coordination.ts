/** What the flags about replicas mean for one operator, and which of them do not go together. */
import { planCoordination } from "../../declare/index.ts";
import { type CoordinationChoice, mayOverlap, planOfChoice, type Replication } from "../../generate/index.ts";
import type { Operator } from "../../operator/index.ts";
import { Problem } from "../terminal/index.ts";

/** The flags. */
export interface CoordinationGenerateOptions {
  readonly replicas?: number | undefined;
  /** How they share the work. */
  readonly coordination?: CoordinationChoice | undefined;
}

/**
 * Reads the flags. An operator that says nothing is deployed with a leader, also as one process: while pods are replaced
 * there are two, and whoever scales it up later does no harm. A {@link Problem} for several that would not share.
 */
export function replicationOf(
  { options }: Pick<Operator, "options">,
  { replicas = 1, coordination }: CoordinationGenerateOptions,
): Replication {
  const declared = planCoordination(options.coordination);
  const choice = coordination ?? (options.coordination === undefined ? "leader" : undefined);
  const plan = choice === undefined ? declared : planOfChoice(choice, options.coordination);
  if (replicas > 1 && !mayOverlap(plan)) {
    throw new Problem(
      {
        what: `${replicas} replicas do not go with ${plan.type === "peering" ? "peering" : "an operator that works alone"}`,
        why:
          plan.type === "peering"
            ? "of two with the same priority both pause"
            : "each of them would work on every object, and nobody would notice",
        todo: "choose --coordination leader or shards, or leave --replicas out",
      },
      { exitCode: 2 },
    );
  }
  return { replicas, plan, declared: declared.type };
}
