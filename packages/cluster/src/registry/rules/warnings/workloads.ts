import { deepEqual } from "@lotse/client/meta";
import type { ApiObject } from "../../object.ts";
import { type Fields, number, struct, structs, text } from "../pod/index.ts";
import { labelComplaints } from "../values.ts";
import { claimSpecWarnings, podWarnings } from "./pod.ts";

const MANY_COMPLETIONS = 100_000;
const MANY_AT_ONCE = 10_000;

function named({ metadata }: ApiObject, use: string): string[] {
  const complaints = labelComplaints(metadata.name);
  if (complaints.length === 0) return [];
  return [
    `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${complaints.join(" ")}]`,
  ];
}

function templateWarnings(template: unknown, path: string): string[] {
  const fields = struct(template);
  if (!fields) return [];
  return podWarnings(struct(fields.spec) ?? {}, struct(struct(fields.metadata)?.annotations) ?? {}, path);
}

/** The spec is only looked at again when it has changed. */
const isSame = (object: ApiObject, old: ApiObject | undefined): boolean =>
  old !== undefined && old.metadata.generation === object.metadata.generation;

/** Warnings about a pod that is created; an update repeats none. */
export function newPodWarnings(object: ApiObject): string[] {
  return [
    ...named(object, "the Pod's hostname"),
    ...podWarnings(struct(object.spec) ?? {}, object.metadata.annotations ?? {}, ""),
  ];
}

const inPodNames = (object: ApiObject, old: ApiObject | undefined): string[] =>
  old ? [] : named(object, "Pod names and hostnames");

/** Kinds whose spec has the template, and whose name is part of their pods'. */
export function ownerWarnings(object: ApiObject, old?: ApiObject): string[] {
  if (isSame(object, old)) return [];
  return [...inPodNames(object, old), ...templateWarnings(struct(object.spec)?.template, "spec.template")];
}

/** As {@link ownerWarnings}, but it is the template before the change that is looked at. */
export function replicationControllerWarnings(object: ApiObject, old?: ApiObject): string[] {
  if (isSame(object, old)) return [];
  return [...inPodNames(object, old), ...templateWarnings(struct((old ?? object).spec)?.template, "spec.template")];
}

/** Warnings about a DaemonSet, as long as its template is new. */
export function daemonSetWarnings(object: ApiObject, old?: ApiObject): string[] {
  const template = struct(object.spec)?.template;
  if (old && deepEqual(template, struct(old.spec)?.template)) return [];
  return templateWarnings(template, "spec.template");
}

/** Warnings about a PodTemplate. */
export function podTemplateWarnings(object: ApiObject, old?: ApiObject): string[] {
  return isSame(object, old) ? [] : templateWarnings(object.template, "template");
}

/** Warnings about a StatefulSet: its template, its claims and its history. */
export function statefulSetWarnings(object: ApiObject, old?: ApiObject): string[] {
  const spec = struct(object.spec) ?? {};
  const of = old ? ".Spec" : "";
  return [
    ...(isSame(object, old) ? [] : templateWarnings(spec.template, "spec.template")),
    ...structs(spec.volumeClaimTemplates).flatMap((claim, i) =>
      claimSpecWarnings(struct(claim.spec), `spec.volumeClaimTemplates[${i}]${of}`),
    ),
    ...(number(spec.revisionHistoryLimit) < 0
      ? ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"]
      : []),
  ];
}

function jobSpecWarnings(spec: Fields, path: string): string[] {
  const many = number(spec.completions) > MANY_COMPLETIONS && number(spec.parallelism) > MANY_AT_ONCE;
  return [
    ...(spec.completionMode === "Indexed" && many
      ? [
          `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...templateWarnings(spec.template, `${path}.template`),
  ];
}

/** Warnings about a Job. */
export function jobWarnings(object: ApiObject, old?: ApiObject): string[] {
  if (isSame(object, old)) return [];
  return [...inPodNames(object, old), ...jobSpecWarnings(struct(object.spec) ?? {}, "spec")];
}

/** Warnings about a CronJob: its schedule and its template. */
export function cronJobWarnings(object: ApiObject, old?: ApiObject): string[] {
  const spec = struct(object.spec) ?? {};
  const job = struct(struct(spec.jobTemplate)?.spec) ?? {};
  const changed = isSame(object, old)
    ? []
    : [...inPodNames(object, old), ...jobSpecWarnings(job, "spec.jobTemplate.spec")];
  if (!old || !text(spec.schedule).includes("TZ")) return changed;
  const page = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
  return [
    ...changed,
    `cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${page} for more details`,
  ];
}
