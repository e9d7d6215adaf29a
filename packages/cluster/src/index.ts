/** An embedded Kubernetes cluster for development and tests. */

export type { Kubeconfig } from "@lotse/client";
export { type RequestEntry, RequestLog } from "./api/index.ts";
export { Cluster, type ClusterOptions, type ControllerOptions } from "./cluster.ts";
export {
  type ContainerBehaviour,
  type ExecAnswer,
  type ExecCall,
  type ExecProgram,
  type ImageCommands,
  type KubeletMode,
  type KubeletSettings,
  type PodBehaviour,
  type PodConnection,
  type PodMatcher,
  PodPrograms,
  type RunResult,
  type SimulatedExit,
  type SimulatedPod,
  type SimulatedRun,
  type TerminalSize,
} from "./kubelet/index.ts";
