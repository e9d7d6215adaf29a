import { type ApiObject, listAt, objectAt } from "../../registry/index.ts";
import { ageCell, humanDuration } from "./age.ts";
import { age, type Column, field, NONE, nameColumn, number, selector, selectorText, wide } from "./columns.ts";
import { summarizePod } from "./pod-cells.ts";

const containersOf = (...path: string[]): Column[] => [
  wide({
    name: "Containers",
    cell: (o) =>
      listAt(o, ...path, "containers")
        .map((c) => c.name)
        .join(","),
  }),
  wide({
    name: "Images",
    cell: (o) =>
      listAt(o, ...path, "containers")
        .map((c) => c.image)
        .join(","),
  }),
];
const TEMPLATE = ["spec", "template", "spec"];

function podColumn(name: string, key: "ready" | "status" | "restarts"): Column {
  return { name, cell: (pod, now) => summarizePod(pod, now)[key] };
}

function jobStatus(job: ApiObject): string {
  const is = (type: string) => listAt(job, "status", "conditions").some((c) => c.type === type && c.status === "True");
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  if (is("Suspended")) return "Suspended";
  if (is("FailureTarget")) return "FailureTarget";
  if (is("SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

function jobCompletions(job: ApiObject): string {
  const { completions, parallelism } = objectAt(job, "spec");
  const succeeded = objectAt(job, "status").succeeded ?? 0;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return Number(parallelism ?? 0) > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, now: number): string {
  const { startTime, completionTime } = objectAt(job, "status");
  if (typeof startTime !== "string") return "";
  const end = typeof completionTime === "string" ? Date.parse(completionTime) : now;
  return humanDuration(end - Date.parse(startTime));
}

const replicaColumns: Column[] = [
  nameColumn,
  number("Desired", "spec.replicas"),
  number("Current", "status.replicas"),
  number("Ready", "status.readyReplicas"),
  age,
  ...containersOf(...TEMPLATE),
  selector,
];

/** Columns of pods and of what makes pods, by group and plural. */
export const workloadColumns: Record<string, readonly Column[]> = {
  "/pods": [
    nameColumn,
    podColumn("Ready", "ready"),
    podColumn("Status", "status"),
    podColumn("Restarts", "restarts"),
    age,
    wide(field("IP", "status.podIP", NONE)),
    wide(field("Node", "spec.nodeName", NONE)),
    wide(field("Nominated Node", "status.nominatedNodeName", NONE)),
    wide({
      name: "Readiness Gates",
      cell: (pod) => {
        const gates = listAt(pod, "spec", "readinessGates");
        if (gates.length === 0) return NONE;
        const met = gates.filter((gate) =>
          listAt(pod, "status", "conditions").some((c) => c.type === gate.conditionType && c.status === "True"),
        );
        return `${met.length}/${gates.length}`;
      },
    }),
  ],
  "/podtemplates": [
    nameColumn,
    ...containersOf("template", "spec").map((column) => ({ ...column, wide: false })),
    { name: "Pod Labels", cell: (o) => selectorText(objectAt(o, "template", "metadata").labels) },
  ],
  "/replicationcontrollers": replicaColumns,
  "apps/replicasets": replicaColumns,
  "apps/deployments": [
    nameColumn,
    { name: "Ready", cell: (o) => `${objectAt(o, "status").readyReplicas ?? 0}/${objectAt(o, "spec").replicas ?? 0}` },
    field("Up-to-date", "status.updatedReplicas", 0),
    field("Available", "status.availableReplicas", 0),
    age,
    ...containersOf(...TEMPLATE),
    selector,
  ],
  "apps/statefulsets": [
    nameColumn,
    { name: "Ready", cell: (o) => `${objectAt(o, "status").readyReplicas ?? 0}/${objectAt(o, "spec").replicas ?? 0}` },
    age,
    ...containersOf(...TEMPLATE),
  ],
  "apps/daemonsets": [
    nameColumn,
    number("Desired", "status.desiredNumberScheduled"),
    number("Current", "status.currentNumberScheduled"),
    number("Ready", "status.numberReady"),
    number("Up-to-date", "status.updatedNumberScheduled"),
    number("Available", "status.numberAvailable"),
    { name: "Node Selector", cell: (o) => selectorText(objectAt(o, ...TEMPLATE).nodeSelector) },
    age,
    ...containersOf(...TEMPLATE),
    selector,
  ],
  "apps/controllerrevisions": [
    nameColumn,
    {
      name: "Controller",
      cell: (o) => {
        const owner = o.metadata.ownerReferences?.find((reference) => reference.controller === true);
        if (!owner) return NONE;
        const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
        return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
      },
    },
    field("Revision", "revision", 0),
    age,
  ],
  "batch/jobs": [
    nameColumn,
    { name: "Status", cell: jobStatus },
    { name: "Completions", cell: jobCompletions },
    { name: "Duration", cell: jobDuration },
    age,
    ...containersOf(...TEMPLATE),
    selector,
  ],
  "batch/cronjobs": [
    nameColumn,
    field("Schedule", "spec.schedule"),
    field("Timezone", "spec.timeZone", NONE),
    { name: "Suspend", type: "boolean", cell: (o) => (objectAt(o, "spec").suspend === true ? "True" : "False") },
    { name: "Active", type: "integer", cell: (o) => listAt(o, "status", "active").length },
    {
      name: "Last Schedule",
      cell: (o, now) => {
        const last = objectAt(o, "status").lastScheduleTime;
        return last === undefined ? NONE : ageCell(last, now);
      },
    },
    age,
    ...containersOf("spec", "jobTemplate", ...TEMPLATE),
    wide({ name: "Selector", cell: (o) => selectorText(objectAt(o, "spec", "jobTemplate", "spec").selector) }),
  ],
};
