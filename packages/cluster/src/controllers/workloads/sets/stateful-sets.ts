import { type OwnerReference, storeKey } from "../../../registry/index.ts";
import { matcher } from "../claim.ts";
import { type Workload, watchChildren } from "../engine.ts";
import {
  CLAIMS,
  type Claim,
  controllerReference,
  isDeleting,
  PODS,
  type Pod,
  REVISIONS,
  STATEFUL_SETS,
  type StatefulSet,
} from "../tables.ts";
import { isNamespaceGoing, isStatus, keyOf, type WorkloadApi } from "../workload-api.ts";
import { type History, keepHistory, outlivedRevisions } from "./revisions.ts";
import {
  claimsOf,
  isInRange,
  ordinalOf,
  POD_REVISION,
  planStatefulSet,
  type Revisions,
  statefulStatus,
} from "./stateful-set-plan.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

/** StatefulSets: pods with names and volumes of their own, in order. */
export function statefulSets(api: WorkloadApi): Workload {
  return {
    table: STATEFUL_SETS.name,
    watches: [watchChildren(STATEFUL_SETS, PODS, ({ spec }) => spec.selector)],
    weigh: (key) => api.countOf(PODS, api.read(STATEFUL_SETS, key)?.metadata.uid),
    async reconcile(key) {
      const set = api.read(STATEFUL_SETS, key);
      if (!set) return undefined;
      const matches = matcher(set.spec.selector);
      const isMember = (pod: Pod) => ordinalOf(set, pod) !== undefined;
      const pods = (await api.claim(STATEFUL_SETS, set, PODS, matches, isMember)).filter(isMember);
      const history = await keepHistory(api, STATEFUL_SETS, set, HASH_LABEL);
      const revisions = revisionsOf(set, history);
      const plan = planStatefulSet(set, pods, revisions, api.now);
      for (const pod of plan.create) await createPod(api, set, pod);
      if (set.spec.volumeClaimTemplates?.length) for (const pod of pods) await keepClaims(api, set, pod);
      for (const pod of plan.remove) await removePod(api, set, pod);
      await api.pause();
      const left = api.ofOwner(PODS, set.metadata.uid).filter((pod) => matches(pod.metadata.labels) && isMember(pod));
      await api.report(STATEFUL_SETS, set, statefulStatus(set, left, revisions, history.collisionCount, api.now));
      await forget(api, set, history, revisions, left);
      return plan.again;
    },
  };
}

function revisionsOf(set: StatefulSet, { all, present }: History): Revisions {
  const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  return { current: current ?? present, update: present };
}

async function forget(
  api: WorkloadApi,
  set: StatefulSet,
  history: History,
  { current, update }: Revisions,
  pods: readonly Pod[],
): Promise<void> {
  const inUse = new Set([current.metadata.name, update.metadata.name]);
  for (const pod of pods) inUse.add(pod.metadata.labels?.[POD_REVISION] ?? "");
  for (const revision of outlivedRevisions(history.all, inUse, set.spec.revisionHistoryLimit ?? 10)) {
    await api.remove(REVISIONS, revision);
  }
}

async function createPod(api: WorkloadApi, set: StatefulSet, pod: Pod): Promise<void> {
  const what = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await createClaims(api, set, pod);
    await api.create(PODS, pod);
    await api.event(set, "Normal", "SuccessfulCreate", `Create ${what} successful`);
  } catch (error) {
    if (isNamespaceGoing(error) || isStatus(error, 409)) throw error;
    const text = error instanceof Error ? error.message : String(error);
    await api.event(set, "Warning", "FailedCreate", `Create ${what} failed error: ${text}`);
    throw error;
  }
}

async function removePod(api: WorkloadApi, set: StatefulSet, pod: Pod): Promise<void> {
  if (!(await api.remove(PODS, pod))) return;
  const text = `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  await api.event(set, "Normal", "SuccessfulDelete", text);
}

/** The claims of a pod come before it, and outlive it: a pod that comes back finds its volumes again. */
async function createClaims(api: WorkloadApi, set: StatefulSet, pod: Pod): Promise<void> {
  for (const claim of claimsOf(set, ordinalOf(set, pod) as number).values()) {
    if (api.read(CLAIMS, keyOf(claim))) continue;
    await api.create(CLAIMS, claim);
    const { name } = set.metadata;
    const text = `Create Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${name} success`;
    await api.event(set, "Normal", "SuccessfulCreate", text);
  }
}

/** Claims that go with their set, or when it shrinks, are owned by it, or by the pod that goes. */
async function keepClaims(api: WorkloadApi, set: StatefulSet, pod: Pod): Promise<void> {
  const ordinal = ordinalOf(set, pod) as number;
  for (const { metadata } of claimsOf(set, ordinal).values()) {
    const claim = api.read(CLAIMS, storeKey(metadata.namespace, metadata.name));
    if (!claim || isDeleting(claim)) continue;
    const owners = claimOwners(set, pod, isInRange(set, ordinal), claim);
    if (owners)
      await api.changeMeta(CLAIMS, claim, ({ ownerReferences: _, ...meta }) => ({ ...meta, ...listed(owners) }));
  }
}

const listed = (ownerReferences: OwnerReference[]) => (ownerReferences.length > 0 ? { ownerReferences } : {});

/** Pure: the owners that a claim should have; undefined when it has them. */
export function claimOwners(set: StatefulSet, pod: Pod, inRange: boolean, claim: Claim): OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const wanted: OwnerReference[] = [];
  if (!inRange && whenScaled === "Delete") wanted.push(controllerReference(PODS, pod));
  else if (whenDeleted === "Delete") wanted.push(controllerReference(STATEFUL_SETS, set));
  const owners = claim.metadata.ownerReferences ?? [];
  const others = owners.filter(({ uid }) => uid !== set.metadata.uid && uid !== pod.metadata.uid);
  // Another controller manages the claim: its fate is not ours to decide.
  if (wanted.length > 0 && others.some(({ controller }) => controller === true)) return undefined;
  const next = [...others, ...wanted];
  const same = next.length === owners.length && next.every(({ uid }) => owners.some((owner) => owner.uid === uid));
  return same ? undefined : next;
}
