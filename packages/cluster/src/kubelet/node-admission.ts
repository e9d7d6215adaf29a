/** Pods that a node sends back although a scheduler gave them to it. Pure. */
import { type ApiObject, listAt, objectAt, timestamp } from "../registry/index.ts";

/** Parameters of the kernel that a pod has for itself alone, and can do no harm with. */
const SAFE_SYSCTLS: Readonly<Record<"ipc" | "net", ReadonlySet<string>>> = {
  ipc: new Set(["kernel.shm_rmid_forced"]),
  net: new Set([
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
  ]),
};

/** Why a node does not want a pod. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** Why the node takes a pod not at all, in the kubelet's words; undefined when it does. */
export function rejectionOf(pod: ApiObject): Rejection | undefined {
  const { hostNetwork, hostIPC } = objectAt(pod, "spec");
  for (const { name } of listAt(pod, "spec", "securityContext", "sysctls")) {
    const sysctl = normalized(String(name));
    const problem = sysctlProblem(sysctl, hostNetwork === true, hostIPC === true);
    if (problem)
      return { reason: "SysctlForbidden", message: `forbidden sysctl: ${JSON.stringify(sysctl)} ${problem}` };
  }
  return undefined;
}

function sysctlProblem(name: string, hostNetwork: boolean, hostIpc: boolean): string | undefined {
  if (SAFE_SYSCTLS.ipc.has(name)) return hostIpc ? "not allowed with host IPC enabled" : undefined;
  if (SAFE_SYSCTLS.net.has(name)) return hostNetwork ? "not allowed with host Net enabled" : undefined;
  return "not allowlisted";
}

/** `net/ipv4/conf/eth0.1/rp_filter` is written with dots where the slashes are. */
function normalized(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  return first === "/" ? name.replace(/[./]/g, (sign) => (sign === "/" ? "." : "/")) : name;
}

/** The status of a pod that was sent back. */
export function rejectedStatus(pod: ApiObject, { reason, message }: Rejection, now: number): Record<string, unknown> {
  const { generation } = pod.metadata;
  const { qosClass } = objectAt(pod, "status");
  const seen = generation === undefined ? {} : { observedGeneration: generation };
  const unready = (type: string) => ({
    type,
    ...seen,
    status: "False",
    lastProbeTime: null,
    lastTransitionTime: timestamp(now),
    reason: "PodFailed",
  });
  const others = listAt(pod, "status", "conditions").filter(({ type }) => !OWN.has(String(type)));
  return {
    ...seen,
    phase: "Failed",
    conditions: [...others, unready("Ready"), unready("ContainersReady")],
    message: `Pod was rejected: ${message}`,
    reason,
    startTime: timestamp(now),
    ...(qosClass === undefined ? {} : { qosClass }),
  };
}

const OWN: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized", "ContainersReady"]);
