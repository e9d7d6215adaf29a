import os from "node:os";
import type { Duration } from "@lotse/client/meta";
import type { ControllerContext } from "../../controllers/index.ts";
import { type ApiObject, fromStore, storeKey } from "../../registry/index.ts";
import { Kubelet } from "../kubelet.ts";
import { type NetworkOptions, ProcessNetwork } from "../network/index.ts";
import { CAPACITY } from "../node.ts";
import type { PodPrograms } from "../programs.ts";
import type { ContainerRuntime } from "../runtime.ts";
import { SimulatedRuntime } from "../simulate.ts";
import type { PodToken } from "../volume-files.ts";
import { dial } from "./process-dial.ts";
import { type ImageCommands, ProcessRuntime } from "./process-runtime.ts";

/** `simulate`: pods pretend to run. `process`: their commands run as processes of this machine. */
export type KubeletMode = "simulate" | "process";

/** How a node runs pods. */
export interface KubeletSettings {
  readonly mode: KubeletMode;
  /** The name of the node; that of the cluster and `-node` unless told. */
  readonly nodeName?: string;
  /** Simulate: how long pods stay Pending on the node; a tenth of a second unless told. */
  readonly startDelay?: Duration;
  /**
   * What the node has for pods, by resource, beyond or instead of what it has anyway (cpu, memory, ephemeral-storage and
   * pods, all in plenty). Pods that ask for more than is left stay Pending.
   *
   * @example
   * `{ cpu: 2, memory: "4Gi", pods: 10, "example.com/gpu": 1 }`
   */
  readonly capacity?: Readonly<Record<string, string | number>>;
  /**
   * Process: what runs in place of an image when a container has no command of its own.
   *
   * @example
   * `{ "my/app": ["node", "/srv/app/main.js"] }`
   */
  readonly images?: ImageCommands;
}

/** What pods of this machine's processes are run with. */
export interface NodeOptions {
  readonly context: ControllerContext;
  /** The cluster's. */
  readonly name: string;
  readonly programs: PodPrograms;
  /** Kubernetes'. */
  readonly version: string;
  /** A pod's kubeconfig, for the programs that run in it. */
  readonly kubeconfig: (pod: ApiObject) => string;
  /** The tokens in pods' volumes. */
  readonly token: PodToken;
  /** Where a ready pod behind a Service is; throws when there is none. */
  readonly resolve: NetworkOptions["resolve"];
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** Makes the node of a cluster. */
export function startNode(wanted: KubeletMode | KubeletSettings, options: NodeOptions): Kubelet {
  const settings = typeof wanted === "string" ? { mode: wanted } : wanted;
  const { context } = options;
  const { nodeName = `${options.name}-node` } = settings;
  const runtime = makeRuntime(settings, options);
  return new Kubelet({
    context,
    runtime,
    node: {
      name: nodeName,
      ip: "127.0.0.1",
      kubeletVersion: options.version,
      // What only pretends is what nodes mostly are: pods can be resized there.
      os: settings.mode === "simulate" ? "linux" : systemOf(os.platform()),
      architecture: ARCHITECTURES[os.arch()] ?? os.arch(),
      runtime: `lotse-${settings.mode}://1.0`,
      capacity: capacityOf(settings),
    },
  });
}

const systemOf = (platform: string): string => (platform === "win32" ? "windows" : platform);

function capacityOf({ capacity = {} }: KubeletSettings): Record<string, string> {
  return {
    ...CAPACITY,
    ...Object.fromEntries(Object.entries(capacity).map(([name, amount]) => [name, String(amount)])),
  };
}

function makeRuntime(
  settings: KubeletSettings,
  { context, programs, kubeconfig, token, resolve }: NodeOptions,
): ContainerRuntime {
  const { clock, random, store, troubles } = context.backend;
  const find = (plural: string, namespace: string, name: string): ApiObject | undefined => {
    const entry = store.get(plural, storeKey(namespace, name));
    return entry && fromStore(entry.object);
  };
  if (settings.mode === "simulate") {
    const startDelay = settings.startDelay ?? 100;
    const trouble = (work: string, error: unknown) => troubles.report(work, error);
    return new SimulatedRuntime({ clock, programs, random, startDelay, dial, find, token, trouble });
  }
  return new ProcessRuntime({
    clock,
    images: settings.images ?? {},
    kubeconfig,
    token,
    network: new ProcessNetwork({
      services: () => store.list("services").map((entry) => fromStore(entry.object)),
      watch: (listener) => store.watch("services", store.revision, listener),
      resolve,
    }),
    find,
  });
}
