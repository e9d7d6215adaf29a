/** The coordinator of an operator, by its plan. What an operator does not use is not even loaded. */
import type { CoordinationPlan } from "../declare/index.ts";
import type { Coordinator, CoordinatorParts } from "./coordinator.ts";

/** See the module comment. Undefined: the process is alone, and has nothing to ask. */
export async function createCoordinator(
  plan: CoordinationPlan,
  parts: CoordinatorParts,
): Promise<Coordinator | undefined> {
  switch (plan.type) {
    case "alone":
      return undefined;
    case "leader": {
      const { LeaderCoordinator } = await import("./leader.ts");
      return new LeaderCoordinator(plan, parts);
    }
    case "peering": {
      const { PeeringCoordinator } = await import("./peering/index.ts");
      return new PeeringCoordinator(plan, parts);
    }
    case "shards": {
      const { ShardsCoordinator } = await import("./shards/index.ts");
      return new ShardsCoordinator(plan, parts);
    }
  }
}
