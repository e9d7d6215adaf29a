import type { ByteSink, ByteSource, PodConnection } from "../bytes/index.ts";
import type { ApiObject } from "../registry/index.ts";
import type { ContainerLog } from "./log.ts";

/** How large the terminal of a command is. */
export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** The streams whose other ends a client holds while a command runs. */
export interface CommandStreams {
  readonly stdin: ByteSource | undefined;
  readonly stdout: ByteSink | undefined;
  readonly stderr: ByteSink | undefined;
  readonly tty: boolean;
  /** Calls `listener` with each new size of the terminal, the first one included. */
  readonly onResize: (listener: (size: TerminalSize) => void) => void;
  /** Aborted when the other side has gone. */
  readonly signal: AbortSignal;
}

/** How a container ended. */
export interface ContainerExit {
  readonly exitCode: number;
  readonly signal?: number | undefined;
  /** `Completed` or `Error` unless told. */
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** A container could not be started. `reason` is shown as the reason for which it waits. */
export class StartError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = "StartError";
    this.reason = reason;
  }
}

/** Does what a probe says; resolves to what is wrong with the container, and to undefined when nothing is. */
export type Probe = (probe: Readonly<Record<string, unknown>>) => Promise<string | undefined>;

/** How the kubelet learns whether a container is ready: by probing it, or because it says so. */
export type Readiness =
  | { readonly by: "probes"; readonly probe: Probe }
  | { readonly by: "itself"; readonly onChange: (listener: (ready: boolean) => void) => void };

/** What a container is told to do when it has begun, and before it is ended. */
export type Hook = "PostStart" | "PreStop";

/** One run of one container. */
export interface RunningContainer {
  /** `lotse://…` */
  readonly id: string;
  readonly exited: Promise<ContainerExit>;
  readonly readiness: Readiness;
  /** How its hook for the start went, where it has one: until then it does not count as running, without it it is ended. */
  readonly postStart?: Promise<boolean> | undefined;
  /** Asks the container to end, and ends it after `graceMs`. Called again with less time, it has only that. */
  stop(graceMs: number): void;
  /** Runs a command inside; resolves to its exit code. */
  exec(command: readonly string[], streams: CommandStreams): Promise<number>;
  /** Connects to the streams of the container itself; resolves to its exit code, or when the other side has gone. */
  attach(streams: CommandStreams): Promise<number>;
}

/** What a container is started with. */
export interface ContainerRun {
  readonly pod: ApiObject;
  /** Its entry in the spec. */
  readonly container: Readonly<Record<string, unknown>>;
  /** 0 for the first run. */
  readonly attempt: number;
  readonly log: ContainerLog;
  /** Its hook for the end has failed; it is ended all the same. */
  readonly preStopFailed: () => void;
}

/** What the containers of one pod share: an address, a directory. */
export interface Sandbox {
  readonly ip: string;
  /** Rejects with a {@link StartError}. */
  start(run: ContainerRun): Promise<RunningContainer>;
  /** Connects to a port; rejects when the pod does not listen there. */
  connect(port: number): Promise<PodConnection>;
  /** Resolves when the whole pod has failed for a reason that is not one of its containers'; often never. */
  readonly failed: Promise<{ readonly reason: string; readonly message: string }>;
  /** Frees everything. */
  remove(): Promise<void>;
}

/** Runs containers, in whatever sense. */
export interface ContainerRuntime {
  /** Whether images have to be fetched, or at least pretended to be. */
  readonly pullsImages: boolean;
  /** Resolves when the pod can start its first container. */
  open(pod: ApiObject, signal: AbortSignal): Promise<Sandbox>;
  /** Ends everything that still runs. */
  close(): Promise<void>;
}
