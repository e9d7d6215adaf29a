import { compareQuantities } from "@lotse/client/meta";
import { matcher } from "../claim.ts";
import { type Claim, isDeleting, type StorageClass, type Volume } from "../tables.ts";

/** On a claim that has its volume for good. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** On claims and volumes that the controller chose for each other, and may part again. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** On volumes that were made for a claim: only those are deleted with it. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
const PROVISIONER = "volume.kubernetes.io/storage-provisioner";
const PROVISIONER_BETA = "volume.beta.kubernetes.io/storage-provisioner";
const SELECTED_NODE = "volume.kubernetes.io/selected-node";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";
const NO_PROVISIONER = "kubernetes.io/no-provisioner";

/** What to do about a claim. */
export type ClaimPlan =
  | { readonly do: "nothing" }
  /** Its volume has gone. */
  | { readonly do: "lose"; readonly volume: string }
  /** It names no class, and there is a default one. */
  | { readonly do: "classify"; readonly storageClass: string }
  /** `chosen` says that the volume was found, and not asked for. */
  | { readonly do: "bind"; readonly volume: Volume; readonly chosen: boolean }
  | { readonly do: "provision"; readonly storageClass: StorageClass; readonly node: string | undefined }
  /** Wait for something else, and say so. */
  | { readonly do: "wait"; readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };

/** All that a plan for a claim is decided by. */
export interface ClaimPlanInput {
  readonly claim: Claim;
  readonly volumes: readonly Volume[];
  readonly classes: readonly StorageClass[];
  /** The node of a pod that uses the claim. */
  readonly node: string | undefined;
  /** The name of a pod that uses it, placed or not. */
  readonly consumer: string | undefined;
}

const sizeOf = (volume: Volume): string => String(volume.spec.capacity?.storage ?? "0");

/** The volume says that it is for this claim; undefined when it says nothing about claims. */
function isFor(volume: Volume, claim: Claim): boolean | undefined {
  const { claimRef } = volume.spec;
  if (!claimRef) return undefined;
  const { namespace, name, uid } = claim.metadata;
  return (
    claimRef.name === name && claimRef.namespace === namespace && (claimRef.uid === undefined || claimRef.uid === uid)
  );
}

