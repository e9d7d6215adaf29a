import { timestamp } from "../registry/index.ts";

type Fields = Record<string, unknown>;

/** What the Node object tells of the machine. */
export interface NodeDescription {
  readonly name: string;
  readonly ip: string;
  readonly kubeletVersion: string;
  readonly os: string;
  /** As Go spells it: `amd64`, `arm64`. */
  readonly architecture: string;
  readonly runtime: string;
  /** What pods can ask for. */
  readonly capacity: Readonly<Record<string, string>>;
}

/** As nothing really is used, there is more than enough for what tests make. */
export const CAPACITY: Readonly<Record<string, string>> = {
  cpu: "1k",
  memory: "4Ti",
  pods: "10k",
  "ephemeral-storage": "16Ti",
};

/** The node as it registers itself. */
export function nodeObject({ name, os, architecture }: NodeDescription): Fields {
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
export function nodeStatus(node: NodeDescription, now: number): Fields {
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
    capacity: node.capacity,
    allocatable: node.capacity,
    conditions: [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ],
    addresses: [
      { type: "InternalIP", address: node.ip },
      { type: "Hostname", address: node.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      machineID: "",
      systemUUID: "",
      bootID: "",
      kernelVersion: "",
      osImage: "Lotse",
      containerRuntimeVersion: node.runtime,
      kubeletVersion: node.kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: node.os,
      architecture: node.architecture,
    },
  };
}
