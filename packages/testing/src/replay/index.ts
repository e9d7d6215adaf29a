/** What an operator saw once, shown to it again. */

export { ReplayError, type ReplayOptions, type ReplayReport, replay } from "./replay.ts";
export type { ReplayDifference } from "./writes.ts";
