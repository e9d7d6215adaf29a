/** Back to an earlier revision, as `kubectl rollout undo` goes. */
import type { appsv1, KubeBody } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import {
  type AnyObject,
  type KindClass,
  type ObjectClient,
  RolloutError,
  type WriteOptions,
} from "../objects/index.ts";
import { ControllerRevision } from "./generated.ts";
import type { ScalableWorkload, Workload } from "./workload.ts";

/** Where to go back to. */
export interface UndoOptions extends WriteOptions {
  /** Default: the one before the present one. */
  readonly toRevision?: number | undefined;
}

const REVISION = "deployment.kubernetes.io/revision";
const HASH = "pod-template-hash";

/** The templates of a Deployment are in its ReplicaSets. */
export async function undoDeployment(
  client: ObjectClient,
  deployment: ScalableWorkload<appsv1.Deployment>,
  ReplicaSet: KindClass<ScalableWorkload<appsv1.ReplicaSet>>,
  o: UndoOptions,
): Promise<void> {
  const { toRevision, ...write } = o;
  await deployment.refresh();
  if (deployment.spec.paused) {
    throw new ConfigError(`Deployment ${deployment.name} is paused and takes no step back`, {
      hint: "resume() it first",
    });
  }
  const sets = await ownedBy(deployment, client.list(ReplicaSet, { namespace: deployment.namespace }));
  const revisions = sets.map((set) => ({ set, revision: Number(set.annotations[REVISION] ?? 0) }));
  const { set } = choose(deployment, revisions, toRevision);
  const { metadata = {}, ...template } = set.spec.template ?? {};
  const { [HASH]: _, ...labels } = metadata.labels ?? {};
  // Whole, not merged: what the newer template has and the older one had not must go.
  const value = { ...template, metadata: { ...metadata, labels } };
  await client.patch(deployment, [{ op: "replace", path: "/spec/template", value }], write);
}

/** Those of the others are in ControllerRevisions, each a patch that brings it back. */
export async function undoByRevision(
  client: ObjectClient,
  object: Workload<appsv1.StatefulSet> | Workload<appsv1.DaemonSet>,
  o: UndoOptions,
): Promise<void> {
  const { toRevision, ...write } = o;
  await object.refresh();
  const list = client.list(ControllerRevision, { namespace: object.namespace });
  const revisions = (await ownedBy(object, list)).map((set) => ({ set, revision: set.body.revision }));
  const { set } = choose(object, revisions, toRevision);
  await client.patch<AnyObject>(object, (set.body as appsv1.ControllerRevision & { data: KubeBody }).data, {
    ...write,
    type: "strategic",
  });
}

async function ownedBy<T extends AnyObject>(owner: AnyObject, list: AsyncIterable<T>): Promise<T[]> {
  const owned: T[] = [];
  for await (const object of list) {
    if (object.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) owned.push(object);
  }
  return owned;
}

function choose<R extends { readonly revision: number }>(
  object: AnyObject,
  revisions: readonly R[],
  toRevision: number | undefined,
): R {
  const sorted = [...revisions].sort((a, b) => b.revision - a.revision);
  const chosen = toRevision === undefined ? sorted[1] : sorted.find(({ revision }) => revision === toRevision);
  if (chosen) return chosen;
  const known = sorted.map(({ revision }) => revision).join(", ") || "none";
  throw new RolloutError(
    toRevision === undefined
      ? `${object.description.kind} ${object.name} has no earlier revision`
      : `${object.description.kind} ${object.name} has no revision ${toRevision}`,
    { hint: `its revisions are: ${known}` },
  );
}
