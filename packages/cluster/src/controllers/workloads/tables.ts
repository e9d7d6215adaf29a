import type { appsv1, batchv1, corev1, discoveryv1, storagev1 } from "@lotse/client/kinds";
import type { ApiObject, OwnerReference } from "../../registry/index.ts";

/** A stored object of a built-in kind: the server has filled in its metadata and seen to it that it has a spec. */
type Stored<T extends { spec?: unknown; status?: unknown }> = ApiObject & {
  spec: NonNullable<T["spec"]>;
  status?: NonNullable<T["status"]>;
};

/** A pod as the store has it. */
export type Pod = Stored<corev1.Pod>;
/** What the pods of a workload are made from. */
export type PodTemplate = corev1.PodTemplateSpec;
/** A node as the store has it. */
export type Node = Stored<corev1.Node>;
/** A Service as the store has it. */
export type Service = Stored<corev1.Service>;
/** A PersistentVolumeClaim as the store has it. */
export type Claim = Stored<corev1.PersistentVolumeClaim>;
/** A PersistentVolume as the store has it. */
export type Volume = Stored<corev1.PersistentVolume>;
/** A Deployment as the store has it. */
export type Deployment = Stored<appsv1.Deployment>;
/** A ReplicaSet as the store has it. */
export type ReplicaSet = Stored<appsv1.ReplicaSet>;
/** A StatefulSet as the store has it. */
export type StatefulSet = Stored<appsv1.StatefulSet>;
/** A DaemonSet as the store has it. */
export type DaemonSet = Stored<appsv1.DaemonSet>;
/** A Job as the store has it. */
export type Job = Stored<batchv1.Job>;
/** A CronJob as the store has it. */
export type CronJob = Stored<batchv1.CronJob>;
/** A template that StatefulSets and DaemonSets remember, with its number. */
export type ControllerRevision = ApiObject & { revision: number; data?: unknown };
/** Endpoints as the store has them: no spec, no status. */
export type Endpoints = ApiObject & { subsets?: corev1.EndpointSubset[] };
/** An EndpointSlice as the store has it: no spec, no status. */
export type EndpointSlice = ApiObject & Omit<discoveryv1.EndpointSlice, "apiVersion" | "kind" | "metadata">;
/** A StorageClass as the store has it: no spec, no status. */
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

/** Pods of all workloads. */
export const PODS: Table<Pod> = table("v1", "pods", "Pod");
/** Nodes, which DaemonSets and volumes look at. */
export const NODES: Table<Node> = table("v1", "nodes", "Node", false);
/** Services, whose endpoints are kept. */
export const SERVICES: Table<Service> = table("v1", "services", "Service");
/** Endpoints, kept for Services with a selector and mirrored for those without. */
export const ENDPOINTS: Table<Endpoints> = table("v1", "endpoints", "Endpoints");
/** Claims, which wait for a volume or have one. */
export const CLAIMS: Table<Claim> = table("v1", "persistentvolumeclaims", "PersistentVolumeClaim");
/** Volumes, free or taken. */
export const VOLUMES: Table<Volume> = table("v1", "persistentvolumes", "PersistentVolume", false);
/** ReplicationControllers, which are kept in the same way as ReplicaSets. */
export const REPLICATION_CONTROLLERS: Table<ReplicaSet> = table(
  "v1",
  "replicationcontrollers",
  "ReplicationController",
);
/** Deployments, whose ReplicaSets are kept. */
export const DEPLOYMENTS: Table<Deployment> = table("apps/v1", "deployments", "Deployment");
/** ReplicaSets, whose pods are kept. */
export const REPLICA_SETS: Table<ReplicaSet> = table("apps/v1", "replicasets", "ReplicaSet");
/** StatefulSets, whose pods and claims are kept. */
export const STATEFUL_SETS: Table<StatefulSet> = table("apps/v1", "statefulsets", "StatefulSet");
/** DaemonSets, with a pod on each fitting node. */
export const DAEMON_SETS: Table<DaemonSet> = table("apps/v1", "daemonsets", "DaemonSet");
/** Templates that StatefulSets and DaemonSets can go back to. */
export const REVISIONS: Table<ControllerRevision> = table("apps/v1", "controllerrevisions", "ControllerRevision");
/** Jobs, whose pods run to their end. */
export const JOBS: Table<Job> = table("batch/v1", "jobs", "Job");
/** CronJobs, whose Jobs are made by the clock. */
export const CRON_JOBS: Table<CronJob> = table("batch/v1", "cronjobs", "CronJob");
/** EndpointSlices, the newer form of Endpoints. */
export const SLICES: Table<EndpointSlice> = table("discovery.k8s.io/v1", "endpointslices", "EndpointSlice");
/** Storage classes, which say how volumes are made. */
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

/** Whether an object is on its way out: controllers neither adopt nor replace for it. */
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
