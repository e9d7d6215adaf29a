/** Does an operator make the same of the same spec, whichever way it came about? */
export type { Mistake, TransitionFailure } from "./findings.ts";
export type { WalkedKind } from "./stage.ts";
export type { StateDifference } from "./states.ts";
export { TransitionsError, type TransitionsOptions, type TransitionsReport, transitions } from "./transitions.ts";
