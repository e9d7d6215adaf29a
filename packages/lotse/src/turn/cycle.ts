/** Runs the handlers of a cycle that are due, and finds out what follows from it. */
import type { KubeBody } from "@lotse/client";
import { applyMergePatch, type JsonObject } from "@lotse/client/meta";
import { matchesFilters } from "../declare/index.ts";
import type { Logger } from "../report/index.ts";
import { type Cycle, type Decision, keepsBase } from "./decide.ts";
import { digestOf } from "./essence.ts";
import type { HandlerRunner } from "./handler-runner.ts";
import type { KindWork } from "./kind-work.ts";
import type { ObjectMemory } from "./memory.ts";
import { type ObjectRecord, packEssence } from "./record.ts";
import { reportAttempts, reportClosed } from "./reports.ts";
import { recordInProgress, type Settlement, settle } from "./settle.ts";

/** What a cycle is run with. */
export interface CycleParts {
  readonly work: KindWork;
  readonly memory: ObjectMemory;
  readonly decision: Decision;
  /** The record before. */
  readonly record: ObjectRecord | undefined;
  readonly runner: HandlerRunner;
  readonly logger: Logger;
  /** Writes down how far it has got: a step is done. */
  readonly remember: (record: ObjectRecord) => Promise<void>;
}

/** See the module comment; undefined when nothing was due. */
export async function runCycle(parts: CycleParts): Promise<Settlement | undefined> {
  const { work, memory, decision, record, runner, logger, remember } = parts;
  const { cycle } = decision;
  if (!cycle) return undefined;
  const finished = cycle.selected.every((handler) => cycle.runs[handler.id]?.outcome !== undefined);
  if (decision.due.length === 0 && !finished) return undefined;
  const decided = decision as Decision & { readonly cycle: Cycle };
  const keeps = keepsBase(work.handlers.changes) || work.target.storage.needsEssence === true;
  const attempts = await runner.runChangeHandlers(decided, (done, underWay) =>
    remember(recordInProgress(memory.uid, decided, done, underWay, keeps, record, work.runtime.random)),
  );
  if (attempts.length === 0 && !finished) return undefined;
  const settlement = settle(memory.uid, decided, attempts, keeps, record, work.runtime.random);
  reportAttempts(work, memory, cycle, attempts, settlement.failures, runner.body, logger);
  if (settlement.closed) reportClosed(work, cycle, settlement, attempts, runner, logger);
  return settlement;
}

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
