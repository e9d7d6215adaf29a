import type { appsv1, batchv1, corev1, discoveryv1, storagev1 } from "@lotse/client/kinds";
import type { ApiObject, OwnerReference } from "../../registry/index.ts";

/** A stored object of a built-in kind: the server has filled in its metadata and seen to it that it has a spec. */
type Stored<T extends { spec?: unknown; status?: unknown }> = ApiObject & {
  spec: NonNullable<T["spec"]>;
  status?: NonNullable<T["status"]>;
};

export type Pod = Stored<corev1.Pod>;
export type PodTemplate = corev1.PodTemplateSpec;
export type Node = Stored<corev1.Node>;
export type Service = Stored<corev1.Service>;
export type Claim = Stored<corev1.PersistentVolumeClaim>;
export type Volume = Stored<corev1.PersistentVolume>;
export type Deployment = Stored<appsv1.Deployment>;
export type ReplicaSet = Stored<appsv1.ReplicaSet>;
export type StatefulSet = Stored<appsv1.StatefulSet>;
export type DaemonSet = Stored<appsv1.DaemonSet>;
export type Job = Stored<batchv1.Job>;
export type CronJob = Stored<batchv1.CronJob>;
export type ControllerRevision = ApiObject & { revision: number; data?: unknown };
export type Endpoints = ApiObject & { subsets?: corev1.EndpointSubset[] };
export type EndpointSlice = ApiObject & Omit<discoveryv1.EndpointSlice, "apiVersion" | "kind" | "metadata">;
export type StorageClass = ApiObject & Omit<storagev1.StorageClass, "apiVersion" | "kind" | "metadata">;

/** One kind of objects, and where the store keeps them. */
export interface Table<T extends ApiObject> {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly apiVersion: string;
  /** Its name in the store. */
  readonly name: string;
  readonly namespaced: boolean;
  /** Never set: carries the type of the objects. */
  readonly objects?: T;
}

function table<T extends ApiObject>(apiVersion: string, plural: string, kind: string, namespaced = true): Table<T> {
  const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] as string) : "";
  return { group, plural, kind, apiVersion, name: group === "" ? plural : `${plural}.${group}`, namespaced };
}

export const PODS: Table<Pod> = table("v1", "pods", "Pod");
export const NODES: Table<Node> = table("v1", "nodes", "Node", false);
export const SERVICES: Table<Service> = table("v1", "services", "Service");
export const ENDPOINTS: Table<Endpoints> = table("v1", "endpoints", "Endpoints");
export const CLAIMS: Table<Claim> = table("v1", "persistentvolumeclaims", "PersistentVolumeClaim");
export const VOLUMES: Table<Volume> = table("v1", "persistentvolumes", "PersistentVolume", false);
export const REPLICATION_CONTROLLERS: Table<ReplicaSet> = table(
  "v1",
  "replicationcontrollers",
  "ReplicationController",
);
export const DEPLOYMENTS: Table<Deployment> = table("apps/v1", "deployments", "Deployment");
export const REPLICA_SETS: Table<ReplicaSet> = table("apps/v1", "replicasets", "ReplicaSet");
export const STATEFUL_SETS: Table<StatefulSet> = table("apps/v1", "statefulsets", "StatefulSet");
export const DAEMON_SETS: Table<DaemonSet> = table("apps/v1", "daemonsets", "DaemonSet");
export const REVISIONS: Table<ControllerRevision> = table("apps/v1", "controllerrevisions", "ControllerRevision");
export const JOBS: Table<Job> = table("batch/v1", "jobs", "Job");
export const CRON_JOBS: Table<CronJob> = table("batch/v1", "cronjobs", "CronJob");
export const SLICES: Table<EndpointSlice> = table("discovery.k8s.io/v1", "endpointslices", "EndpointSlice");
export const STORAGE_CLASSES: Table<StorageClass> = table("storage.k8s.io/v1", "storageclasses", "StorageClass", false);

/** Says that `owner` manages the object that carries this reference. */
export function controllerReference<T extends ApiObject>(table: Table<T>, owner: T): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: table.apiVersion, kind: table.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Who manages an object. */
export function controllerOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

export const isDeleting = (object: ApiObject): boolean => object.metadata.deletionTimestamp !== undefined;

/** The fields that say something: the API leaves out zeros, empty texts, empty lists and what is not there. */
export function present(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    kept[key] = value;
  }
  return kept;
}

/** When something happened that the API wrote down; NaN when it did not. */
export const timeOf = (text: string | undefined): number => (text === undefined ? Number.NaN : Date.parse(text));
