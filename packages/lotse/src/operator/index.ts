export { installCrd } from "./crds.ts";
export { isOperator, Operator } from "./operator.ts";
export type { OperatorOptions, RetryAnswer, RunningOperator, StartOptions } from "./options.ts";
export { type PermissionScope, permissionsOf } from "./permissions.ts";
export { needsDiscovery } from "./plan.ts";
export { stopLimitOf } from "./stop-time.ts";
export { type UninstallRequest, type UninstallResult, uninstallOperator } from "./uninstall.ts";
