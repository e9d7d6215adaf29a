import { type ApiObject, storeKey, timestamp } from "../../../registry/index.ts";
import { claimNames } from "../children.ts";
import type { Watch, Workload } from "../engine.ts";
import { isFinished } from "../pods.ts";
import {
  CLAIMS,
  type Claim,
  isDeleting,
  PODS,
  type Pod,
  STORAGE_CLASSES,
  type StorageClass,
  VOLUMES,
  type Volume,
} from "../tables.ts";
import { isStatus, keyOf, type WorkloadApi } from "../workload-api.ts";
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  PROVISIONED_BY,
  planClaim,
  planVolume,
  provisioning,
  volumeFor,
} from "./volume-plan.ts";

const CLAIM_PROTECTION = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION = "kubernetes.io/pv-protection";

/** Claims: each gets a volume, one that is there or one that is made for it, and stays while a pod uses it. */
export function claims(api: WorkloadApi): Workload {
  return {
    table: CLAIMS.name,
    watches: [volumesOfClaims, classesOfClaims, users],
    async reconcile(key) {
      const claim = api.read(CLAIMS, key);
      if (!claim) return undefined;
      const pods = api.mounting(claim);
      if (isDeleting(claim)) {
        if (pods.every(isFinished)) await unprotect(api, CLAIMS, claim, CLAIM_PROTECTION);
        return undefined;
      }
      const placed = pods.find(({ spec }) => spec.nodeName)?.spec.nodeName;
      await carryOut(api, claim, placed, pods[0]?.metadata.name);
      return undefined;
    },
  };
}

const volumesOfClaims: Watch = {
  table: VOLUMES.name,
  wakes: ({ object }, api) => {
    const { claimRef } = (object as Volume).spec;
    // One that has a claim is of use to no other.
    return claimRef ? [storeKey(claimRef.namespace, claimRef.name ?? "")] : api.claims.unbound().map(keyOf);
  },
};

const classesOfClaims: Watch = { table: STORAGE_CLASSES.name, wakes: (_, api) => api.claims.unbound().map(keyOf) };

const users: Watch = {
  table: PODS.name,
  wakes: ({ object }) => claimNames(object as Pod).map((name) => storeKey(object.metadata.namespace, name)),
};

async function carryOut(
  api: WorkloadApi,
  claim: Claim,
  node: string | undefined,
  consumer: string | undefined,
): Promise<void> {
  const { volumeName } = claim.spec;
  const named = volumeName ? api.read(VOLUMES, volumeName) : undefined;
  const volumes = volumeName ? (named ? [named] : []) : api.claims.candidates(keyOf(claim));
  const plan = planClaim({ claim, volumes, classes: api.list(STORAGE_CLASSES), node, consumer });
  switch (plan.do) {
    case "nothing":
      return;
    case "wait":
      await api.event(claim, plan.type, plan.reason, plan.message);
      return;
    case "lose":
      await api.report(CLAIMS, claim, { ...claim.status, phase: "Lost" });
      await api.event(
        claim,
        "Warning",
        "ClaimLost",
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
      );
      return;
    case "classify":
      await api.change(CLAIMS, claim, (current) => ({
        ...current,
        spec: { ...current.spec, storageClassName: plan.storageClass },
      }));
      return;
    case "provision": {
      const volume = await provision(api, claim, plan.storageClass, plan.node);
      if (volume) await bind(api, claim, volume, true);
      return;
    }
    case "bind":
      await bind(api, claim, plan.volume, plan.chosen);
  }
}

async function provision(
  api: WorkloadApi,
  claim: Claim,
  storageClass: StorageClass,
  node: string | undefined,
): Promise<Volume | undefined> {
  await api.changeMeta(CLAIMS, claim, (meta) => ({
    ...meta,
    annotations: { ...meta.annotations, ...provisioning(storageClass, node) },
  }));
  const draft = volumeFor(claim, storageClass);
  try {
    const volume = await api.create(VOLUMES, draft);
    await api.event(
      claim,
      "Normal",
      "ProvisioningSucceeded",
      `Successfully provisioned volume ${volume.metadata.name}`,
    );
    return volume;
  } catch (error) {
    if (isStatus(error, 409)) return api.read(VOLUMES, keyOf(draft));
    throw error;
  }
}

/** First the volume is the claim's, then the claim has it: no other claim can take it in between. */
async function bind(api: WorkloadApi, claim: Claim, volume: Volume, chosen: boolean): Promise<void> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const mark = chosen ? { [BOUND_BY_CONTROLLER]: "yes" } : {};
  if (volume.spec.claimRef?.uid !== uid) {
    const claimRef = { kind: "PersistentVolumeClaim", namespace, name, uid, apiVersion: "v1", resourceVersion };
    await api.change(VOLUMES, volume, (current) => ({
      ...current,
      metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...mark } },
      spec: { ...current.spec, claimRef: claimRef as NonNullable<Volume["spec"]["claimRef"]> },
    }));
  }
  await setPhase(api, volume, "Bound");
  await api.change(CLAIMS, claim, (current) => ({
    ...current,
    metadata: {
      ...current.metadata,
      annotations: { ...current.metadata.annotations, [BIND_COMPLETED]: "yes", ...mark },
    },
    spec: { ...current.spec, volumeName: volume.metadata.name },
  }));
  const { accessModes, capacity } = volume.spec;
  await api.report(CLAIMS, claim, {
    phase: "Bound",
    ...(accessModes ? { accessModes } : {}),
    ...(capacity ? { capacity } : {}),
  });
}

async function setPhase(api: WorkloadApi, volume: Volume, phase: string): Promise<void> {
  const current = api.read(VOLUMES, keyOf(volume));
  if (current?.status?.phase === phase) return;
  await api.report(VOLUMES, volume, { phase, lastPhaseTransitionTime: timestamp(api.now) });
}

async function unprotect<T extends ApiObject>(
  api: WorkloadApi,
  table: Parameters<typeof api.changeMeta<T>>[0],
  object: T,
  finalizer: string,
): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return;
  await api.changeMeta(table, object, ({ finalizers = [], ...meta }) => {
    const kept = finalizers.filter((one) => one !== finalizer);
    return kept.length > 0 ? { ...meta, finalizers: kept } : meta;
  });
}

/** Volumes: free, bound, or released when their claim has gone. */
export function volumes(api: WorkloadApi): Workload {
  return {
    table: VOLUMES.name,
    watches: [claimsOfVolumes],
    async reconcile(key) {
      const volume = api.read(VOLUMES, key);
      if (!volume) return undefined;
      const { claimRef } = volume.spec;
      const claim = claimRef && api.read(CLAIMS, storeKey(claimRef.namespace, claimRef.name ?? ""));
      const held = claim?.metadata.uid === claimRef?.uid && claim !== undefined;
      if (isDeleting(volume)) {
        if (!held) await unprotect(api, VOLUMES, volume, VOLUME_PROTECTION);
        return undefined;
      }
      const plan = planVolume(volume, claim);
      if (plan.do === "phase") await setPhase(api, volume, plan.phase);
      // A volume that a user made by hand is not this controller's to delete.
      if (plan.do === "remove" && volume.metadata.annotations?.[PROVISIONED_BY]) await api.remove(VOLUMES, volume);
      return undefined;
    },
  };
}

const claimsOfVolumes: Watch = {
  table: CLAIMS.name,
  wakes: ({ object }, api) => {
    const { volumeName } = (object as Claim).spec;
    const keys = api.claims.volumesOf(keyOf(object)).map(keyOf);
    return volumeName && !keys.includes(volumeName) ? [...keys, volumeName] : keys;
  },
};
