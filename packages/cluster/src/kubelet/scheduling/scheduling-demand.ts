/** What a pod asks of a node, in the numbers that a scheduler reckons with. Pure. */
import { type Amounts, type ApiObject, listAt, objectAt, podAmounts } from "../../registry/index.ts";
import { claimKeys } from "../claims.ts";

/** A port of the node that a container wants for itself. */
export interface HostPort {
  readonly ip: string;
  /** `TCP/80` */
  readonly name: string;
}

/** What a pod asks for. */
export interface Demand {
  /** Of the pod in the store. */
  readonly key: string;
  readonly priority: number;
  /** By the name of the resource; cpu in thousandths, the rest in whole units. */
  readonly requests: ReadonlyMap<string, number>;
  readonly ports: readonly HostPort[];
}

/** Every address of the node. */
export const ANY_ADDRESS = "0.0.0.0";

/** What a pod asks of a node, read once from its spec. */
export function demandOf(key: string, pod: ApiObject): Demand {
  return { key, priority: priorityOf(pod), requests: unitsOf(podAmounts(pod, "requests")), ports: hostPorts(pod) };
}

/** Whether a pod still asks for the same: then its change is no news to the scheduler. */
export function sameDemand(a: Demand, b: Demand): boolean {
  const plain = ({ key, priority, requests, ports }: Demand) => JSON.stringify([key, priority, [...requests], ports]);
  return plain(a) === plain(b);
}

/** How important a pod is; 0 unless its class says otherwise. */
export function priorityOf(pod: ApiObject): number {
  const { priority } = objectAt(pod, "spec");
  return typeof priority === "number" ? priority : 0;
}

/** Amounts as they are counted: parts of a unit count as a whole one. */
export function unitsOf(amounts: Amounts): Map<string, number> {
  const units = new Map<string, number>();
  for (const [name, { nanos }] of amounts) {
    const size = name === "cpu" ? 1_000_000n : 1_000_000_000n;
    units.set(name, Number((nanos + size - 1n) / size));
  }
  return units;
}

function hostPorts(pod: ApiObject): HostPort[] {
  const sidecars = listAt(pod, "spec", "initContainers").filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...listAt(pod, "spec", "containers"), ...sidecars].flatMap((container) =>
    listAt(container, "ports").flatMap(({ hostPort, hostIP, protocol }) =>
      typeof hostPort === "number" && hostPort > 0
        ? [{ ip: String(hostIP || ANY_ADDRESS), name: `${protocol ?? "TCP"}/${hostPort}` }]
        : [],
    ),
  );
}

/** All that decides where a pod can go: pods that are alike in it have the same chances. */
export function signatureOf(pod: ApiObject): string {
  const { nodeSelector, affinity, tolerations, priority, preemptionPolicy, schedulingGates, overhead, resources } =
    objectAt(pod, "spec");
  const containers = (list: string) =>
    listAt(pod, "spec", list).map((one) => [one.resources, one.restartPolicy, one.ports]);
  return JSON.stringify([
    [nodeSelector, affinity, tolerations, priority, preemptionPolicy, schedulingGates, overhead, resources],
    containers("containers"),
    containers("initContainers"),
    claimKeys(pod),
  ]);
}
