export { isOperator, Operator } from "./operator.ts";
export type { OperatorOptions, RunningOperator, StartOptions } from "./options.ts";
