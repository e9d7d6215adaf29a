/** What a scheduler tells about the pods that it places, in its words and in the newer form of events. Pure. */
import type { ApiObject } from "../../registry/index.ts";

const COMPONENT = "default-scheduler";

/** What became of a pod that looked for a node. */
export type Placement =
  | { readonly node: string }
  | { readonly refused: string }
  /** It made room for another one. */
  | { readonly node: string; readonly preemptor: ApiObject };

/** `serial` tells events of the same moment apart. */
export function schedulingEvent(
  pod: ApiObject,
  placement: Placement,
  host: string,
  now: number,
  serial: number,
): Record<string, unknown> {
  const { name, namespace } = pod.metadata;
  const suffix = (BigInt(Math.floor(now)) * 1_000_000n + BigInt(serial)).toString(16);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${suffix}`, namespace },
    involvedObject: referenceTo(pod),
    ...describe(pod, placement),
    ...("preemptor" in placement ? { related: referenceTo(placement.preemptor) } : {}),
    eventTime: new Date(now).toISOString().replace("Z", "000Z"),
    firstTimestamp: null,
    lastTimestamp: null,
    source: {},
    reportingComponent: COMPONENT,
    reportingInstance: `${COMPONENT}-${host}`,
  };
}

function referenceTo({ metadata: { name, namespace, uid, resourceVersion } }: ApiObject) {
  return { kind: "Pod", namespace, name, uid, apiVersion: "v1", resourceVersion };
}

function describe({ metadata: { name, namespace } }: ApiObject, placement: Placement) {
  if ("refused" in placement) {
    return { type: "Warning", reason: "FailedScheduling", action: "Scheduling", message: placement.refused };
  }
  if ("preemptor" in placement) {
    const message = `Preempted by pod ${placement.preemptor.metadata.uid} on node ${placement.node}`;
    return { type: "Normal", reason: "Preempted", action: "Preempting", message };
  }
  const message = `Successfully assigned ${namespace}/${name} to ${placement.node}`;
  return { type: "Normal", reason: "Scheduled", action: "Binding", message };
}
