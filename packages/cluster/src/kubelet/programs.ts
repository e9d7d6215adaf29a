import {
  ConfigError,
  type Duration,
  type LabelSelectorInput,
  lookup,
  matchesLabels,
  parseLabelSelector,
} from "@lotse/client/meta";
import type { ByteSource, PodConnection } from "../bytes/index.ts";
import { type ApiObject, listAt, objectAt } from "../registry/index.ts";
import { annotatedBehaviour } from "./annotation.ts";
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

/** A command that somebody runs in a simulated container. */
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
  readonly exec?: ExecProgram;
  /** Answers who attaches; without it, they see its logs from then on. */
  readonly attach?: ExecProgram;
  /** Ports that somebody can connect to: a port of this machine to pass on to, or a function that serves the connection. */
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

/**
 * What simulated pods do: nothing but run, unless a program says more, or their annotation `lotse.dev/simulate`.
 *
 * @example
 * ```ts
 * cluster.pods.program({ labels: "app=web" }, { exec: { "cat /etc/hostname": "web\n" }, logs: ["up"] });
 * cluster.pods.program("worker", { exit: { code: 1, after: "5s" } }); // and again, with a growing back-off
 * ```
 */
export class PodPrograms {
  readonly #programs: { readonly matches: (pod: SimulatedPod) => boolean; readonly behaviour: PodBehaviour }[] = [];

  /**
   * Says what pods do: answers to exec, attach and connections from now on, the rest from their next start on. Where
   * several programs fit, later ones count more, field by field. The returned function takes it back.
   */
  program(matcher: PodMatcher, behaviour: PodBehaviour): () => void {
    const entry = { matches: compile(matcher), behaviour };
    this.#programs.push(entry);
    return () => {
      const at = this.#programs.indexOf(entry);
      if (at >= 0) this.#programs.splice(at, 1);
    };
  }

  /** Called by the node: all that was said about a pod, by its annotation first. Throws when that makes no sense. */
  behaviourOf(pod: SimulatedPod): PodBehaviour {
    const said = annotatedBehaviour(objectAt(pod.body, "metadata", "annotations"));
    const programs = this.#programs.filter(({ matches }) => matches(pod)).map(({ behaviour }) => behaviour);
    const found = [said, ...programs];
    return Object.assign({}, ...found, { containers: mergeContainers(found) }) as PodBehaviour;
  }
}

function mergeContainers(behaviours: readonly PodBehaviour[]): Record<string, ContainerBehaviour> {
  const merged: Record<string, ContainerBehaviour> = {};
  for (const { containers = {} } of behaviours) {
    for (const [name, behaviour] of Object.entries(containers))
      merged[name] = { ...lookup(merged, name), ...behaviour };
  }
  return merged;
}

/** What a program says about one container of the pod. */
export function containerBehaviour(behaviour: PodBehaviour, container: string): ContainerBehaviour {
  const { containers, startDelay: _, evicted: __, failed: ___, ...shared } = behaviour;
  return { ...shared, ...lookup(containers, container) };
}

export function simulatedPod(pod: ApiObject): SimulatedPod {
  const { name, namespace = "", labels = {} } = pod.metadata;
  return { name, namespace, labels, body: pod as unknown as Readonly<Record<string, unknown>> };
}

function compile(matcher: PodMatcher): (pod: SimulatedPod) => boolean {
  if (typeof matcher === "function") return matcher;
  if (typeof matcher === "string") {
    const [first, second, ...more] = matcher.split("/");
    if (!first || second === "" || more.length > 0) {
      throw new ConfigError(`${JSON.stringify(matcher)} names no pod`, {
        hint: 'write "name", "namespace/name", { labels: "app=web" } or a function',
      });
    }
    return second === undefined ? (pod) => pod.name === first : (pod) => pod.namespace === first && pod.name === second;
  }
  const { name, namespace, image } = matcher;
  const labels = matcher.labels === undefined ? undefined : parseLabelSelector(matcher.labels);
  return (pod) =>
    (name === undefined || fits(name, pod.name)) &&
    (namespace === undefined || namespace === pod.namespace) &&
    (labels === undefined || matchesLabels(labels, pod.labels)) &&
    (image === undefined || listAt(pod.body, "spec", "containers").some((c) => fits(image, String(c.image))));
}

const fits = (pattern: string | RegExp, text: string): boolean =>
  typeof pattern === "string" ? pattern === text : pattern.test(text);
