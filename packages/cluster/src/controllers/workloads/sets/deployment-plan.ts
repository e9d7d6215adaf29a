import { deepEqual } from "@lotse/client/meta";
import { safeHash } from "../hash.ts";
import { MAX_INT32, scaled } from "../numbers.ts";
import {
  controllerReference,
  DEPLOYMENTS,
  type Deployment,
  isDeleting,
  type PodTemplate,
  type ReplicaSet,
  timeOf,
} from "../tables.ts";
import { deploymentStatus, type RolloutView } from "./deployment-status.ts";

/** The annotation that numbers the ReplicaSets of a Deployment, which `kubectl rollout history` reads. */
export const REVISION = "deployment.kubernetes.io/revision";
const HISTORY = "deployment.kubernetes.io/revision-history";
const DESIRED = "deployment.kubernetes.io/desired-replicas";
const MAXIMUM = "deployment.kubernetes.io/max-replicas";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const HASH = "pod-template-hash";
/** Annotations that a ReplicaSet has of its own and does not take over from its Deployment. */
const OWN: ReadonlySet<string> = new Set([
  LAST_APPLIED,
  REVISION,
  HISTORY,
  DESIRED,
  MAXIMUM,
  "deprecated.deployment.rollback.to",
]);
const LONGEST_HISTORY = 2_000;
const LONGEST_NAME = 253;

/** What a turn changes about one ReplicaSet. */
export interface ReplicaSetChange {
  readonly name: string;
  readonly from: number;
  readonly replicas: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly minReadySeconds: number | undefined;
}

/** One turn of a Deployment. */
export interface DeploymentPlan {
  /** A ReplicaSet for the present template. */
  readonly create: ReplicaSet | undefined;
  readonly changes: readonly ReplicaSetChange[];
  /** ReplicaSets that history no longer needs. */
  readonly remove: readonly ReplicaSet[];
  /** The revision that the Deployment shows. */
  readonly revision: string | undefined;
  readonly status: Record<string, unknown>;
  /** How long until progress is checked again. */
  readonly again: number | undefined;
}

/** A ReplicaSet with what this turn has in mind for it. */
interface Draft {
  readonly set: ReplicaSet;
  readonly isNew: boolean;
  replicas: number;
  annotations: Record<string, string>;
}

/** All that a plan for a Deployment is decided by. */
export interface DeploymentPlanInput {
  readonly deployment: Deployment;
  /** All that it manages. */
  readonly sets: readonly ReplicaSet[];
  /** Whether pods of ReplicaSets other than the newest still run, or may. */
  readonly oldPodsRun: boolean;
  readonly now: number;
}

const specReplicas = (set: ReplicaSet): number => set.spec.replicas ?? 1;
const createdAt = (set: ReplicaSet): number => timeOf(set.metadata.creationTimestamp) || 0;
const byAge = (a: Draft, b: Draft): number =>
  createdAt(a.set) - createdAt(b.set) || (a.set.metadata.name < b.set.metadata.name ? -1 : 1);
const sum = (drafts: readonly Draft[]): number => drafts.reduce((total, draft) => total + draft.replicas, 0);
const available = (draft: Draft): number => draft.set.status?.availableReplicas ?? 0;

/** How far a rolling update may go above and below the wanted number; both are 0 when pods are recreated. */
export function bounds({ spec }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const wanted = spec.replicas ?? 1;
  if (spec.strategy?.type === "Recreate") return { surge: 0, unavailable: 0 };
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, wanted, "up");
  const unavailable = scaled(maxUnavailable, wanted, "down");
  // Without either, nothing could ever move.
  if (surge === 0 && unavailable === 0) return { surge, unavailable: wanted === 0 ? 0 : 1 };
  return { surge, unavailable: Math.min(unavailable, wanted) };
}

