/** What a test says of objects, and what it is told when that is not so? */
export { type LotseMatchers, matchers } from "./matchers.ts";
export {
  type ConditionWanted,
  condition,
  type EventSource,
  type EventWanted,
  eventually,
  ownership,
  readiness,
  type Verdict,
} from "./verdict.ts";
