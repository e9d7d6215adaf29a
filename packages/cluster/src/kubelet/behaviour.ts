/** What simulated pods and their containers can be told to do: the types of `cluster.pods.program`. */
import type { Duration, LabelSelectorInput } from "@lotse/client/meta";
import type { ByteSource, PodConnection } from "../bytes/index.ts";
import type { LogStream } from "./log.ts";
import type { TerminalSize } from "./runtime.ts";
import type { VolumeFile } from "./volume-files.ts";

/** A pod as its programs see it. */
export interface SimulatedPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The whole object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Which pods a behaviour is for. All that is given must fit. A text is a name, with its namespace before a slash if it matters. */
export type PodMatcher =
  | string
  | {
      readonly name?: string | RegExp;
      readonly namespace?: string;
      readonly labels?: LabelSelectorInput;
      /** The image of any of its containers. */
      readonly image?: string | RegExp;
    }
  | ((pod: SimulatedPod) => boolean);

/** A command that a client runs in a simulated container. */
export interface ExecCall {
  readonly pod: SimulatedPod;
  readonly container: string;
  readonly command: readonly string[];
  readonly tty: boolean;
  /** What the caller sends; empty when it sends nothing. */
  readonly stdin: ByteSource;
  /** All of stdin as text: waits until the caller has ended it. */
  text(): Promise<string>;
  stdout(chunk: string | Uint8Array): Promise<void>;
  stderr(chunk: string | Uint8Array): Promise<void>;
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

/** How a command ends: with a text for stdout, an exit code, or both and a text for stderr. Nothing means success. */
export type ExecAnswer =
  // biome-ignore lint/suspicious/noConfusingVoidType: a program that only writes returns nothing
  void | string | number | { readonly stdout?: string; readonly stderr?: string; readonly exitCode?: number };

/** Answers commands: one answer, answers by command line (`"cat /etc/os-release"`), or a function. */
export type ExecProgram =
  | ExecAnswer
  | Readonly<Record<`${string}`, ExecAnswer>>
  | ((call: ExecCall) => ExecAnswer | Promise<ExecAnswer>);

/** One run of a simulated container, for a program that plays it. */
export interface SimulatedRun {
  readonly pod: SimulatedPod;
  readonly container: string;
  /** 0 for the first run, 1 after the first restart. */
  readonly attempt: number;
  /** What it would run: `command` and `args` of its spec, with variables put in. */
  readonly command: readonly string[];
  /** The variables that its spec asks for. Throws when a ConfigMap or Secret is missing that must be there. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The files that ConfigMaps, Secrets, tokens and fields of the pod bring to its mounts, by their paths, as they are now.
   * Throws as `env` does.
   */
  files(): ReadonlyMap<string, VolumeFile>;
  log(line: string, stream?: LogStream): void;
  /** Waits, in the cluster's time; ends early when the container is stopped. */
  sleep(time: Duration): Promise<void>;
  ready(ready: boolean): void;
  /** Aborted when the container is asked to stop. */
  readonly signal: AbortSignal;
}

/** The exit code of a container that has played its part; nothing when it goes on until it is stopped. */
// biome-ignore lint/suspicious/noConfusingVoidType: a program that only writes returns nothing
export type RunResult = number | void;

/** How a simulated container ends by itself. */
export interface SimulatedExit {
  readonly code?: number;
  /** How long it runs before; not at all unless told. */
  readonly after?: Duration;
  /** `OOMKilled`, for instance; `Completed` or `Error` unless told. */
  readonly reason?: string;
  /** What it left in its termination message. */
  readonly message?: string;
}

/** What one container does. */
export interface ContainerBehaviour {
  /** The image cannot be pulled, for this reason. */
  readonly pullError?: string;
  /** The container cannot be created, for this reason (`CreateContainerConfigError: …`). */
  readonly createError?: string;
  /** How long after its start it is ready; false: never. At once unless told. */
  readonly ready?: Duration | boolean;
  /** What it has written by the time it runs: lines, or a text with line feeds. */
  readonly logs?: string | readonly string[];
  /** Plays the container: writes logs, changes readiness. A number that it returns is the exit code. */
  readonly run?: (run: SimulatedRun) => RunResult | Promise<RunResult>;
  /** Ends by itself. A list has one entry for each run, the last one counts for all that follow; null keeps running. */
  readonly exit?: SimulatedExit | null | readonly (SimulatedExit | null)[];
  /** How long it takes to end after it is asked to; not at all unless told. */
  readonly stopDelay?: Duration;
  /** Its exit code when it is asked to end; 0 unless told. */
  readonly stopCode?: number;
  /** Answers commands, those of its hooks included; a hook of which it does not know goes well. */
  readonly exec?: ExecProgram;
  /** Answers who attaches; without it, they see its logs from then on. */
  readonly attach?: ExecProgram;
  /** Ports that clients can connect to: a port of this machine to pass on to, or a function that serves the connection. */
  readonly ports?: Readonly<Record<number, number | ((connection: PodConnection) => void | Promise<void>)>>;
}

/** What a pod does. What is said here goes for all of its containers; `containers` says more about single ones. */
export interface PodBehaviour extends ContainerBehaviour {
  /** How long the pod stays Pending on its node. */
  readonly startDelay?: Duration;
  /** The node gives the pod up. */
  readonly evicted?: { readonly after?: Duration; readonly message?: string };
  /** The pod as a whole fails, for this reason, whatever its containers do. */
  readonly failed?: { readonly after?: Duration; readonly reason?: string; readonly message?: string };
  readonly containers?: Readonly<Record<string, ContainerBehaviour>>;
}
