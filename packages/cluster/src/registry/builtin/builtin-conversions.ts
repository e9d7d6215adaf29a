import { type ApiObject, objectAt } from "../object.ts";
import type { Conversion } from "./typed-codec.ts";

/** Fields that mean the same in both kinds of events, by their names in the core group and in events.k8s.io. */
const EVENT_FIELDS: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

function renamed(object: ApiObject, from: 0 | 1, to: 0 | 1, apiVersion: string): ApiObject {
  const names = new Map(EVENT_FIELDS.map((pair) => [pair[from] as string, pair[to] as string]));
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) result[names.get(key) ?? key] = value;
  return { ...result, apiVersion } as ApiObject;
}

const events: Conversion = {
  fromStorage: (stored) => withoutEmpty(renamed(stored, 0, 1, "events.k8s.io/v1")),
  toStorage: (object) => renamed(object, 1, 0, "v1"),
};

/** The newer kind leaves out who reported when the Event does not say. */
function withoutEmpty(event: ApiObject): ApiObject {
  for (const key of ["reportingController", "reportingInstance"]) if (event[key] === "") delete event[key];
  return event;
}

/** The older autoscaler knows one metric: the average use of cpu. Others stay in storage, out of its sight. */
const autoscalerV1: Conversion = {
  fromStorage(stored) {
    const { metrics, behavior: _, ...spec } = objectAt(stored, "spec");
    const average = (Array.isArray(metrics) ? metrics : [])
      .map((metric) => objectAt(metric, "resource"))
      .find((resource) => resource.name === "cpu" && objectAt(resource, "target").type === "Utilization");
    const percentage = average && objectAt(average, "target").averageUtilization;
    const status = objectAt(stored, "status");
    return {
      ...stored,
      apiVersion: "autoscaling/v1",
      spec: { ...spec, ...(percentage === undefined ? {} : { targetCPUUtilizationPercentage: percentage }) },
      status: { currentReplicas: status.currentReplicas ?? 0, desiredReplicas: status.desiredReplicas ?? 0 },
    };
  },
  toStorage(object) {
    const { targetCPUUtilizationPercentage: percentage, ...spec } = objectAt(object, "spec");
    const target = { type: "Utilization", averageUtilization: percentage };
    const metrics = percentage === undefined ? [] : [{ type: "Resource", resource: { name: "cpu", target } }];
    const { currentReplicas, desiredReplicas } = objectAt(object, "status");
    return {
      ...object,
      apiVersion: "autoscaling/v2",
      spec: { ...spec, ...(metrics.length > 0 ? { metrics } : {}) },
      status: {
        ...(currentReplicas ? { currentReplicas } : {}),
        desiredReplicas: desiredReplicas ?? 0,
        currentMetrics: null,
      },
    };
  },
};

/** How a version differs from the stored one; undefined where it does not. */
export function conversionOf(
  group: string,
  kind: string,
  version: string,
  storageVersion: string,
): Conversion | undefined {
  if (group === "events.k8s.io" && kind === "Event") return events;
  if (group === "autoscaling" && version === "v1" && storageVersion === "v2") return autoscalerV1;
  return undefined;
}
