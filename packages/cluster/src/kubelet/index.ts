export type {
  ContainerBehaviour,
  ExecAnswer,
  ExecCall,
  ExecProgram,
  PodBehaviour,
  PodMatcher,
  RunResult,
  SimulatedExit,
  SimulatedPod,
  SimulatedRun,
} from "./behaviour.ts";
export type { Kubelet, KubeletOptions, NodePods } from "./kubelet.ts";
export type { ContainerLog, LogSelection, LogStream } from "./log.ts";
export type { NodeDescription } from "./node.ts";
export { type PodKeeperOptions, PodKeepers } from "./pod-keepers.ts";
export type { KubeletMode, KubeletSettings } from "./process/process-node.ts";
export type { ImageCommands } from "./process/process-runtime.ts";
export { PodPrograms } from "./programs.ts";
export type { CommandStreams, RunningContainer, TerminalSize } from "./runtime.ts";
export { bindPod } from "./status.ts";
export type { VolumeFile } from "./volume-files.ts";

/** What makes a node; loaded by clusters that have one. */
export const loadNode = async () => {
  const [{ startNode }, { Scheduler }, { TaintEviction }] = await Promise.all([
    import("./process/process-node.ts"),
    import("./scheduling/scheduler.ts"),
    import("./scheduling/taint-eviction.ts"),
  ]);
  return { startNode, Scheduler, TaintEviction };
};
