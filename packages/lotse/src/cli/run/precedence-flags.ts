/** Who works where several processes of an operator meet: what the flags of `lotse run` make of its coordination. */
import { type Coordination, type CoordinationPlan, planCoordination } from "../../declare/index.ts";
import { type CoordinationChoice, planOfChoice } from "../../generate/index.ts";
import { Problem } from "../terminal/index.ts";

/** The priority of a developer's process, as Kopf has it. */
export const DEVELOPER_PRIORITY = 666;

/** The flags about other processes. */
export interface PrecedenceFlags {
  readonly coordination?: CoordinationChoice | undefined;
  /** The deployed operator pauses while this one runs. */
  readonly dev?: boolean | undefined;
  readonly peering?: string | undefined;
  readonly priority?: number | undefined;
  readonly standalone?: boolean | undefined;
}

/** A {@link Problem} for flags that contradict each other. */
export function checkPrecedence({ coordination, peering, standalone }: PrecedenceFlags): void {
  const chosen = [
    ...(coordination === undefined ? [] : [`--coordination ${coordination}`]),
    ...(peering === undefined ? [] : ["--peering"]),
    ...(standalone ? ["--standalone"] : []),
  ];
  if (chosen.length < 2) return;
  throw new Problem(
    { what: `${chosen.slice(0, 2).join(" and ")} exclude each other`, todo: "leave one of them out" },
    { exitCode: 2 },
  );
}

/** What the flags make of an operator's own coordination; undefined: nothing else. */
export function coordinationFor(own: Coordination | undefined, flags: PrecedenceFlags): Coordination | undefined {
  const declared = planCoordination(own);
  const plan = planned(declared, own, flags);
  const priority = priorityOf(flags);
  if (plan.type === "alone") return declared.type === "alone" ? undefined : "alone";
  if (plan.type === "peering")
    return plan === declared && priority === undefined ? undefined : withPriority(plan, priority);
  // Beside a Lease it would stand by, or share: the others pause instead.
  if (flags.dev) return "alone";
  return plan === declared && priority === undefined ? undefined : withPriority(plan, priority);
}

/** What is coordinated by, with the flags. */
export function planned(
  declared: CoordinationPlan,
  own: Coordination | undefined,
  flags: PrecedenceFlags,
): CoordinationPlan {
  const { coordination, peering: name, standalone } = flags;
  if (standalone) return { type: "alone" };
  if (name !== undefined) {
    return { ...(declared.type === "peering" && declared), type: "peering", name, mandatory: true };
  }
  if (coordination === undefined || coordination === declared.type) return declared;
  return planOfChoice(coordination, own);
}

function withPriority<P extends Coordination & object>(plan: P, priority: number | undefined): P {
  return priority === undefined ? plan : { ...plan, priority };
}

/** With which priority; undefined: its own. */
export function priorityOf({ dev, priority }: PrecedenceFlags): number | undefined {
  return priority ?? (dev ? DEVELOPER_PRIORITY : undefined);
}
