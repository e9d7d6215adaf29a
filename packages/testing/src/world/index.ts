/** How does an operator live on its cluster, and what can happen to it? */
export { DueClock } from "./due-clock.ts";
export { type ExternalOptions, external } from "./external.ts";
export { Incarnation, type IncarnationParts } from "./incarnation.ts";
export type { AnswerFate, HeldLines, Interference, LineFate, RequestFate, WatchLine } from "./interference.ts";
export { currentActor, currentLife, type ExternalCall, Life } from "./life.ts";
export { type OperatorRequest, operatorRequest, requestText } from "./requests.ts";
