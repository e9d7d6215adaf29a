/** What the kinds that run pods for good have in common. */
import type { corev1, metav1, ObjectBody } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import {
  RolloutError,
  replicasOf,
  type ScaleOptions,
  type ScalePaths,
  sendPatch,
  type WaitOptions,
  type WriteOptions,
} from "../objects/index.ts";
import type { RequestOptions } from "../transport/index.ts";
import { Pod } from "./pod.ts";
import { PodGroup } from "./pod-group.ts";
import type { RolloutStatus } from "./rollout.ts";

/** The part of a body that all workloads share. */
export interface WorkloadBody extends ObjectBody {
  spec?: { selector?: metav1.LabelSelector | Record<string, string>; template?: corev1.PodTemplateSpec };
}

/** The annotation by which kubectl, too, makes a new revision of the same template. */
const RESTARTED_AT = "kubectl.kubernetes.io/restartedAt";

/** New images: one for the only container, or by the container's name. */
export type Images = string | Readonly<Record<string, string>>;

/** A kind that runs pods for good. */
export abstract class Workload<out B extends WorkloadBody> extends PodGroup<B> {
  /** How far the body says that the rollout has come. */
  protected abstract rollout(): RolloutStatus;

  async pods(o: RequestOptions = {}): Promise<Pod[]> {
    const client = await this.connected();
    if (this.body.spec === undefined) await this.refresh(o);
    const selector = this.body.spec?.selector ?? this.body.spec?.template?.metadata?.labels;
    if (selector === undefined || Object.keys(selector).length === 0) return [];
    const labelSelector = selector as Record<string, string>;
    return client.list(Pod, { ...o, namespace: this.namespace, labelSelector }).toArray();
  }

  /** Reads the object anew: does everything run as the newest spec says? */
  async ready(o?: RequestOptions): Promise<boolean> {
    return (await this.rolloutStatus(o)).done;
  }

  /** Reads the object anew: how far has the rollout come? */
  async rolloutStatus(o?: RequestOptions): Promise<RolloutStatus> {
    await this.refresh(o);
    return this.rollout();
  }

  /** Resolves when everything runs as the newest spec says; a RolloutError when it will not by itself. */
  async waitRollout(o?: WaitOptions): Promise<this> {
    const rolledOut = ({ body }: { body: ObjectBody }): boolean => {
      this.body = body as B;
      const { done, failed } = this.rollout();
      return done || failed;
    };
    await this.wait(rolledOut, o);
    const { failed, message } = this.rollout();
    if (!failed) return this;
    throw new RolloutError(`${this.description.kind} ${this.namespace}/${this.name}: ${message}`, {
      hint: "look at the events of its pods, then repair the template, or undo()",
    });
  }

  /** Replaces all pods by new ones of the same template, as `kubectl rollout restart` does. */
  async restart(o?: WriteOptions): Promise<this> {
    if (this.body.spec === undefined) await this.refresh();
    if ((this.body.spec as { paused?: boolean } | undefined)?.paused) {
      throw new ConfigError(`${this.description.kind} ${this.name} is paused and restarts nothing`, {
        hint: "resume() it first",
      });
    }
    const { clock } = await this.connected();
    const restartedAt = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const template = { metadata: { annotations: { [RESTARTED_AT]: restartedAt } } };
    return sendPatch(this, { spec: { template } }, o);
  }

  /**
   * Sets images of the template.
   *
   * @example
   * ```ts
   * await deployment.setImage("nginx:1.29"); // of the only container
   * await deployment.setImage({ web: "nginx:1.29", log: "fluent-bit:4" });
   * ```
   */
  async setImage(images: Images, o?: WriteOptions): Promise<this> {
    if (this.body.spec === undefined) await this.refresh();
    return sendPatch(this, imagePatch(this.body.spec?.template, images), { ...o, type: "strategic" });
  }
}

/** A workload with replicas. */
export abstract class ScalableWorkload<out B extends WorkloadBody> extends Workload<B> {
  /** Where the numbers are. */
  static readonly scalePaths: ScalePaths = {};

  /** How many replicas are wanted; change it with `scale()`. */
  get replicas(): number {
    return replicasOf(this);
  }

  /** Sets the number of replicas, by way of `/scale`. */
  async scale(replicas: number, o?: ScaleOptions): Promise<this> {
    const client = await this.connected();
    await client.scale(this, replicas, o);
    return this;
  }
}

function imagePatch(template: corev1.PodTemplateSpec | undefined, images: Images): object {
  const main = (template?.spec?.containers ?? []).map(({ name }) => name);
  const init = (template?.spec?.initContainers ?? []).map(({ name }) => name);
  if (typeof images === "string" && main.length !== 1) {
    throw new ConfigError(`there are ${main.length} containers: which one is "${images}" for?`, {
      hint: `say it by name: { ${main.map((name) => `${JSON.stringify(name)}: "…"`).join(", ")} }`,
    });
  }
  const wanted = Object.entries(typeof images === "string" ? { [main[0] as string]: images } : images);
  const unknown = wanted.map(([name]) => name).filter((name) => !main.includes(name) && !init.includes(name));
  if (unknown.length > 0) {
    throw new ConfigError(`there is no container ${unknown.join(", ")}`, {
      hint: `the containers are: ${[...main, ...init].join(", ")}`,
    });
  }
  const among = (names: readonly string[]) =>
    wanted.filter(([name]) => names.includes(name)).map(([name, image]) => ({ name, image }));
  const [containers, initContainers] = [among(main), among(init)];
  const spec = { ...(containers.length > 0 && { containers }), ...(initContainers.length > 0 && { initContainers }) };
  return { spec: { template: { spec } } };
}
