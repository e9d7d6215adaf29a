import type { ObjectBody } from "../kinds/index.ts";
import { KubeError } from "../meta/index.ts";
import type {
  ExecOptions,
  ExecResult,
  LogLines,
  PortForward,
  PortForwardOptions,
  PortSpec,
  WorkloadLogEntry,
  WorkloadLogOptions,
} from "../pods/index.ts";
import * as pods from "../pods/index.ts";
import type { RequestOptions } from "../transport/index.ts";
import { SpecObject } from "./base.ts";
import { deferredLines } from "./deferred.ts";
import { isReady, type Pod } from "./pod.ts";

/** There is no pod that could answer. */
export class NoReadyPodError extends KubeError {
  override readonly code: string = "LOTSE_NO_READY_POD";
}

/** An object behind which there are pods: a workload, a job or a service. */
export abstract class PodGroup<out B extends ObjectBody> extends SpecObject<B> {
  /** The pods that belong to it, ready or not. */
  abstract pods(o?: RequestOptions): Promise<Pod[]>;

  /** The pods that answer. */
  async readyPods(o?: RequestOptions): Promise<Pod[]> {
    return (await this.pods(o)).filter(isReady);
  }

  /** The first pod that answers; a NoReadyPodError when there is none. */
  async readyPod(o?: RequestOptions): Promise<Pod> {
    const all = await this.pods(o);
    const pod = all.find(isReady);
    if (pod) return pod;
    const { kind } = this.description;
    throw new NoReadyPodError(`no pod of ${kind} ${this.namespace}/${this.name} is ready (of ${all.length})`, {
      hint: all.length === 0 ? "its selector matches no pod" : "wait until it is ready, or look at its events",
    });
  }

  /** Runs a command in the first pod that is ready; see `Pod.exec`. */
  exec(command: readonly string[], o: ExecOptions & { encoding: "buffer" }): Promise<ExecResult<Buffer>>;
  exec(command: readonly string[], o?: ExecOptions & { encoding?: "utf8" | undefined }): Promise<ExecResult>;
  async exec(command: readonly string[], o?: ExecOptions): Promise<ExecResult<string | Buffer>> {
    const pod = await this.readyPod(o?.signal && { signal: o.signal });
    return pod.exec(command, o as ExecOptions & { encoding: "buffer" });
  }

  /**
   * The logs of all pods as one, line by line as they come.
   *
   * @example
   * ```ts
   * for await (const line of deployment.logs({ follow: true, prefix: true })) console.log(line);
   * ```
   */
  logs(o: WorkloadLogOptions & { readonly timestamps: "parse" }): LogLines<WorkloadLogEntry>;
  logs(o?: WorkloadLogOptions & { readonly timestamps?: boolean | undefined }): LogLines;
  logs(o?: WorkloadLogOptions): LogLines<string | WorkloadLogEntry> {
    return deferredLines(async () => {
      return pods.mergeLogs(async () => Promise.all((await this.pods()).map((pod) => pod.access())), o);
    });
  }

  /** Opens local ports that lead into a pod that is ready, chosen for each connection. */
  async portForward(ports: PortSpec | readonly PortSpec[], o?: PortForwardOptions): Promise<PortForward> {
    return pods.portForward({ pick: async () => (await this.readyPod()).access() }, ports, o);
  }
}
