/** Cells of the tables of built-in kinds that take more than a look at one field. */
import { lookup } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../../registry/index.ts";
import { ageCell } from "./age.ts";
import { age, type Column, createdAt, NONE, nameColumn, UNKNOWN, wide } from "./columns.ts";

/** A list as one text. */
export const joined = (value: unknown): string => (Array.isArray(value) ? value.join(",") : "");
const ACCESS_MODES: Record<string, string> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};
/** Access modes in their short forms, as kubectl shows them. */
export const accessModes: Column = {
  name: "Access Modes",
  cell: (o) => {
    const modes = objectAt(o, "status").accessModes ?? objectAt(o, "spec").accessModes;
    return joined(Array.isArray(modes) ? modes.map((mode) => lookup(ACCESS_MODES, String(mode)) ?? mode) : []);
  },
};

/** Whether a claim has its volume. */
export const isBound = (claim: ApiObject): boolean => Boolean(objectAt(claim, "spec").volumeName);

/** `Ready` or not, and whether pods may be scheduled there. */
export function nodeStatus(node: ApiObject): string {
  const ready = listAt(node, "status", "conditions").find((condition) => condition.type === "Ready");
  const words = [ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown"];
  if (objectAt(node, "spec").unschedulable === true) words.push("SchedulingDisabled");
  return words.join(",");
}

/** The roles of a node by its labels. */
export function nodeRoles(node: ApiObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith("node-role.kubernetes.io/")) roles.add(key.slice("node-role.kubernetes.io/".length));
    else if (key === "kubernetes.io/role" && value !== "") roles.add(value);
  }
  return [...roles].sort().join(",") || NONE;
}

/** The address of a node of one type. */
export const address = (type: string) => (node: ApiObject) =>
  listAt(node, "status", "addresses").find((item) => item.type === type)?.address ?? NONE;

/** When an Event was seen first or last; a series knows better than the Event. */
export function eventTime(event: ApiObject, first: boolean, now: number): string {
  const series = objectAt(event, "series").lastObservedTime;
  const time = first
    ? (event.firstTimestamp ?? event.eventTime)
    : (series ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp);
  return ageCell(time, now);
}

/** Who reported an Event, and on which host. */
export function eventSource(event: ApiObject): string {
  const { component, host } = objectAt(event, "source");
  const name = component ?? event.reportingComponent ?? "";
  return host ? `${name}, ${host}` : String(name);
}

const subjects = (kind: string) => (binding: ApiObject) =>
  listAt(binding, "subjects")
    .filter((subject) => subject.kind === kind)
    .map((subject) => (kind === "ServiceAccount" ? `${subject.namespace}/${subject.name}` : subject.name))
    .join(", ");

/** The columns that RoleBindings and ClusterRoleBindings share. */
export const bindingColumns: Column[] = [
  nameColumn,
  { name: "Role", cell: (o) => `${objectAt(o, "roleRef").kind}/${objectAt(o, "roleRef").name}` },
  age,
  wide({ name: "Users", cell: subjects("User") }),
  wide({ name: "Groups", cell: subjects("Group") }),
  wide({ name: "ServiceAccounts", cell: subjects("ServiceAccount") }),
];

/** All requests or all limits of a quota in one cell, used before allowed. */
export function quotaCell(key: "request" | "limit") {
  return (quota: ApiObject): string => {
    const used = objectAt(quota, "status", "used");
    return Object.entries(objectAt(quota, "status", "hard"))
      .filter(([name]) => name.startsWith("limits.") === (key === "limit"))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, hard]) => `${name}: ${lookup(used, name) ?? 0}/${hard}`)
      .join(", ");
  };
}

/** Present and wanted values of the first metrics: `cpu: 12%/80%, 5/10 (avg) + 1 more...`. */
export function hpaTargets(hpa: ApiObject): string {
  const metrics = listAt(hpa, "spec", "metrics");
  if (metrics.length === 0) return NONE;
  const now = listAt(hpa, "status", "currentMetrics");
  const texts = metrics.map((metric, i) => hpaTarget(metric, now[i]));
  const shown = texts.slice(0, 2).join(", ");
  return texts.length > 2 ? `${shown} + ${texts.length - 2} more...` : shown;
}

const HPA_SOURCES: ReadonlyMap<unknown, string> = new Map([
  ["External", "external"],
  ["Pods", "pods"],
  ["Object", "object"],
  ["Resource", "resource"],
  ["ContainerResource", "containerResource"],
]);

function hpaTarget(metric: Record<string, unknown>, status: unknown): string {
  const source = HPA_SOURCES.get(metric.type);
  if (source === undefined) return "<unknown type>";
  const { name, target } = objectAt(metric, source);
  const wanted = isRecord(target) ? target : {};
  const current = objectAt(status, source, "current");
  const known = Object.keys(objectAt(status, source)).length > 0;
  const percent = (value: unknown, missing: string) => (value === undefined ? missing : `${value}%`);
  if (source === "resource" || source === "containerResource") {
    if (wanted.averageValue !== undefined) {
      return `${name}: ${known ? (current.averageValue ?? "0") : UNKNOWN}/${wanted.averageValue}`;
    }
    const goal = percent(wanted.averageUtilization, "<auto>");
    return `${name}: ${percent(current.averageUtilization, UNKNOWN)}/${goal}`;
  }
  if (source === "pods") return `${known ? (current.averageValue ?? "0") : UNKNOWN}/${wanted.averageValue}`;
  if (wanted.averageValue !== undefined) return `${current.averageValue ?? UNKNOWN}/${wanted.averageValue} (avg)`;
  return `${known ? (current.value ?? "0") : UNKNOWN}/${wanted.value}`;
}

/** How many entries a field of the object has. */
export const count = (key: string) => (object: ApiObject) => Object.keys(objectAt(object, key)).length;
/** How many items a list of the object has. */
export const listLength = (key: string) => (object: ApiObject) => listAt(object, key).length;

/** The columns of kinds that have nothing to show but their name and when they were made. */
export const CREATED: readonly Column[] = [nameColumn, { ...createdAt, type: "date" }];

/** A cell about the queues of a priority level; `<none>` where requests are not queued. */
export const queuing = (key: string) => (level: ApiObject) => {
  const response = objectAt(level, "spec", "limited", "limitResponse");
  return isRecord(response.queuing) ? (response.queuing[key] ?? 0) : NONE;
};
