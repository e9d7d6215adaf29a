export { alertGroups } from "./alerts.ts";
export { dashboard } from "./dashboard.ts";
export { type Monitored, usualSelect } from "./monitored.ts";
export type { MonitoringRule, RuleGroup } from "./rules.ts";
export { plainRules, prometheusRule } from "./rules-file.ts";
