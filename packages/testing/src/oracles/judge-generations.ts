/** Whether what is said of objects speaks of what they are now. Pure, but for what it asks the operators. */
import { isObject } from "@lotse/client/meta";
import type { Operator, RunningOperator } from "lotse";
import { type StoredBody, titleOf } from "../objects/index.ts";
import type { Violation } from "./violation.ts";

/** An operator at work, and what was declared for it. */
export interface Judged {
  readonly operator: Operator;
  readonly running: Pick<RunningOperator, "explain">;
}

/** Objects whose status is of an older generation, although nothing is left to be done for them. */
export function oldGenerations(objects: readonly StoredBody[], judged: readonly Judged[]): Violation[] {
  return objects.flatMap((body) => {
    const said = saidOf(body);
    const { generation, deletionTimestamp } = body.metadata;
    if (said === undefined || generation === undefined || deletionTimestamp !== undefined) return [];
    if (said.generation >= generation) return [];
    const responsible = judged.some((one) => followsChanges(one.operator, body.kind) && isDone(one, body));
    if (!responsible) return [];
    const what = `${titleOf(body)} is at generation ${generation}, and ${said.where} speaks of ${said.generation}`;
    const todo = "set it whenever the object was looked at, also where nothing was to be done";
    return [{ oracle: "observedGeneration" as const, what, todo }];
  });
}

/** The newest generation that the status speaks of; undefined when it speaks of none. */
function saidOf({ status }: StoredBody): { readonly where: string; readonly generation: number } | undefined {
  if (!isObject(status)) return undefined;
  if (typeof status.observedGeneration === "number") {
    return { where: "status.observedGeneration", generation: status.observedGeneration };
  }
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isObject) : [];
  const generations = conditions.map((one) => one.observedGeneration).filter((one) => typeof one === "number");
  // A condition that was true once and for all may be old; one of them has to be of today.
  return generations.length === 0
    ? undefined
    : { where: "no condition is newer, and one", generation: Math.max(...generations) };
}

/** Whether the operator looks at every change of objects of this kind. */
function followsChanges({ resources }: Operator, kind: string): boolean {
  return resources.some(({ resource, handlers }) => {
    if ((resource as { readonly description?: { readonly kind: string } }).description?.kind !== kind) return false;
    return handlers.some((handler) => {
      if (handler.type === "reconcile") return Object.values(handler.filters).every((filter) => filter === undefined);
      return (
        handler.type === "change" &&
        handler.reasons.has("update") &&
        handler.change === undefined &&
        Object.values(handler.filters).every((filter) => filter === undefined)
      );
    });
  });
}

/** Whether the operator knows the object and has nothing left to do for it. */
function isDone({ running }: Judged, { kind, metadata: { namespace, name, uid } }: StoredBody): boolean {
  const answer = running.explain({ kind, namespace, name });
  if (answer === undefined || (answer.object.uid !== undefined && answer.object.uid !== uid)) return false;
  return answer.state === "waits" && answer.open.length === 0 && !answer.failed?.length && !answer.running?.length;
}
