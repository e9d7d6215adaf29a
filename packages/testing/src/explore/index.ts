/** What does an operator achieve when things go wrong? */
export type { OperatorSource } from "./attempts.ts";
export {
  ExploreError,
  type ExploreOptions,
  type ExploreProgress,
  type ExploreReport,
  explore,
} from "./explore.ts";
export type { Difference } from "./reference.ts";
export type { Scenario } from "./stage.ts";
export type { ExploreFailure } from "./story.ts";
export { serveThread } from "./threads.ts";
