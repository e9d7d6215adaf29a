export { type ConditionChanges, ConditionsDraft, conditionsOf } from "./conditions.ts";
export { daemonContext, timerContext } from "./context.ts";
export type { Contribution } from "./contribution.ts";
export { isDeleting } from "./decide.ts";
export { areAlike, digestOf, essenceOf, fieldsOf, withoutBookkeeping } from "./essence.ts";
export {
  type Executed,
  type Execution,
  execute,
  executeForObject,
  type ObjectExecuted,
  type ObjectExecution,
  type Surroundings,
} from "./execute.ts";
export { daemonFence, refusalIn, turnFence } from "./fence.ts";
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
export { afterOwnChange, CALM, cooledDown, type LoopState, ROW_LIMIT, rowPauseMs } from "./hot-loop.ts";
export {
  type BackgroundTurn,
  type BackgroundWork,
  type KindHandlers,
  type KindViews,
  type KindWork,
  type ReconcileWork,
  referenceTo,
  type TurnRunner,
} from "./kind-work.ts";
export { isAlive, lastOf } from "./life.ts";
export { errorFields, named } from "./log-fields.ts";
export { operatorsOn } from "./marks.ts";
export {
  ask,
  forgetPending,
  keepEvent,
  leaveObject,
  memoOf,
  newMemory,
  noteForeignChange,
  notesOf,
  noteWake,
  type RawEvent,
  type SeenMemory as ObjectMemory,
  seeDeletion,
  seeGone,
} from "./memory.ts";
export { type AttemptResult, retryDelayMs } from "./outcome.ts";
export { combinePatches, PatchDraft } from "./patch.ts";
export { retriable } from "./record.ts";
export { messageOf, reportTrouble } from "./reports.ts";
export { resultPatch, returnsValue } from "./results.ts";
export { countHotLoop } from "./slow-down.ts";
export { isOwnReason, type Standing } from "./standing.ts";
export { Stop } from "./stop.ts";
export {
  allStorages,
  annotationStorage,
  type KopfOptions,
  kopf,
  migrateStorage,
  type RecordStorage,
  statusStorage,
  storageOf,
} from "./storage/index.ts";
export { Takeover } from "./takeover.ts";
export { takeTurn } from "./turn.ts";
export type { TurnEnd } from "./turn-end.ts";
export { type WritePlan, type WriteTarget, write } from "./write.ts";
