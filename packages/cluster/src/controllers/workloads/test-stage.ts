import { VirtualClock } from "@lotse/client/meta";
import { expect } from "vitest";
import { Cluster } from "../../cluster.ts";
import type { ClusterOptions } from "../../options.ts";
import { type Answer, call, MERGE } from "../../test-requests.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

const GROUPS: Readonly<Record<string, string>> = {
  deployments: "/apis/apps/v1",
  replicasets: "/apis/apps/v1",
  statefulsets: "/apis/apps/v1",
  daemonsets: "/apis/apps/v1",
  controllerrevisions: "/apis/apps/v1",
  jobs: "/apis/batch/v1",
  cronjobs: "/apis/batch/v1",
  endpointslices: "/apis/discovery.k8s.io/v1",
  poddisruptionbudgets: "/apis/policy/v1",
  storageclasses: "/apis/storage.k8s.io/v1",
};
const CLUSTER_SCOPED: ReadonlySet<string> = new Set(["nodes", "persistentvolumes", "storageclasses", "namespaces"]);

/** A cluster in virtual time, and short ways to talk to it. */
export class Stage implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly clock: VirtualClock;

  private constructor(cluster: Cluster, clock: VirtualClock) {
    this.cluster = cluster;
    this.clock = clock;
  }

  static async start(options: ClusterOptions = {}): Promise<Stage> {
    const clock = new VirtualClock();
    let seed = 42;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    return new Stage(await Cluster.start({ clock, random, tls: false, kubelet: "simulate", ...options }), clock);
  }

  path(plural: string, name?: string, subresource?: string): string {
    const place = CLUSTER_SCOPED.has(plural) ? plural : `namespaces/default/${plural}`;
    return [`${GROUPS[plural] ?? "/api/v1"}/${place}`, name, subresource]
      .filter((part) => part !== undefined)
      .join("/");
  }

  async create(plural: string, body: object): Promise<Body> {
    return this.#settled(await call(this.cluster, "POST", this.path(plural), { body }), 201);
  }

  async patch(plural: string, name: string, body: object, subresource?: string): Promise<Body> {
    const path = this.path(plural, name, subresource);
    return this.#settled(await call(this.cluster, "PATCH", path, { body, type: MERGE }), 200);
  }

  async remove(plural: string, name: string, propagationPolicy = "Background"): Promise<Body> {
    const path = `${this.path(plural, name)}?propagationPolicy=${propagationPolicy}`;
    return this.#settled(await call(this.cluster, "DELETE", path), 200);
  }

  async get(plural: string, name: string): Promise<Body> {
    await this.cluster.settle();
    return (await call(this.cluster, "GET", this.path(plural, name))).body;
  }

  async list(plural: string, selector = ""): Promise<Body[]> {
    await this.cluster.settle();
    const answer = await call(
      this.cluster,
      "GET",
      `${this.path(plural)}?labelSelector=${encodeURIComponent(selector)}`,
    );
    return answer.body.items;
  }

  async names(plural: string, selector = ""): Promise<string[]> {
    return (await this.list(plural, selector)).map(({ metadata }) => metadata.name);
  }

  /** Reasons and messages of the events about an object, in the order in which they were first told. */
  async events(name: string): Promise<string[]> {
    const all = (await this.list("events")).filter(({ involvedObject }) => involvedObject.name === name);
    all.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    return all.map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Lets time pass, and everything that falls due happen. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.cluster.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster.stop();
    expect(this.clock.pending).toBe(0);
  }

  async #settled(answer: Answer, status: number): Promise<Body> {
    expect(answer.status, answer.text).toBe(status);
    await this.cluster.settle();
    return answer.body;
  }
}

/** A template of pods with one container. */
export const template = (app: string, image = "app:1", spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "c", image }], ...spec },
});

/** A workload whose pods have the label `app`. */
export const workload = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});
