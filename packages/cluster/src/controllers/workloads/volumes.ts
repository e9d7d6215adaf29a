import { type ApiObject, timestamp } from "../../registry/index.ts";
import { claimNames } from "./children.ts";
import { type Desk, isStatus, keyOf } from "./desk.ts";
import type { Watch, Workload } from "./engine.ts";
import { isFinished } from "./pods.ts";
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
} from "./tables.ts";
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
export function claims(desk: Desk): Workload {
  return {
    table: CLAIMS.name,
    watches: [volumesOfClaims, classesOfClaims, users],
    async reconcile(key) {
      const claim = desk.read(CLAIMS, key);
      if (!claim) return undefined;
      const pods = desk.mounting(claim);
      if (isDeleting(claim)) {
        if (pods.every(isFinished)) await unprotect(desk, CLAIMS, claim, CLAIM_PROTECTION);
        return undefined;
      }
      const placed = pods.find(({ spec }) => spec.nodeName)?.spec.nodeName;
      await carryOut(desk, claim, placed, pods[0]?.metadata.name);
      return undefined;
    },
  };
}

const volumesOfClaims: Watch = {
  table: VOLUMES.name,
  wakes: ({ object }, desk) => {
    const { claimRef } = (object as Volume).spec;
    // One that has a claim is of use to no other.
    return claimRef ? [`${claimRef.namespace}/${claimRef.name}`] : desk.claims.unbound().map(keyOf);
  },
};

const classesOfClaims: Watch = { table: STORAGE_CLASSES.name, wakes: (_, desk) => desk.claims.unbound().map(keyOf) };

const users: Watch = {
  table: PODS.name,
  wakes: ({ object }) => claimNames(object as Pod).map((name) => `${object.metadata.namespace}/${name}`),
};

async function carryOut(
  desk: Desk,
  claim: Claim,
  node: string | undefined,
  consumer: string | undefined,
): Promise<void> {
  const { volumeName } = claim.spec;
  const named = volumeName ? desk.read(VOLUMES, volumeName) : undefined;
  const volumes = volumeName ? (named ? [named] : []) : desk.claims.candidates(keyOf(claim));
  const plan = planClaim({ claim, volumes, classes: desk.list(STORAGE_CLASSES), node, consumer });
  switch (plan.do) {
    case "nothing":
      return;
    case "wait":
      await desk.event(claim, plan.type, plan.reason, plan.message);
      return;
    case "lose":
      await desk.report(CLAIMS, claim, { ...claim.status, phase: "Lost" });
      await desk.event(
        claim,
        "Warning",
        "ClaimLost",
        "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
      );
      return;
    case "classify":
      await desk.change(CLAIMS, claim, (current) => ({
        ...current,
        spec: { ...current.spec, storageClassName: plan.storageClass },
      }));
      return;
    case "provision": {
      const volume = await provision(desk, claim, plan.storageClass, plan.node);
      if (volume) await bind(desk, claim, volume, true);
      return;
    }
    case "bind":
      await bind(desk, claim, plan.volume, plan.chosen);
  }
}

async function provision(
  desk: Desk,
  claim: Claim,
  storageClass: StorageClass,
  node: string | undefined,
): Promise<Volume | undefined> {
  await desk.changeMeta(CLAIMS, claim, (meta) => ({
    ...meta,
    annotations: { ...meta.annotations, ...provisioning(storageClass, node) },
  }));
  const draft = volumeFor(claim, storageClass);
  try {
    const volume = await desk.create(VOLUMES, draft);
    await desk.event(
      claim,
      "Normal",
      "ProvisioningSucceeded",
      `Successfully provisioned volume ${volume.metadata.name}`,
    );
    return volume;
  } catch (error) {
    if (isStatus(error, 409)) return desk.read(VOLUMES, keyOf(draft));
    throw error;
  }
}

/** First the volume is the claim's, then the claim has it: nobody else can take it in between. */
async function bind(desk: Desk, claim: Claim, volume: Volume, chosen: boolean): Promise<void> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const mark = chosen ? { [BOUND_BY_CONTROLLER]: "yes" } : {};
  if (volume.spec.claimRef?.uid !== uid) {
    const claimRef = { kind: "PersistentVolumeClaim", namespace, name, uid, apiVersion: "v1", resourceVersion };
    await desk.change(VOLUMES, volume, (current) => ({
      ...current,
      metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...mark } },
      spec: { ...current.spec, claimRef: claimRef as NonNullable<Volume["spec"]["claimRef"]> },
    }));
  }
  await setPhase(desk, volume, "Bound");
  await desk.change(CLAIMS, claim, (current) => ({
    ...current,
    metadata: {
      ...current.metadata,
      annotations: { ...current.metadata.annotations, [BIND_COMPLETED]: "yes", ...mark },
    },
    spec: { ...current.spec, volumeName: volume.metadata.name },
  }));
  const { accessModes, capacity } = volume.spec;
  await desk.report(CLAIMS, claim, {
    phase: "Bound",
    ...(accessModes ? { accessModes } : {}),
    ...(capacity ? { capacity } : {}),
  });
}

async function setPhase(desk: Desk, volume: Volume, phase: string): Promise<void> {
  const current = desk.read(VOLUMES, keyOf(volume));
  if (current?.status?.phase === phase) return;
  await desk.report(VOLUMES, volume, { phase, lastPhaseTransitionTime: timestamp(desk.now) });
}

async function unprotect<T extends ApiObject>(
  desk: Desk,
  table: Parameters<typeof desk.changeMeta<T>>[0],
  object: T,
  finalizer: string,
): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return;
  await desk.changeMeta(table, object, ({ finalizers = [], ...meta }) => {
    const kept = finalizers.filter((one) => one !== finalizer);
    return kept.length > 0 ? { ...meta, finalizers: kept } : meta;
  });
}

/** Volumes: free, bound, or released when their claim has gone. */
export function volumes(desk: Desk): Workload {
  return {
    table: VOLUMES.name,
    watches: [claimsOfVolumes],
    async reconcile(key) {
      const volume = desk.read(VOLUMES, key);
      if (!volume) return undefined;
      const { claimRef } = volume.spec;
      const claim = claimRef && desk.read(CLAIMS, `${claimRef.namespace}/${claimRef.name}`);
      const held = claim?.metadata.uid === claimRef?.uid && claim !== undefined;
      if (isDeleting(volume)) {
        if (!held) await unprotect(desk, VOLUMES, volume, VOLUME_PROTECTION);
        return undefined;
      }
      const plan = planVolume(volume, claim);
      if (plan.do === "phase") await setPhase(desk, volume, plan.phase);
      // What somebody made by hand is nobody's to delete.
      if (plan.do === "remove" && volume.metadata.annotations?.[PROVISIONED_BY]) await desk.remove(VOLUMES, volume);
      return undefined;
    },
  };
}

const claimsOfVolumes: Watch = {
  table: CLAIMS.name,
  wakes: ({ object }, desk) => {
    const { volumeName } = (object as Claim).spec;
    const keys = desk.claims.volumesOf(keyOf(object)).map(keyOf);
    return volumeName && !keys.includes(volumeName) ? [...keys, volumeName] : keys;
  },
};
