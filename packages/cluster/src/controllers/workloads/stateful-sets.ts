import type { OwnerReference } from "../../registry/index.ts";
import { matcher } from "./claim.ts";
import { type Desk, isNamespaceGoing, isStatus, keyOf } from "./desk.ts";
import { type Workload, watchChildren } from "./engine.ts";
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
} from "./tables.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";

/** StatefulSets: pods with names and volumes of their own, in order. */
export function statefulSets(desk: Desk): Workload {
  return {
    table: STATEFUL_SETS.name,
    watches: [watchChildren(STATEFUL_SETS, PODS, ({ spec }) => spec.selector)],
    weigh: (key) => desk.countOf(PODS, desk.read(STATEFUL_SETS, key)?.metadata.uid),
    async reconcile(key) {
      const set = desk.read(STATEFUL_SETS, key);
      if (!set) return undefined;
      const matches = matcher(set.spec.selector);
      const isMember = (pod: Pod) => ordinalOf(set, pod) !== undefined;
      const pods = (await desk.claim(STATEFUL_SETS, set, PODS, matches, isMember)).filter(isMember);
      const history = await keepHistory(desk, STATEFUL_SETS, set, HASH_LABEL);
      const revisions = revisionsOf(set, history);
      const plan = planStatefulSet(set, pods, revisions, desk.now);
      for (const pod of plan.create) await createPod(desk, set, pod);
      if (set.spec.volumeClaimTemplates?.length) for (const pod of pods) await keepClaims(desk, set, pod);
      for (const pod of plan.remove) await removePod(desk, set, pod);
      await desk.pause();
      const left = desk.ofOwner(PODS, set.metadata.uid).filter((pod) => matches(pod.metadata.labels) && isMember(pod));
      await desk.report(STATEFUL_SETS, set, statefulStatus(set, left, revisions, history.collisionCount, desk.now));
      await forget(desk, set, history, revisions, left);
      return plan.again;
    },
  };
}

function revisionsOf(set: StatefulSet, { all, present }: History): Revisions {
  const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  return { current: current ?? present, update: present };
}

async function forget(
  desk: Desk,
  set: StatefulSet,
  history: History,
  { current, update }: Revisions,
  pods: readonly Pod[],
): Promise<void> {
  const inUse = new Set([current.metadata.name, update.metadata.name]);
  for (const pod of pods) inUse.add(pod.metadata.labels?.[POD_REVISION] ?? "");
  for (const revision of outlivedRevisions(history.all, inUse, set.spec.revisionHistoryLimit ?? 10)) {
    await desk.remove(REVISIONS, revision);
  }
}

async function createPod(desk: Desk, set: StatefulSet, pod: Pod): Promise<void> {
  const what = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await createClaims(desk, set, pod);
    await desk.create(PODS, pod);
    await desk.event(set, "Normal", "SuccessfulCreate", `Create ${what} successful`);
  } catch (error) {
    if (isNamespaceGoing(error) || isStatus(error, 409)) throw error;
    const text = error instanceof Error ? error.message : String(error);
    await desk.event(set, "Warning", "FailedCreate", `Create ${what} failed error: ${text}`);
    throw error;
  }
}

async function removePod(desk: Desk, set: StatefulSet, pod: Pod): Promise<void> {
  if (!(await desk.remove(PODS, pod))) return;
  const text = `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
  await desk.event(set, "Normal", "SuccessfulDelete", text);
}

/** The claims of a pod come before it, and outlive it: a pod that comes back finds its volumes again. */
async function createClaims(desk: Desk, set: StatefulSet, pod: Pod): Promise<void> {
  for (const claim of claimsOf(set, ordinalOf(set, pod) as number).values()) {
    if (desk.read(CLAIMS, keyOf(claim))) continue;
    await desk.create(CLAIMS, claim);
    const { name } = set.metadata;
    const text = `Create Claim ${claim.metadata.name} Pod ${pod.metadata.name} in StatefulSet ${name} success`;
    await desk.event(set, "Normal", "SuccessfulCreate", text);
  }
}

/** Claims that go with their set, or when it shrinks, are owned by it, or by the pod that goes. */
async function keepClaims(desk: Desk, set: StatefulSet, pod: Pod): Promise<void> {
  const ordinal = ordinalOf(set, pod) as number;
  for (const { metadata } of claimsOf(set, ordinal).values()) {
    const claim = desk.read(CLAIMS, `${metadata.namespace}/${metadata.name}`);
    if (!claim || isDeleting(claim)) continue;
    const owners = claimOwners(set, pod, isInRange(set, ordinal), claim);
    if (owners)
      await desk.changeMeta(CLAIMS, claim, ({ ownerReferences: _, ...meta }) => ({ ...meta, ...listed(owners) }));
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
  // Somebody else manages the claim: its fate is not ours to decide.
  if (wanted.length > 0 && others.some(({ controller }) => controller === true)) return undefined;
  const next = [...others, ...wanted];
  const same = next.length === owners.length && next.every(({ uid }) => owners.some((owner) => owner.uid === uid));
  return same ? undefined : next;
}
