export { BytePipe, type ByteSink, type ByteSource, connectionPair, type PodConnection, readText } from "./bytes.ts";
export { DisruptionController } from "./disruption.ts";
export { Kubelet, type KubeletOptions, type NodePods } from "./kubelet.ts";
export type { ContainerLog, LogSelection, LogStream } from "./log.ts";
export type { NodeFacts } from "./node.ts";
export { type KubeletMode, type KubeletSettings, startNode } from "./process-node.ts";
export type { ImageCommands } from "./process-runtime.ts";
export {
  type ContainerBehaviour,
  type ExecAnswer,
  type ExecCall,
  type ExecProgram,
  type PodBehaviour,
  type PodMatcher,
  PodPrograms,
  type RunResult,
  type SimulatedExit,
  type SimulatedPod,
  type SimulatedRun,
} from "./programs.ts";
export type { CommandStreams, RunningContainer, TerminalSize } from "./runtime.ts";
export { bindPod } from "./status.ts";
