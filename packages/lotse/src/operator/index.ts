export { isOperator, Operator } from "./operator.ts";
export type { OperatorSettings, RunningOperator, StartOptions } from "./runner.ts";
