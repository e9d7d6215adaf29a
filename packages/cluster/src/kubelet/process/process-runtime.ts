import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type Clock, lookup } from "@lotse/client/meta";
import { type ApiObject, isRecord, objectAt } from "../../registry/index.ts";
import { containerEnvironment, expand, type FindObject } from "../environment.ts";
import type { ProcessNetwork } from "../network/index.ts";
import { CAPACITY } from "../node.ts";
import {
  type ContainerRun,
  type ContainerRuntime,
  type RunningContainer,
  type Sandbox,
  StartError,
} from "../runtime.ts";
import type { PodToken } from "../volume-files.ts";
import { Child } from "./process-child.ts";
import { ProcessContainer } from "./process-container.ts";
import { dialPod } from "./process-dial.ts";
import { inside, makeDirectory, placeWord } from "./process-files.ts";
import { homePrefix, sweepLeftovers } from "./process-leftovers.ts";
import { endStrays, endStraysNow, POD_VARIABLE } from "./process-owners.ts";
import { Watchdog } from "./process-watchdog.ts";

/** What runs in place of an image: a program and its arguments. */
export type ImageCommands = Readonly<Record<string, readonly string[]>>;

/** What the runtime of processes is given by its node. */
export interface ProcessOptions {
  readonly clock: Clock;
  readonly find: FindObject;
  readonly images: ImageCommands;
  /** A pod's kubeconfig, for programs that want to talk to the cluster. */
  readonly kubeconfig: (pod: ApiObject) => string;
  readonly token: PodToken;
  /** How programs reach Services. */
  readonly network: ProcessNetwork;
}

const ADDRESS = "127.0.0.1";
/** Variables of this process that programs cannot do without. */
const INHERITED = ["PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SystemRoot", "NODE_EXTRA_CA_CERTS"] as const;

/** Where pods have their folders, and who looks after them. */
interface Home {
  readonly folder: string;
  readonly watchdog: Watchdog;
}

/** One pod: its folder, and the processes that were started in it. */
interface Place {
  readonly folder: string;
  readonly children: Set<Child>;
}

/**
 * Containers as processes of this machine: their commands run as the user who started the cluster, each in a directory
 * of its own. Images are not pulled; what stands for one is told by `images`. A container without a command whose image
 * stands for nothing does nothing, but other commands can be run in it.
 */
export class ProcessRuntime implements ContainerRuntime {
  readonly pullsImages = false;
  readonly #options: ProcessOptions;
  readonly #children = new Set<Child>();
  #home: Promise<Home> | undefined;
  /** What it does before this process ends without having been closed. */
  #onExit = () => {};

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  async open(pod: ApiObject): Promise<Sandbox> {
    const home = await this.#settle();
    const { namespace, name, uid } = pod.metadata;
    const folder = path.join(home.folder, `${namespace}_${name}_${uid}`);
    const place: Place = { folder, children: new Set() };
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "kubeconfig"), this.#options.kubeconfig(pod), { mode: 0o600 });
    return {
      ip: ADDRESS,
      start: (run) => this.#start(home, place, run),
      connect: (port) => dialPod({ folder, leaders: [...place.children].flatMap((child) => child.pid ?? []) }, port),
      failed: new Promise(() => {}),
      remove: async () => {
        await endStrays(folder);
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  }

  async close(): Promise<void> {
    this.#killAll();
    await this.#options.network.close();
    if (!this.#home) return;
    const { folder, watchdog } = await this.#home;
    await endStrays(folder);
    await Promise.all([...this.#children].map((child) => child.exited));
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    await watchdog.close();
    process.off("exit", this.#onExit);
  }

  #settle(): Promise<Home> {
    this.#home ??= (async () => {
      await sweepLeftovers(os.tmpdir());
      const folder = await mkdtemp(path.join(os.tmpdir(), homePrefix(process.pid)));
      this.#onExit = () => {
        this.#killAll();
        endStraysNow(folder);
        rmSync(folder, { recursive: true, force: true });
      };
      process.on("exit", this.#onExit);
      return { folder, watchdog: new Watchdog(folder) };
    })();
    return this.#home;
  }

  #killAll(): void {
    for (const child of this.#children) child.kill();
  }

  async #start(home: Home, { folder: podFolder, children }: Place, run: ContainerRun): Promise<RunningContainer> {
    const { pod, container } = run;
    const addresses = { podIp: ADDRESS, hostIp: ADDRESS };
    const { find, token } = this.#options;
    const folder = await makeDirectory(podFolder, pod, container, { addresses, find, token, node: CAPACITY });
    const base = {
      ...this.#base(pod, folder),
      ...(await this.#options.network.variables(pod, home.folder)),
      KUBECONFIG: path.join(podFolder, "kubeconfig"),
    };
    const id = randomBytes(32).toString("hex");
    // Not that of the run before, whose strays may be on their way out.
    const mark = path.join(folder, id);
    const env = { ...containerEnvironment(pod, container, addresses, base, find, CAPACITY), [POD_VARIABLE]: mark };
    const workingFolder = inside(folder, String(container.workingDir ?? ""));
    await mkdir(workingFolder, { recursive: true });
    const command = this.#commandOf(container)?.map((word) => expand(word, env));
    const messageFile = inside(folder, String(container.terminationMessagePath ?? "/dev/termination-log"));
    await mkdir(path.dirname(messageFile), { recursive: true });
    const spawn = (words: readonly string[], tty: boolean, stdin: boolean, onExit?: () => void) => {
      const command = words.map((word) => placeWord(word, folder, container));
      const child = new Child({ command, folder: workingFolder, env, tty, stdin, onExit });
      this.#watch(child, children, home.watchdog);
      return child;
    };
    try {
      return new ProcessContainer({
        id: `lotse://${id}`,
        clock: this.#options.clock,
        spec: container,
        log: run.log,
        // Nothing of a container outlives its first process.
        main: command && spawn(command, container.tty === true, container.stdin === true, () => void endStrays(mark)),
        spawn,
        message: () => readFile(messageFile, "utf8").catch(() => ""),
        preStopFailed: run.preStopFailed,
      });
    } catch (error) {
      throw new StartError("RunContainerError", error instanceof Error ? error.message : String(error));
    }
  }

  /** It belongs to its pod and is guarded until it ends. */
  #watch(child: Child, children: Set<Child>, watchdog: Watchdog): void {
    const { pid } = child;
    if (pid !== undefined) watchdog.add(pid);
    for (const all of [this.#children, children]) all.add(child);
    void child.exited.then(() => {
      for (const all of [this.#children, children]) all.delete(child);
      if (pid !== undefined) watchdog.delete(pid);
    });
  }

  #base(pod: ApiObject, folder: string): Record<string, string> {
    const base: Record<string, string> = {
      HOME: folder,
      HOSTNAME: String(objectAt(pod, "spec").hostname ?? pod.metadata.name),
    };
    for (const name of INHERITED) {
      const value = process.env[name];
      if (value !== undefined) base[name] = value;
    }
    return base;
  }

  /** The spec's command, or what stands for its image; undefined when nothing does. */
  #commandOf(container: ContainerRun["container"]): string[] | undefined {
    const words = (value: unknown) => (Array.isArray(value) && value.length > 0 ? value.map(String) : undefined);
    const command = words(container.command);
    const args = words(container.args) ?? [];
    if (command) return [...command, ...args];
    const image = String(container.image ?? "");
    const { images } = this.#options;
    const known = lookup(images, image) ?? lookup(images, image.replace(/[:@][^/]*$/, ""));
    if (isRecord(container) && known) return [...known, ...args];
    return undefined;
  }
}
