export { type AttemptLimits, type AttemptResult, attempt } from "./attempt.ts";
export { type ConditionChanges, ConditionsDraft, conditionsOf } from "./conditions.ts";
export { daemonContext, timerContext } from "./context.ts";
export { isDeleting } from "./decide.ts";
export { essenceOf, fieldsOf } from "./essence.ts";
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
export { type BackgroundTurn, type BackgroundWork, handlerClient, resultPatch, type TurnKind } from "./kind.ts";
export { newMemory, noteWake, type ObjectMemory, type RawEvent } from "./memory.ts";
export { combinePatches, PatchDraft } from "./patch.ts";
export { errorFields, named, type Runs } from "./runs.ts";
export { Stop } from "./stop.ts";
export {
  annotationStorage,
  type KopfOptions,
  kopf,
  moved,
  type RecordStorage,
  statusStorage,
} from "./storage/index.ts";
export { type TurnEnd, takeTurn } from "./turn.ts";
export { type WriteTarget, write } from "./write.ts";
