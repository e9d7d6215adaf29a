import { timestamp } from "../../registry/index.ts";

/** One condition in a status, as workloads have them. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string;
}

/** The condition of a type, of which a status has at most one. */
export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

/** The other conditions, for a status that no longer has it. */
export const withoutCondition = (conditions: readonly Condition[], type: string): Condition[] =>
  conditions.filter((condition) => condition.type !== type);

/**
 * The conditions with one set. A condition with the same status and reason stays as it is, its message too; one with
 * another reason keeps the time of its last transition. The one that was set comes last.
 */
export function withCondition(
  conditions: readonly Condition[],
  condition: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
  now: number,
): Condition[] {
  const before = findCondition(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return [...conditions];
  const time = timestamp(now);
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? time) : time;
  return [...withoutCondition(conditions, condition.type), { ...condition, lastUpdateTime: time, lastTransitionTime }];
}
