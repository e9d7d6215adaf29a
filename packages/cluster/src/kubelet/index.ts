export type { Kubelet, KubeletOptions, NodePods } from "./kubelet.ts";
export type { ContainerLog, LogSelection, LogStream } from "./log.ts";
export type { NodeFacts } from "./node.ts";
export { type PodKeeperOptions, PodKeepers } from "./pod-keepers.ts";
export type { KubeletMode, KubeletSettings } from "./process-node.ts";
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
export type { VolumeFile } from "./volume-files.ts";

/** What makes a node; loaded by clusters that have one. */
export const loadNode = async () => {
  const [{ startNode }, { Scheduler }, { TaintEviction }] = await Promise.all([
    import("./process-node.ts"),
    import("./scheduler.ts"),
    import("./taint-eviction.ts"),
  ]);
  return { startNode, Scheduler, TaintEviction };
};
