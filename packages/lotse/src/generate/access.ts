/**
 * A ServiceAccount and what it may do: a Role where the operator works, a ClusterRole for what has no namespace, and a Role
 * for what it keeps beside itself.
 */

import { Commented } from "@lotse/client/meta";
import { labelsOf } from "./deployment.ts";
import { type Need, type Rule, rulesFor } from "./rbac.ts";

/** Who gets the rights, and where. */
export interface AccessInput {
  readonly name: string;
  /** Where the operator itself runs. */
  readonly namespace: string;
  readonly needs: readonly Need[];
  /** The namespaces that it serves; undefined: all. */
  readonly serves: readonly string[] | undefined;
}

/** The manifests, in the order in which they are to be applied. */
export function accessManifests({ name, namespace, needs, serves }: AccessInput): object[] {
  const labels = labelsOf(name);
  const exact = serves?.every((one) => /^[a-z0-9-]+$/.test(one)) === true;
  const own = needs.filter(({ inOwnNamespace }) => inOwnNamespace);
  const others = needs.filter(({ inOwnNamespace }) => !inOwnNamespace);
  const inCluster = exact ? others.filter(({ clusterWide }) => clusterWide) : others;
  const inNamespaces = exact ? others.filter(({ clusterWide }) => !clusterWide) : [];
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } };
  const manifests: object[] = [account];
  if (inCluster.length > 0) {
    manifests.push(role("ClusterRole", { name, labels }, inCluster));
    manifests.push(binding("ClusterRoleBinding", { name, labels }, "ClusterRole", account.metadata));
  }
  for (const served of inNamespaces.length > 0 ? (serves ?? []) : []) {
    const metadata = { name, namespace: served, labels };
    manifests.push(role("Role", metadata, inNamespaces), binding("RoleBinding", metadata, "Role", account.metadata));
  }
  for (const [where, needed] of byNamespace(own, namespace)) {
    // Another role than that of a namespace which is served: this one may be both.
    const metadata = { name: `${name}-own`, namespace: where, labels };
    manifests.push(role("Role", metadata, needed), binding("RoleBinding", metadata, "Role", account.metadata));
  }
  return manifests;
}

/** What an operator needs beside itself, by where that is: its own namespace unless it says another. */
export function byNamespace(needs: readonly Need[], ownNamespace: string): Map<string, Need[]> {
  const found = new Map<string, Need[]>();
  for (const need of needs) {
    const { namespace = ownNamespace } = need;
    found.set(namespace, [...(found.get(namespace) ?? []), need]);
  }
  return found;
}

const API = "rbac.authorization.k8s.io";

function role(kind: "Role" | "ClusterRole", metadata: object, needs: readonly Need[]): object {
  return { apiVersion: `${API}/v1`, kind, metadata, rules: rulesFor(needs).map(ruleWithReason) };
}

/** A rule, with a comment that says who needs it. */
export function ruleWithReason({ by, ...rule }: Rule): Commented {
  return new Commented(by.join("\n"), rule);
}

function binding(
  kind: "RoleBinding" | "ClusterRoleBinding",
  metadata: { readonly name: string; readonly labels: object; readonly namespace?: string },
  roleKind: "Role" | "ClusterRole",
  account: { readonly name: string; readonly namespace: string },
): object {
  return {
    apiVersion: `${API}/v1`,
    kind,
    metadata,
    roleRef: { apiGroup: API, kind: roleKind, name: metadata.name },
    subjects: [{ kind: "ServiceAccount", name: account.name, namespace: account.namespace }],
  };
}
