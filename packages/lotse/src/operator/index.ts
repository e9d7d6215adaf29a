export { isOperator, Operator } from "./operator.ts";
export type { RetryAnswer, RunningOperator, RunningShadow, StartOptions } from "./options.ts";
export { stopLimitOf } from "./stop-time.ts";
export { Together, type TogetherOptions } from "./together.ts";
