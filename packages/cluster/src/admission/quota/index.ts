export { resourceQuotas } from "./plugin.ts";
export { QUOTAS, statusAmounts, usageIn, writeAmounts } from "./usage.ts";
