/**
 * Commands, logs, ports and files of pods. This door is light: what does the work is loaded when it is first called, so
 * that the errors can be exported at the package's entry.
 */
import type { connect as Connect } from "./connect.ts";
import type { copyFrom as CopyFrom, copyTo as CopyTo } from "./copy.ts";
import type { attach as Attach, exec as Exec, ExecOptions, spawn as Spawn } from "./exec.ts";
import type { portForward as Forward } from "./forward.ts";
import { logLines } from "./log-lines.ts";
import type { logs as Logs } from "./logs.ts";
import type { mergeLogs as MergeLogs } from "./merge-logs.ts";

export type { PodAccess } from "./access.ts";
export { podAgent } from "./agent.ts";
export type { TerminalSize } from "./channels.ts";
export type { ConnectOptions } from "./connect.ts";
export type { CopyOptions } from "./copy.ts";
export {
  ConnectionClosedError,
  ContainerNotRunningError,
  CopyError,
  ExecError,
  type ExecFailure,
} from "./errors.ts";
export type { AttachOptions, ExecInput, ExecOptions, ExecResult, SpawnOptions } from "./exec.ts";
export type { CopyResult, OutsideRule } from "./folders.ts";
export type { ForwardedPort, ForwardTarget, PortForward, PortForwardOptions } from "./forward.ts";
export type { LogLines } from "./log-lines.ts";
export type { LogEntry, LogOptions } from "./logs.ts";
export type { LogSource, WorkloadLogEntry, WorkloadLogOptions } from "./merge-logs.ts";
export type { PortSpec } from "./ports.ts";
export type { ContainerOptions, ExecProcess } from "./process.ts";
export { sh } from "./shell.ts";
export type { Terminal } from "./terminal.ts";

/** Runs a command in a container and resolves with what it wrote. */
export const exec = (async (pod, command, o?: ExecOptions) =>
  (await import("./exec.ts")).exec(pod, command, o)) as typeof Exec;

/** Starts a command in a container and resolves with its streams. */
export const spawn: typeof Spawn = async (...args) => (await import("./exec.ts")).spawn(...args);

/** Connects with the command that a container itself runs. */
export const attach: typeof Attach = async (...args) => (await import("./exec.ts")).attach(...args);

/** The log of a container, line by line. */
export const logs = ((pod, o) => deferred(async () => (await import("./logs.ts")).logs(pod, o))) as typeof Logs;

/** The logs of several pods as one. */
export const mergeLogs = ((pods, o) =>
  deferred(async () => (await import("./merge-logs.ts")).mergeLogs(pods, o))) as typeof MergeLogs;

/** Opens local ports that lead to ports of a pod. */
export const portForward: typeof Forward = async (...args) => (await import("./forward.ts")).portForward(...args);

/** Connects to a port of a pod, with no port opened here. */
export const connect: typeof Connect = async (...args) => (await import("./connect.ts")).connect(...args);

/** Copies a file or a folder into a container. */
export const copyTo: typeof CopyTo = async (...args) => (await import("./copy.ts")).copyTo(...args);

/** Copies a file or a folder out of a container. */
export const copyFrom: typeof CopyFrom = async (...args) => (await import("./copy.ts")).copyFrom(...args);

function deferred<T extends string | { line: string }>(source: () => Promise<AsyncIterable<T>>) {
  const open = async function* () {
    yield* await source();
  };
  return logLines<T>(open, (item) => (typeof item === "string" ? item : item.line));
}
