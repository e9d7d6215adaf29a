/** Which state of its object a closed cycle has handled. */
import type { KubeBody } from "@lotse/client";
import { applyMergePatch, type JsonObject } from "@lotse/client/meta";
import { matchesFilters } from "../declare/index.ts";
import type { Decision } from "./decide.ts";
import { digestOf } from "./essence.ts";
import type { KindWork } from "./kind-work.ts";
import type { ObjectMemory } from "./memory.ts";
import { type ObjectRecord, packEssence } from "./record.ts";

/**
 * A handler may change its object so that no handler matches it any more: a switch that is flipped back. Then that state
 * is the handled one, in the same write. Otherwise the next flip would lead to what was handled before, and be no change.
 */
export function handledAsWritten(
  work: KindWork,
  memory: ObjectMemory,
  record: ObjectRecord | undefined,
  changes: JsonObject | undefined,
  body: KubeBody,
  { current }: Decision,
): ObjectRecord | undefined {
  if (!record || record.open || !changes || Object.keys(changes).every((key) => key === "status")) return record;
  const next = applyMergePatch(body, changes) as KubeBody;
  const essence = work.essenceOf(next);
  const matches = work.handlers.changes.some(({ filters, param }) => {
    const cause = { reason: "update", old: current.essence, new: essence, memo: memory.memo ?? {}, param } as const;
    return matchesFilters(filters, next, [essence, current.essence], filters.when && cause);
  });
  if (matches) return record;
  return { ...record, handled: digestOf(essence), ...(record.base !== undefined && { base: packEssence(essence) }) };
}
