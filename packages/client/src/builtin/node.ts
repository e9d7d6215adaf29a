import { allNamespaces, builtinDescription, type corev1 } from "../kinds/index.ts";
import type { WriteOptions } from "../objects/index.ts";
import { apiErrorFrom, type RequestOptions } from "../transport/index.ts";
import { SpecObject } from "./base.ts";
import type { DrainOptions } from "./drain.ts";
import { Pod } from "./pod.ts";

/** What a taint does to pods that do not tolerate it. */
export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

/**
 * A Node.
 *
 * @example
 * ```ts
 * await node.taint("dedicated", "gpu", "NoSchedule");
 * await node.drain({ ignoreDaemonSets: true, timeout: "10m" });
 * await node.uncordon();
 * ```
 */
export class Node extends SpecObject<corev1.Node> {
  static override readonly description = builtinDescription("", "v1", "Node");

  /** Whether new pods are kept away. */
  get unschedulable(): boolean {
    return this.body.spec?.unschedulable ?? false;
  }

  get taints(): readonly corev1.Taint[] {
    return this.body.spec?.taints ?? [];
  }

  /** Keeps new pods away. */
  async cordon(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { unschedulable: true } }, o);
  }

  /** Lets pods come again. */
  async uncordon(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { unschedulable: null } }, o);
  }

  /** Sets a taint; one of the same key and effect gets the new value. */
  async taint(key: string, value: string, effect: TaintEffect, o?: WriteOptions): Promise<this> {
    const taint = { key, ...(value !== "" && { value }), effect };
    return this.#change(o, (taints) => [...taints.filter((one) => one.key !== key || one.effect !== effect), taint]);
  }

  /** Removes the taints of a key, or the one with that effect; a NotFoundError when there is none. */
  async untaint(key: string, effect?: TaintEffect, o?: WriteOptions): Promise<this> {
    return this.#change(o, (taints) => {
      const left = taints.filter((one) => one.key !== key || (effect !== undefined && one.effect !== effect));
      if (left.length < taints.length) return left;
      const what = effect === undefined ? key : `${key}:${effect}`;
      const message = `node ${this.name} has no taint ${what}`;
      throw apiErrorFrom(
        404,
        { message, details: { kind: "nodes", name: this.name } },
        { method: "GET", path: "nodes" },
      );
    });
  }

  /** The pods on the node, of all namespaces. */
  async pods(o?: RequestOptions): Promise<Pod[]> {
    const client = await this.connected();
    const fieldSelector = { "spec.nodeName": this.name };
    return client.list(Pod, { ...o, namespace: allNamespaces, fieldSelector }).toArray();
  }

  /**
   * Keeps new pods away and evicts those that are there, as their disruption budgets allow; resolves with them when they
   * are gone. Refuses, before it evicts anything, to lose what no controller would bring back.
   */
  async drain(o: DrainOptions = {}): Promise<Pod[]> {
    const { drainNode } = await import("./drain.ts");
    return drainNode(await this.connected(), this, o);
  }

  /** With the version, so that no taint of another client is lost. */
  async #change(
    o: WriteOptions | undefined,
    change: (taints: readonly corev1.Taint[]) => corev1.Taint[],
  ): Promise<this> {
    const edit = (body: corev1.Node) => {
      body.spec = { ...body.spec, taints: change(body.spec?.taints ?? []) };
    };
    return this.update(edit, o);
  }
}