/** Pure: what a claim needs next. */
export function planClaim({ claim, volumes, classes, node, consumer }: ClaimPlanInput): ClaimPlan {
  const { volumeName, storageClassName } = claim.spec;
  if (isDeleting(claim)) return { do: "nothing" };
  if (volumeName) {
    const volume = volumes.find(({ metadata }) => metadata.name === volumeName);
    const bound = claim.status?.phase === "Bound" || claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
    if (!volume) return bound ? { do: "lose", volume: volumeName } : { do: "nothing" };
    if (isFor(volume, claim) === false) return { do: "nothing" };
    const settled = bound && volume.status?.phase === "Bound" && volume.spec.claimRef?.uid === claim.metadata.uid;
    return settled ? { do: "nothing" } : { do: "bind", volume, chosen: false };
  }
  const asked = volumes.find((volume) => isFor(volume, claim) === true);
  if (asked) return { do: "bind", volume: asked, chosen: true };
  if (storageClassName === undefined) {
    const standard = defaultClass(classes);
    if (standard) return { do: "classify", storageClass: standard.metadata.name };
  }
  const found = findVolume(claim, volumes);
  const storageClass = classes.find(({ metadata }) => metadata.name === storageClassName);
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer" && node === undefined;
  if (waits) return waitForConsumer(consumer);
  if (found) return { do: "bind", volume: found, chosen: true };
  if (!storageClassName) {
    const message = "no persistent volumes available for this claim and no storage class is set";
    return { do: "wait", type: "Normal", reason: "FailedBinding", message };
  }
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io "${storageClassName}" not found`;
    return { do: "wait", type: "Warning", reason: "ProvisioningFailed", message };
  }
  if (storageClass.provisioner === NO_PROVISIONER) return { do: "nothing" };
  return { do: "provision", storageClass, node };
}

function waitForConsumer(consumer: string | undefined): ClaimPlan {
  return {
    do: "wait",
    type: "Normal",
    ...(consumer === undefined
      ? { reason: "WaitForFirstConsumer", message: "waiting for first consumer to be created before binding" }
      : { reason: "WaitForPodScheduled", message: `waiting for pod ${consumer} to be scheduled` }),
  };
}

/** The default class; the newest, should there be several. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  return classes
    .filter(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === "true")
    .sort((a, b) => String(b.metadata.creationTimestamp).localeCompare(String(a.metadata.creationTimestamp)))[0];
}

/** The smallest free volume that has all that the claim asks for. */
export function findVolume(claim: Claim, volumes: readonly Volume[]): Volume | undefined {
  const { accessModes = [], resources, storageClassName = "", volumeMode = "Filesystem", selector } = claim.spec;
  const wanted = String(resources?.requests?.storage ?? "0");
  const matches = selector === undefined ? () => true : matcher(selector);
  return volumes
    .filter(
      (volume) =>
        !isDeleting(volume) &&
        volume.spec.claimRef === undefined &&
        volume.status?.phase === "Available" &&
        (volume.spec.storageClassName ?? "") === storageClassName &&
        (volume.spec.volumeMode ?? "Filesystem") === volumeMode &&
        accessModes.every((mode) => volume.spec.accessModes?.includes(mode)) &&
        compareQuantities(sizeOf(volume), wanted) >= 0 &&
        matches(volume.metadata.labels),
    )
    .sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

/** A volume made for a claim: a folder on the node, as far as its manifest says. */
export function volumeFor(claim: Claim, storageClass: StorageClass): Volume {
  const { uid, name, namespace, resourceVersion } = claim.metadata;
  const { accessModes, resources, volumeMode } = claim.spec;
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY]: storageClass.provisioner } },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? "0" },
      hostPath: { path: `/var/lib/lotse/volumes/pvc-${uid}`, type: "DirectoryOrCreate" },
      accessModes,
      claimRef: { kind: "PersistentVolumeClaim", namespace, name, uid, apiVersion: "v1", resourceVersion },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      ...(storageClass.mountOptions ? { mountOptions: storageClass.mountOptions } : {}),
      volumeMode,
    },
  };
  return structuredClone(volume) as unknown as Volume;
}

/** The annotations by which a claim asks for a volume to be made. */
export const provisioning = (storageClass: StorageClass, node: string | undefined): Record<string, string> => ({
  [PROVISIONER_BETA]: storageClass.provisioner,
  [PROVISIONER]: storageClass.provisioner,
  ...(node !== undefined && storageClass.volumeBindingMode === "WaitForFirstConsumer" ? { [SELECTED_NODE]: node } : {}),
});

/** What becomes of a volume. */
export type VolumePlan =
  | { readonly do: "nothing" | "remove" }
  | { readonly do: "phase"; readonly phase: "Available" | "Bound" | "Released" };

/** Pure: a volume without a claim is free; one whose claim has gone is released, and goes when it was made for it. */
export function planVolume(volume: Volume, claim: Claim | undefined): VolumePlan {
  const { claimRef, persistentVolumeReclaimPolicy } = volume.spec;
  const phase = volume.status?.phase;
  const say = (next: "Available" | "Bound" | "Released"): VolumePlan =>
    phase === next ? { do: "nothing" } : { do: "phase", phase: next };
  if (isDeleting(volume)) return { do: "nothing" };
  // Kept for a claim that has not come yet.
  if (!claimRef || claimRef.uid === undefined) return say("Available");
  if (claim?.metadata.uid === claimRef.uid) return phase === "Bound" ? { do: "nothing" } : say("Bound");
  if (phase === "Released" && persistentVolumeReclaimPolicy === "Delete") return { do: "remove" };
  return say("Released");
}
