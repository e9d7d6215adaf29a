/** `lotse generate dashboard` and `lotse generate alerts`: what people look at, and what wakes them. */
import { isResourceClass } from "../../declare/index.ts";
import {
  alertGroups,
  dashboard,
  type GeneratedFile,
  type Monitored,
  plainRules,
  planWebhooks,
  prometheusRule,
  usualSelect,
} from "../../generate/index.ts";
import type { Operator } from "../../operator/index.ts";
import { Problem } from "../terminal/index.ts";
import { type CoordinationGenerateOptions, replicationOf } from "./coordination.ts";

/** The flags that matter here. */
export interface MonitoringOptions extends CoordinationGenerateOptions {
  readonly namespace?: string | undefined;
  /** What picks the operator's series. */
  readonly select?: string | undefined;
  /** Rules as Prometheus itself reads them. */
  readonly plain?: boolean | undefined;
}

/** The dashboard. */
export function makeDashboard(operator: Operator, options: MonitoringOptions): GeneratedFile[] {
  const text = JSON.stringify(dashboard(monitoredOf(operator, options)), null, 2);
  return [{ name: `${operator.name}-dashboard.json`, text: `${text}\n` }];
}

/** The alerts. */
export function makeAlerts(operator: Operator, options: MonitoringOptions): GeneratedFile[] {
  const groups = alertGroups(monitoredOf(operator, options));
  const { name } = operator;
  const { plain, namespace = "default" } = options;
  return [{ name: `${name}-alerts.yaml`, text: plain ? plainRules(groups) : prometheusRule(name, namespace, groups) }];
}

function monitoredOf(operator: Operator, options: MonitoringOptions): Monitored {
  const { name, schedules } = operator;
  return {
    name,
    select: selectOf(options.select) ?? usualSelect(name),
    coordination: replicationOf(operator, options).plan.type,
    asked: planWebhooks(operator, { namespace: options.namespace ?? "default" }).asked,
    // Perhaps of another copy of the package, which does not know of them.
    schedules: (schedules ?? []).length > 0,
    objectives: (operator.kinds ?? []).some((kind) => isResourceClass(kind) && kind.objective !== undefined),
  };
}

const MATCHER = String.raw`[a-zA-Z_]\w*(?:=~|!=|!~|=)"(?:[^"\\]|\\.)*"`;
const MATCHERS = new RegExp(`^${MATCHER}(?:,${MATCHER})*$`);

function selectOf(text: string | undefined): string | undefined {
  if (text === undefined || MATCHERS.test(text)) return text;
  throw new Problem(
    {
      what: `--select ${text} picks no series`,
      why: "it is what stands between the braces of a query, without blanks",
      todo: `write it like 'job="rates"' or 'namespace="ops",pod=~"rates-.+"'`,
    },
    { exitCode: 2 },
  );
}
