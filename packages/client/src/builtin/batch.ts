/** Jobs and CronJobs. */
import { apiVersionOf, type batchv1, builtinDescription } from "../kinds/index.ts";
import {
  anyOf,
  type CreateOptions,
  type GenMeta,
  headerOf,
  JobFailedError,
  replicasOf,
  type ScaleOptions,
  type ScalePaths,
  type WaitOptions,
  type WriteOptions,
} from "../objects/index.ts";
import type { RequestOptions } from "../transport/index.ts";
import { SpecObject } from "./base.ts";
import { type ContainerGen, takePodSpec } from "./containers.ts";
import { Pod } from "./pod.ts";
import { PodGroup } from "./pod-group.ts";

/** What `Job.gen` takes: pods of one container that run to their end. `restartPolicy` is `Never` by default. */
export interface JobGen extends GenMeta, ContainerGen {
  backoffLimit?: number | undefined;
  completions?: number | undefined;
  parallelism?: number | undefined;
  activeDeadlineSeconds?: number | undefined;
  ttlSecondsAfterFinished?: number | undefined;
  suspend?: boolean | undefined;
}

const LAST_LINES = 20;

/**
 * A Job.
 *
 * @example
 * ```ts
 * const job = await Job.gen({ name: "import", image: "importer", command: ["./import"] }).create();
 * await job.waitDone({ timeout: "10m" }); // a JobFailedError has the last lines of its log
 * ```
 */
export class Job extends PodGroup<batchv1.Job> {
  static override readonly description = builtinDescription("batch", "v1", "Job");
  /** A job has no `/scale`: what grows is the number of pods at a time. */
  static readonly scalePaths: ScalePaths = {
    specReplicasPath: ".spec.parallelism",
    statusReplicasPath: ".status.active",
  };

  static gen(o: JobGen): Job {
    const { meta, spec } = jobSpecOf(o);
    return new Job({ ...headerOf(Job.description), metadata: meta, spec } as batchv1.Job);
  }

  /** How many pods run at a time; change it with `scale()`. */
  get replicas(): number {
    return replicasOf(this);
  }

  /** Sets how many pods run at a time. */
  async scale(parallelism: number, o?: ScaleOptions): Promise<this> {
    const client = await this.connected();
    await client.scale(this, parallelism, o);
    return this;
  }

  async pods(o: RequestOptions = {}): Promise<Pod[]> {
    const client = await this.connected();
    if (this.body.spec?.selector === undefined) await this.refresh(o);
    const labelSelector = this.body.spec?.selector ?? { "batch.kubernetes.io/job-name": this.name };
    return client.list(Pod, { ...o, namespace: this.namespace, labelSelector }).toArray();
  }

  /** Reads the job anew: has it done its work? */
  async succeeded(o?: RequestOptions): Promise<boolean> {
    await this.refresh(o);
    return this.#condition("Complete") !== undefined;
  }

  /** Reads the job anew: has it given up? */
  async failed(o?: RequestOptions): Promise<boolean> {
    await this.refresh(o);
    return this.#condition("Failed") !== undefined;
  }

  /** Resolves when the job has done its work; a JobFailedError with the last lines of its log when it has given up. */
  async waitDone(o?: WaitOptions): Promise<this> {
    await this.wait(anyOf("condition=Complete", "condition=Failed"), o);
    const failed = this.#condition("Failed");
    if (failed === undefined) return this;
    const { reason = "Failed", message = "" } = failed;
    const lastLines = await this.#lastLines(o?.signal);
    throw new JobFailedError(`Job ${this.namespace}/${this.name} failed: ${message || reason}`, {
      reason,
      lastLines,
      hint: lastLines.length > 0 ? `it said last: ${lastLines.at(-1)}` : "look at the events of its pods",
    });
  }

  #condition(type: "Complete" | "Failed") {
    return this.status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
  }

  async #lastLines(signal: AbortSignal | undefined): Promise<string[]> {
    try {
      const started = ({ metadata }: Pod) => metadata.creationTimestamp ?? "";
      const pods = await this.pods({ signal });
      const last = pods.sort((a, b) => started(a).localeCompare(started(b))).at(-1);
      return last ? await last.logs({ tailLines: LAST_LINES, signal }).toArray() : [];
    } catch {
      // The failure of the job is the news; a log that is gone must not hide it.
      return [];
    }
  }
}

/** What `CronJob.gen` takes. */
export interface CronJobGen extends JobGen {
  /** `"*\/5 * * * *"` */
  schedule: string;
  timeZone?: string | undefined;
  concurrencyPolicy?: batchv1.CronJobSpec["concurrencyPolicy"] | undefined;
}

/**
 * A CronJob.
 *
 * @example
 * ```ts
 * const nightly = await client.get(CronJob, "nightly");
 * const job = await nightly.trigger(); // now, and not at night
 * await job.waitDone();
 * ```
 */
export class CronJob extends SpecObject<batchv1.CronJob> {
  static override readonly description = builtinDescription("batch", "v1", "CronJob");

  static gen({ schedule, timeZone, concurrencyPolicy, suspend, ...o }: CronJobGen): CronJob {
    const { meta, spec } = jobSpecOf(o);
    return new CronJob({
      ...headerOf(CronJob.description),
      metadata: meta,
      spec: {
        schedule,
        ...(timeZone !== undefined && { timeZone }),
        ...(concurrencyPolicy !== undefined && { concurrencyPolicy }),
        ...(suspend !== undefined && { suspend }),
        jobTemplate: { ...(meta.labels && { metadata: { labels: meta.labels } }), spec },
      },
    } as batchv1.CronJob);
  }

  /** Creates a job now, as `kubectl create job --from` does. */
  async trigger({ name, ...o }: CreateOptions & { readonly name?: string | undefined } = {}): Promise<Job> {
    const client = await this.connected();
    if (this.uid === undefined || this.body.spec === undefined) await this.refresh();
    const { metadata: template = {}, spec } = this.spec.jobTemplate;
    const owner = {
      apiVersion: apiVersionOf(CronJob.description),
      kind: CronJob.description.kind,
      name: this.name,
      uid: this.uid as string,
      controller: true,
    };
    const job = new Job({
      metadata: {
        ...(name === undefined ? { generateName: `${this.name}-manual-` } : { name }),
        ...(this.namespace !== undefined && { namespace: this.namespace }),
        ...(template.labels && { labels: template.labels }),
        annotations: { ...template.annotations, "cronjob.kubernetes.io/instantiate": "manual" },
        ownerReferences: [owner],
      },
      ...(spec && { spec }),
    });
    return client.create(job, o);
  }

  /** Starts no more jobs until `resume()`. */
  async suspend(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { suspend: true } }, o);
  }

  async resume(o?: WriteOptions): Promise<this> {
    return this.patch({ spec: { suspend: false } }, o);
  }
}

function jobSpecOf(o: JobGen) {
  const { meta, spec: pod, others } = takePodSpec({ restartPolicy: "Never", ...o });
  const settings = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  const labels = meta.labels && { metadata: { labels: meta.labels } };
  return { meta, spec: { ...settings, template: { ...labels, spec: pod } } };
}
