/** An embedded Kubernetes cluster for development and tests. */

export type { Kubeconfig } from "@lotse/client";
export type { AccessControllers, Identity } from "./access/index.ts";
export { type AdmissionPluginName, type ServiceAddress, ServiceRoutes } from "./admission/index.ts";
export {
  type Fault,
  type FaultHandle,
  type FaultMatch,
  type FaultRequest,
  Faults,
  type RequestEntry,
  RequestLog,
} from "./api/index.ts";
export type { PodConnection } from "./bytes/index.ts";
export { Cluster } from "./cluster.ts";
export { type InstalledEnvtest, type InstallOptions, installEnvtest } from "./envtest/index.ts";
export type { ObjectChange, ObjectVersion } from "./history.ts";
export { type ObjectProblem, objectJudge } from "./judge.ts";
export {
  type ContainerBehaviour,
  type ExecAnswer,
  type ExecCall,
  type ExecProgram,
  type ImageCommands,
  type KubeletMode,
  type KubeletSettings,
  type PodBehaviour,
  type PodMatcher,
  PodPrograms,
  type RunResult,
  type SimulatedExit,
  type SimulatedPod,
  type SimulatedRun,
  type TerminalSize,
  type VolumeFile,
} from "./kubelet/index.ts";
export { checkDefinition, checkPolicy, type FieldProblem } from "./offline.ts";

export type {
  AdmissionChoice,
  ClusterOptions,
  ControllerOptions,
  ServiceAccountOptions,
  ServingCertificate,
  TokenUser,
} from "./options.ts";
export { ClusterSnapshot } from "./snapshot.ts";
export type { CutTail, DataReport } from "./store/index.ts";
export { type OpenPort, openPortEarly } from "./transport/index.ts";