/** Whether two templates make the same pods. */
export function sameTemplate(a: PodTemplate | undefined, b: PodTemplate | undefined): boolean {
  return deepEqual(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplate | undefined): unknown {
  const { [HASH]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

/** The ReplicaSet of the present template: the oldest one, should there be several. */
export function findNewSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const fitting = sets.filter((set) => sameTemplate(set.spec.template, deployment.spec.template));
  return fitting.sort((a, b) => createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

const revisionOf = (set: ReplicaSet): number => Number(set.metadata.annotations?.[REVISION] ?? 0) || 0;

/** Pure: what a Deployment does next, given its ReplicaSets. */
export function planDeployment(input: DeploymentPlanInput): DeploymentPlan {
  const { deployment, sets, now } = input;
  const existing = findNewSet(deployment, sets);
  const old = sets.filter((set) => set !== existing).map((set) => draftOf(set, false));
  old.sort(byAge);
  const revision = Math.max(0, ...old.map(({ set }) => revisionOf(set))) + 1;
  const present = existing && draftOf(existing, true);
  const plan = (fresh: Draft | undefined, scale: (fresh: Draft | undefined) => void, rollout: boolean) => {
    const known = fresh ?? present;
    if (known) annotate(deployment, known, revision);
    scale(known);
    return finish(input, { old, fresh: known, created: fresh !== undefined, rollout }, now);
  };

  if (isDeleting(deployment)) return plan(undefined, () => {}, false);
  const all = present ? [...old, present] : old;
  if (deployment.spec.paused || isScaling(deployment, all)) {
    return plan(undefined, (fresh) => scaleAll(deployment, old, fresh), false);
  }
  if (deployment.spec.strategy?.type === "Recreate") {
    const busy = old.some((draft) => draft.replicas > 0) || input.oldPodsRun;
    const fresh = busy || present ? undefined : newSet(deployment, old, revision);
    return plan(fresh, (known) => recreate(deployment, old, known, busy), true);
  }
  const fresh = present ? undefined : newSet(deployment, old, revision);
  return plan(fresh, (known) => roll(deployment, old, known as Draft), true);
}

const draftOf = (set: ReplicaSet, isNew: boolean): Draft => ({
  set,
  isNew,
  replicas: specReplicas(set),
  annotations: { ...set.metadata.annotations },
});

/** Whether the wanted number has changed since the ReplicaSets were told about it. */
function isScaling({ spec }: Deployment, drafts: readonly Draft[]): boolean {
  return drafts.some(({ replicas, annotations }) => {
    const told = annotations[DESIRED];
    return replicas > 0 && told !== undefined && Number(told) !== spec.replicas;
  });
}

/** Scales down what is not needed, and up what is new, within the bounds. One of both in each turn, growing first. */
function roll(deployment: Deployment, old: Draft[], fresh: Draft): void {
  const wanted = deployment.spec.replicas ?? 1;
  const { surge, unavailable } = bounds(deployment);
  const before = fresh.replicas;
  if (before > wanted) fresh.replicas = wanted;
  else fresh.replicas = before + Math.max(0, Math.min(wanted + surge - sum([...old, fresh]), wanted - before));
  if (fresh.replicas !== before) return;

  const least = wanted - unavailable;
  const spare = sum([...old, fresh]) - least - (fresh.replicas - available(fresh));
  if (spare <= 0) return;
  // Pods that do not work go first: they serve no requests.
  let cleaned = 0;
  for (const draft of old) {
    const sick = Math.min(spare - cleaned, draft.replicas - available(draft));
    if (sick <= 0) continue;
    draft.replicas -= sick;
    cleaned += sick;
  }
  let room = [...old, fresh].reduce((total, draft) => total + available(draft), 0) - least;
  for (const draft of old) {
    const less = Math.min(draft.replicas, Math.max(0, room));
    draft.replicas -= less;
    room -= less;
  }
}

/** The old ones go down to nothing before the new one comes up. */
function recreate(deployment: Deployment, old: Draft[], fresh: Draft | undefined, busy: boolean): void {
  for (const draft of old) draft.replicas = 0;
  if (!busy && fresh) fresh.replicas = deployment.spec.replicas ?? 1;
}

/** The wanted number changed: all that run get their share, the largest the rest. */
function scaleAll(deployment: Deployment, old: Draft[], fresh: Draft | undefined): void {
  const wanted = deployment.spec.replicas ?? 1;
  const all = fresh ? [...old, fresh] : [...old];
  const active = all.filter(({ replicas }) => replicas > 0);
  const only = active.length === 1 ? active[0] : active.length === 0 ? (fresh ?? old.at(-1)) : undefined;
  if (only) {
    only.replicas = wanted;
    return;
  }
  if (active.length === 0) return;
  if (fresh && isSaturated(deployment, fresh)) {
    for (const draft of old) draft.replicas = 0;
    return;
  }
  if (deployment.spec.strategy?.type === "Recreate") return;
  const { surge } = bounds(deployment);
  const growth = (wanted > 0 ? wanted + surge : 0) - sum(active);
  const bySize = (a: Draft, b: Draft) => b.replicas - a.replicas || (growth > 0 ? byAge(b, a) : byAge(a, b));
  let left = growth;
  for (const draft of active.sort(bySize)) {
    const share = shareOf(deployment, draft, wanted + surge);
    const part = growth > 0 ? Math.min(share, left) : Math.max(share, left);
    if (growth === 0) continue;
    draft.replicas += part;
    left -= part;
  }
  const largest = active[0];
  if (largest && growth !== 0) largest.replicas = Math.max(0, largest.replicas + left);
}

function isSaturated({ spec }: Deployment, { set, replicas }: Draft): boolean {
  const told = Number(set.metadata.annotations?.[DESIRED] ?? Number.NaN);
  return replicas === spec.replicas && told === spec.replicas && set.status?.availableReplicas === spec.replicas;
}

function shareOf(deployment: Deployment, draft: Draft, most: number): number {
  if (deployment.spec.replicas === 0) return -draft.replicas;
  const before = Number(draft.set.metadata.annotations?.[MAXIMUM] ?? 0) || (deployment.status?.replicas ?? 0);
  return before === 0 ? 0 : Math.round((draft.replicas * most) / before) - draft.replicas;
}

/** The new ReplicaSet carries the Deployment's annotations and the highest revision. */
function annotate(deployment: Deployment, draft: Draft, revision: number): void {
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!OWN.has(key)) draft.annotations[key] = value;
  }
  const own = draft.annotations[REVISION];
  if (Number(own ?? 0) >= revision) return;
  draft.annotations[REVISION] = String(revision);
  // A set that had a revision before is rolled back to: its earlier numbers are kept.
  if (own === undefined) return;
  const numbers = [...(draft.annotations[HISTORY]?.split(",") ?? []), own];
  while (numbers.join(",").length > LONGEST_HISTORY) numbers.shift();
  draft.annotations[HISTORY] = numbers.join(",");
}

function newSet(deployment: Deployment, old: readonly Draft[], revision: number): Draft {
  const { spec, metadata } = deployment;
  const hash = safeHash(spec.template, deployment.status?.collisionCount ?? 0);
  const labels = { ...spec.template.metadata?.labels, [HASH]: hash };
  const { surge } = bounds(deployment);
  const wanted = spec.replicas ?? 1;
  const room = spec.strategy?.type === "Recreate" ? wanted : Math.max(0, wanted + surge - sum(old));
  const set = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${metadata.name.slice(0, LONGEST_NAME - 1 - hash.length)}-${hash}`,
      namespace: metadata.namespace,
      labels,
      ownerReferences: [controllerReference(DEPLOYMENTS, deployment)],
    },
    spec: {
      replicas: Math.min(room, wanted),
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  const draft = draftOf(set as unknown as ReplicaSet, true);
  return { ...draft, annotations: { [REVISION]: String(revision) } };
}

interface Outcome {
  readonly old: readonly Draft[];
  readonly fresh: Draft | undefined;
  /** `fresh` is not there yet. */
  readonly created: boolean;
  /** A rollout, and not only a change of numbers. */
  readonly rollout: boolean;
}

function finish(input: DeploymentPlanInput, outcome: Outcome, now: number): DeploymentPlan {
  const { deployment } = input;
  const { old, fresh, created, rollout } = outcome;
  const view: RolloutView = {
    sets: [...old, ...(fresh ? [fresh] : [])].map(({ set, replicas, isNew }) => ({ set, replicas, isNew })),
    created: created ? fresh?.set.metadata.name : undefined,
    newName: fresh?.set.metadata.name,
    rollout,
    unavailable: (deployment.spec.replicas ?? 1) === 0 ? 0 : bounds(deployment).unavailable,
  };
  const { status, complete, again } = deploymentStatus(deployment, view, now);
  const settled = (rollout && complete) || (deployment.spec.paused === true && !isDeleting(deployment));
  const existing = created ? old : [...old, ...(fresh ? [fresh] : [])];
  return {
    create:
      created && fresh
        ? { ...fresh.set, metadata: { ...fresh.set.metadata, annotations: scaledAnnotations(deployment, fresh) } }
        : undefined,
    changes: isDeleting(deployment) ? [] : existing.flatMap((draft) => changeOf(deployment, draft, rollout)),
    remove: settled ? outlived(deployment, old) : [],
    revision: fresh?.annotations[REVISION],
    status,
    again,
  };
}

function scaledAnnotations(deployment: Deployment, { annotations }: Draft): Record<string, string> {
  const wanted = deployment.spec.replicas ?? 1;
  return { ...annotations, [DESIRED]: String(wanted), [MAXIMUM]: String(wanted + bounds(deployment).surge) };
}

function changeOf(deployment: Deployment, draft: Draft, rollout: boolean): ReplicaSetChange[] {
  const { set, replicas, isNew } = draft;
  const from = specReplicas(set);
  const active = from > 0 || replicas > 0;
  // A ReplicaSet that is scaled, or takes part while the wanted number changes, learns that number.
  const annotations =
    replicas !== from || (!rollout && active) ? scaledAnnotations(deployment, draft) : draft.annotations;
  const minReadySeconds = isNew ? deployment.spec.minReadySeconds : set.spec.minReadySeconds;
  const same =
    replicas === from &&
    minReadySeconds === set.spec.minReadySeconds &&
    deepEqual(annotations, set.metadata.annotations ?? {});
  return same ? [] : [{ name: set.metadata.name, from, replicas, annotations, minReadySeconds }];
}

/** Old ReplicaSets beyond the limit of the history, the oldest revisions first; only those that are empty. */
function outlived({ spec }: Deployment, old: readonly Draft[]): ReplicaSet[] {
  const limit = spec.revisionHistoryLimit ?? 10;
  if (limit === MAX_INT32) return [];
  const alive = old.filter(({ set }) => !isDeleting(set));
  alive.sort((a, b) => revisionOf(a.set) - revisionOf(b.set) || byAge(a, b));
  return alive
    .slice(0, Math.max(0, alive.length - limit))
    .map(({ set }) => set)
    .filter(
      (set) =>
        (set.status?.replicas ?? 0) === 0 &&
        specReplicas(set) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
