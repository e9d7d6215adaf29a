export { adopt } from "./adopt.ts";
export { type AttemptLimits, attempt } from "./attempt.ts";
export { isDeleting } from "./decide.ts";
export type { TurnKind } from "./kind.ts";
export { newMemory, type ObjectMemory, type RawEvent } from "./memory.ts";
export type { RecordPlace } from "./record.ts";
export { errorFields } from "./runs.ts";
export { type TurnEnd, takeTurn } from "./turn.ts";
export type { WriteTarget } from "./write.ts";
