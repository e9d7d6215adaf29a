/** What is in the cluster, read from its store: costs no request, and nobody sees that it was looked at. */
import type { KubeBody } from "@lotse/client";
import type { Cluster } from "@lotse/cluster";

/** An object as it is stored. It belongs to the cluster: look, but do not change it. */
export type StoredBody = Readonly<KubeBody> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<NonNullable<KubeBody["metadata"]>> & { readonly name: string; readonly uid: string };
};

/** All objects of the cluster as they are now. */
export function objectsIn(cluster: Pick<Cluster, "snapshot">): readonly StoredBody[] {
  return cluster.snapshot().rows.map(({ object }) => object as unknown as StoredBody);
}

/** `ConfigMap default/settings`, `Namespace team-a` */
export function titleOf({ kind, metadata }: Pick<KubeBody, "kind" | "metadata">): string {
  const { namespace, name } = metadata ?? {};
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name ?? ""}`;
}

/** What the cluster keeps for itself about an object that somebody made. */
const NOTES = new Set(["Event", "Lease", "ControllerRevision", "Endpoints", "EndpointSlice"]);

/** Whether the object is a note about others, which comes and goes by itself. */
export function isNote({ kind }: Pick<KubeBody, "kind">): boolean {
  return NOTES.has(kind ?? "");
}

const CLUSTER_MANAGERS = /^(?:kube-controller-manager|kube-scheduler|kubelet|kube-apiserver|lotse-cluster)$/;
const FURNITURE = new Set(["ConfigMap kube-root-ca.crt", "ServiceAccount default"]);

/** Whether the cluster made the object by itself: a controller's pods, or what is in each namespace. */
export function isOfCluster({ kind, metadata }: StoredBody): boolean {
  if (FURNITURE.has(`${kind} ${metadata.name}`)) return true;
  const managers = (metadata.managedFields ?? []) as readonly { readonly manager?: string }[];
  return managers.length > 0 && managers.every(({ manager = "" }) => CLUSTER_MANAGERS.test(manager));
}
