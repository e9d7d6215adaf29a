export { type ConditionChanges, ConditionsDraft, conditionsOf } from "./conditions.ts";
export { daemonContext, timerContext } from "./context.ts";
export type { Contribution } from "./contribution.ts";
export { isDeleting } from "./decide.ts";
export { digestOf, essenceOf, fieldsOf } from "./essence.ts";
export {
  type Executed,
  type Execution,
  execute,
  executeForObject,
  type ObjectExecuted,
  type ObjectExecution,
  type Surroundings,
} from "./execute.ts";
export { handlerClient, observePatch, observeRead } from "./handler-requests.ts";
export type { HandlerRunner } from "./handler-runner.ts";
export {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  type Child,
  type Children,
  disown,
  harmonizeNaming,
  label,
  type Owner,
  removeOwnerReference,
} from "./hierarchies.ts";
export { afterOwnChange, CALM, type LoopState } from "./hot-loop.ts";
export {
  type BackgroundTurn,
  type BackgroundWork,
  type KindHandlers,
  type KindViews,
  type KindWork,
  type ReconcileWork,
  referenceTo,
} from "./kind-work.ts";
export { errorFields, named } from "./log-fields.ts";
export { operatorsOn } from "./marks.ts";
export { newMemory, notesOf, noteWake, type ObjectMemory, type RawEvent } from "./memory.ts";
export { type AttemptResult, retryDelayMs } from "./outcome.ts";
export { combinePatches, PatchDraft } from "./patch.ts";
export { retriable } from "./record.ts";
export { messageOf, reportTrouble } from "./reports.ts";
export { resultPatch, returnsValue } from "./results.ts";
export { isOwnReason, type Standing } from "./standing.ts";
export { Stop } from "./stop.ts";
export {
  allStorages,
  annotationStorage,
  type KopfOptions,
  kopf,
  moved,
  type RecordStorage,
  statusStorage,
  storageOf,
} from "./storage/index.ts";
export { type TurnEnd, takeTurn } from "./turn.ts";
export { type WritePlan, type WriteTarget, write } from "./write.ts";
