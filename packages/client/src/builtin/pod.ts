import type { Agent } from "node:http";
import type { Duplex } from "node:stream";
import { builtinDescription, type corev1, type ObjectBody, pathOf } from "../kinds/index.ts";
import {
  type GenMeta,
  headerOf,
  type ObjectClient,
  requestPart,
  type WaitOptions,
  type WriteOptions,
} from "../objects/index.ts";
import type {
  AttachOptions,
  CopyOptions,
  ExecOptions,
  ExecProcess,
  ExecResult,
  LogEntry,
  LogLines,
  LogOptions,
  PodAccess,
  ConnectOptions as PodConnectOptions,
  PortForward,
  PortForwardOptions,
  PortSpec,
  SpawnOptions,
} from "../pods/index.ts";
import * as pods from "../pods/index.ts";
import type { RequestOptions } from "../transport/index.ts";
import { SpecObject } from "./base.ts";
import { type ContainerGen, takePodSpec } from "./containers.ts";
import { deferredLines } from "./deferred.ts";
import { type ContainerView, containersOf, isPodReady } from "./pod-state.ts";

/** What `Pod.gen` takes: a pod of one container. */
export interface PodGen extends GenMeta, ContainerGen {}

/** How to evict a pod. */
export interface EvictOptions extends RequestOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/**
 * A pod.
 *
 * @example
 * ```ts
 * const pod = await Pod.gen({ name: "web", image: "nginx", ports: 80 }).create();
 * await pod.waitReady();
 * const { stdout } = await pod.exec(["cat", "/etc/os-release"]);
 * for await (const line of pod.logs({ follow: true })) console.log(line);
 * ```
 */
export class Pod extends SpecObject<corev1.Pod> {
  static override readonly description = builtinDescription("", "v1", "Pod");

  /** A pod of one container. */
  static gen(o: PodGen): Pod {
    const { meta, spec } = takePodSpec(o);
    return new Pod({ ...headerOf(Pod.description), metadata: meta, spec } as corev1.Pod);
  }

  /** The containers with what is known of their state: those of the start, the main ones, and those for debugging. */
  get containers(): readonly ContainerView[] {
    return containersOf(this.body);
  }

  /** How often containers were started again, all together. */
  get restartCount(): number {
    return this.containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  }

  get tolerations(): readonly corev1.Toleration[] {
    return this.spec?.tolerations ?? [];
  }

  /** Reads the pod anew: are it and its containers ready? */
  async ready(o?: RequestOptions): Promise<boolean> {
    await this.refresh(o);
    return isPodReady(this.body);
  }

  /** Resolves when the pod is ready. */
  async waitReady(o?: WaitOptions): Promise<this> {
    await this.wait("condition=Ready", o);
    return this;
  }

  /**
   * Adds a toleration; the server allows nothing but additions.
   *
   * @example
   * ```ts
   * await pod.tolerate({ key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" });
   * ```
   */
  async tolerate(toleration: corev1.Toleration, o?: WriteOptions): Promise<this> {
    await this.refresh(o && requestPart(o));
    const tolerations = [...this.tolerations, toleration];
    const { resourceVersion } = this.metadata;
    return this.patch({ metadata: { resourceVersion }, spec: { tolerations } }, o);
  }

  /** Asks for the pod's removal; a TooManyRequestsError while a disruption budget does not allow it. */
  async evict(o: EvictOptions = {}): Promise<void> {
    const client = await this.connected();
    const { name, namespace } = this;
    const { gracePeriodSeconds, dryRun } = o;
    const deleteOptions = {
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(dryRun && { dryRun: ["All"] }),
      ...(this.uid !== undefined && { preconditions: { uid: this.uid } }),
    };
    await client.raw({
      ...requestPart(o),
      // A refusal is an answer: a caller that wants to wait knows better for how long.
      retry: o.retry ?? false,
      method: "POST",
      path: pathOf(Pod.description, { namespace: namespace ?? client.namespace, name, subresource: "eviction" }),
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, deleteOptions },
    });
  }

  /**
   * Runs a command and resolves with what it wrote; an ExecError when it fails, unless `check: false`.
   *
   * @example
   * ```ts
   * const { stdout } = await pod.exec(["wc", "-l"], { stdin: "one\ntwo\n" });
   * ```
   */
  exec(command: readonly string[], o: ExecOptions & { encoding: "buffer" }): Promise<ExecResult<Buffer>>;
  exec(command: readonly string[], o?: ExecOptions & { encoding?: "utf8" | undefined }): Promise<ExecResult>;
  async exec(command: readonly string[], o?: ExecOptions): Promise<ExecResult<string | Buffer>> {
    return pods.exec(await this.access(), command, o);
  }

  /** Starts a command and gives its streams while it runs. */
  async spawn(command: readonly string[], o?: SpawnOptions): Promise<ExecProcess> {
    return pods.spawn(await this.access(), command, o);
  }

  /** The streams of the container's own process. */
  async attach(o?: AttachOptions): Promise<ExecProcess> {
    return pods.attach(await this.access(), o);
  }

  /**
   * The lines of a container's log; `follow` survives its restarts.
   *
   * @example
   * ```ts
   * console.log(await pod.logs({ tailLines: 10 }).text());
   * ```
   */
  logs(o: LogOptions & { readonly timestamps: "parse" }): LogLines<LogEntry>;
  logs(o?: LogOptions & { readonly timestamps?: boolean | undefined }): LogLines;
  logs(o?: LogOptions): LogLines<string | LogEntry> {
    return deferredLines(async () => pods.logs(await this.access(), o));
  }

  /**
   * Opens local ports that lead into the pod.
   *
   * @example
   * ```ts
   * await using forward = await pod.portForward(80);
   * const page = await fetch(forward.url("/"));
   * ```
   */
  async portForward(ports: PortSpec | readonly PortSpec[], o?: PortForwardOptions): Promise<PortForward> {
    const access = await this.access();
    return pods.portForward({ pick: async () => access }, ports, o);
  }

  /** One connection to a port of the pod, with no local port. */
  async connect(port: number, o?: PodConnectOptions): Promise<Duplex> {
    return pods.connect(await this.access(), port, o);
  }

  /** For `http.request({ agent })`: requests that go to a port of the pod, with no local port. */
  async agent(port: number): Promise<Agent> {
    return pods.podAgent(await this.access(), port);
  }

  /** Copies a file or a folder into a container; needs `tar` there. */
  async copyTo(local: string | URL, remote: string, o?: CopyOptions): Promise<void> {
    await pods.copyTo(await this.access(), local, remote, o);
  }

  /** Copies a file or a folder out of a container; needs `tar` there. */
  async copyFrom(remote: string, local: string | URL, o?: CopyOptions): Promise<void> {
    await pods.copyFrom(await this.access(), remote, local, o);
  }

  /** What the functions for exec, logs and ports need of a pod. */
  async access(): Promise<PodAccess> {
    return accessOf(this, await this.connected());
  }
}

function accessOf(pod: Pod, client: ObjectClient): PodAccess {
  const { name } = pod;
  const namespace = pod.namespace ?? client.namespace;
  return {
    name,
    namespace,
    path: pathOf(Pod.description, { namespace, name }),
    raw: (request) => client.raw(request),
    webSocket: (request) => client.webSocket(request),
    read: async (o) => {
      const { body } = await client.get(Pod, name, { ...o, namespace });
      pod.body = body;
      return body;
    },
    clock: client.clock,
  };
}

/** Whether a body of a list is that of a pod that answers. */
export const isReady = ({ body }: { readonly body: ObjectBody }): boolean => isPodReady(body as corev1.Pod);
