/** Deployments, StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers. */
import { type appsv1, builtinDescription, type corev1 } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import { type GenMeta, headerOf, type WriteOptions } from "../objects/index.ts";
import { type ContainerGen, takePodSpec } from "./containers.ts";
import {
  daemonSetRollout,
  deploymentRollout,
  type RolloutStatus,
  replicaRollout,
  statefulSetRollout,
} from "./rollout.ts";
import type { UndoOptions } from "./undo.ts";
import { ScalableWorkload, Workload } from "./workload.ts";

/** What `Deployment.gen` takes: pods of one container. */
export interface DeploymentGen extends GenMeta, ContainerGen {
  /** Default 1. */
  replicas?: number | undefined;
  /** By which labels the pods are known. Default: the `labels`, or `{ app: <name> }`. */
  selector?: Record<string, string> | undefined;
  strategy?: appsv1.DeploymentStrategy | undefined;
}

/**
 * A Deployment.
 *
 * @example
 * ```ts
 * const web = await Deployment.gen({ name: "web", image: "nginx", replicas: 3, ports: 80 }).create();
 * await web.waitRollout({ timeout: "5m" });
 * await web.setImage("nginx:1.29");
 * await web.undo();
 * ```
 */
export class Deployment extends ScalableWorkload<appsv1.Deployment> {
  static override readonly description = builtinDescription("apps", "v1", "Deployment");

  static gen(o: DeploymentGen): Deployment {
    const { meta, spec, others } = takePodSpec(o);
    const { replicas, selector, strategy } = others;
    const labels = selector ?? meta.labels ?? (meta.name === undefined ? undefined : { app: meta.name });
    if (labels === undefined) {
      throw new ConfigError("by which labels shall the Deployment know its pods?", {
        hint: "give it a name, labels, or a selector",
      });
    }
    return new Deployment({
      ...headerOf(Deployment.description),
      metadata: meta,
      spec: {
        ...(replicas !== undefined && { replicas }),
        ...(strategy !== undefined && { strategy }),
        selector: { matchLabels: labels },
        template: { metadata: { labels: { ...meta.labels, ...labels } }, spec },
      },
    } as appsv1.Deployment);
  }

  /** Holds changes of the template back until `resume()`. */
  async pause(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { paused: true } }, o);
  }

  /** Rolls out what was held back. */
  async resume(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { paused: null } }, o);
  }

  /** Goes back to the template of an earlier revision. */
  async undo(o: UndoOptions = {}): Promise<this> {
    const { undoDeployment } = await import("./undo.ts");
    await undoDeployment(await this.connected(), this, ReplicaSet, o);
    return this;
  }

  protected rollout(): RolloutStatus {
    return deploymentRollout(this.body);
  }
}

/** A StatefulSet. */
export class StatefulSet extends ScalableWorkload<appsv1.StatefulSet> {
  static override readonly description = builtinDescription("apps", "v1", "StatefulSet");

  /** Goes back to the template of an earlier revision. */
  async undo(o: UndoOptions = {}): Promise<this> {
    const { undoByRevision } = await import("./undo.ts");
    await undoByRevision(await this.connected(), this, o);
    return this;
  }

  protected rollout(): RolloutStatus {
    return statefulSetRollout(this.body);
  }
}

/** A DaemonSet. */
export class DaemonSet extends Workload<appsv1.DaemonSet> {
  static override readonly description = builtinDescription("apps", "v1", "DaemonSet");

  /** Goes back to the template of an earlier revision. */
  async undo(o: UndoOptions = {}): Promise<this> {
    const { undoByRevision } = await import("./undo.ts");
    await undoByRevision(await this.connected(), this, o);
    return this;
  }

  protected rollout(): RolloutStatus {
    return daemonSetRollout(this.body);
  }
}

/** A ReplicaSet. */
export class ReplicaSet extends ScalableWorkload<appsv1.ReplicaSet> {
  static override readonly description = builtinDescription("apps", "v1", "ReplicaSet");

  protected rollout(): RolloutStatus {
    return replicaRollout(this.body);
  }
}

/** A ReplicationController: what a ReplicaSet was before there were ReplicaSets. */
export class ReplicationController extends ScalableWorkload<corev1.ReplicationController> {
  static override readonly description = builtinDescription("", "v1", "ReplicationController");

  protected rollout(): RolloutStatus {
    return replicaRollout(this.body);
  }
}
