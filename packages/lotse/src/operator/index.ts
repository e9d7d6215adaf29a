export { isOperator, Operator } from "./operator.ts";
export type { RetryAnswer, RunningOperator, StartOptions } from "./options.ts";
export { stopLimitOf } from "./stop-time.ts";
