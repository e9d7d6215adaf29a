import { matchesNode } from "../controllers/index.ts";
import { type ApiObject, listAt, objectAt, timestamp } from "../registry/index.ts";

type Fields = Record<string, unknown>;

export interface NodeFacts {
  readonly name: string;
  readonly ip: string;
  readonly kubeletVersion: string;
  readonly os: string;
  /** As Go spells it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly runtime: string;
}

/** What a node has for pods. */
export const CAPACITY = { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" };

/** The node as it registers itself. */
export function nodeObject({ name, os, architecture }: NodeFacts): Fields {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": os,
        "kubernetes.io/arch": architecture,
        "beta.kubernetes.io/os": os,
        "beta.kubernetes.io/arch": architecture,
      },
    },
    spec: { podCIDR: "10.244.0.0/16", podCIDRs: ["10.244.0.0/16"] },
  };
}

/** The status of a healthy node. */
export function nodeStatus(facts: NodeFacts, now: number): Fields {
  const time = timestamp(now);
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason,
    message,
  });
  return {
    capacity: CAPACITY,
    allocatable: CAPACITY,
    conditions: [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ],
    addresses: [
      { type: "InternalIP", address: facts.ip },
      { type: "Hostname", address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      machineID: "",
      systemUUID: "",
      bootID: "",
      kernelVersion: "",
      osImage: "Lotse",
      containerRuntimeVersion: facts.runtime,
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: facts.os,
      architecture: facts.architecture,
    },
  };
}

/** Why a node does not take a pod, `claims` being what is wrong with the pod's claims; undefined when it does. */
export function refusal(
  node: ApiObject,
  pod: ApiObject,
  claims?: string,
): { readonly reason: string; readonly message: string } | undefined {
  if (listAt(pod, "spec", "schedulingGates").length > 0) {
    return { reason: "SchedulingGated", message: "Scheduling is blocked due to non-empty scheduling gates" };
  }
  const refusedBy = (why: string) => ({
    reason: "Unschedulable",
    message: `0/1 nodes are available: ${why}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
  });
  const refuse = (why: string) => refusedBy(`1 ${why}`);
  if (claims !== undefined) return refusedBy(claims);
  const tolerations = listAt(pod, "spec", "tolerations");
  const cordon = { key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" };
  if (objectAt(node, "spec").unschedulable === true && !tolerates(tolerations, cordon)) {
    return refuse("node(s) were unschedulable");
  }
  if (!matchesNode(node, pod.spec)) return refuse("node(s) didn't match Pod's node affinity/selector");
  const taint = listAt(node, "spec", "taints").find(
    (one) => one.effect !== "PreferNoSchedule" && one.key !== cordon.key && !tolerates(tolerations, one),
  );
  return taint ? refuse(`node(s) had untolerated taint(s)`) : undefined;
}

function tolerates(tolerations: readonly Fields[], taint: Fields): boolean {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (!effect || effect === taint.effect) &&
      (key === undefined || key === "" ? operator === "Exists" : key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")),
  );
}
