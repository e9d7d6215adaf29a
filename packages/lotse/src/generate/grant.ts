/** What an account lacks, as Roles beside those that there are: applying them adds rights, and changes no other role. */
import { ruleWithReason } from "./access.ts";
import { type Need, rulesFor } from "./rbac.ts";

/** Who lacks what. */
export interface GrantInput {
  /** Of the operator; the roles' names begin with it. */
  readonly name: string;
  /** As the server calls the one who is to get the rights: `jane`, `system:serviceaccount:rates:exchange-rates`. */
  readonly user: string;
  readonly inCluster: readonly Need[];
  /** By namespace. */
  readonly inNamespaces: ReadonlyMap<string, readonly Need[]>;
}

const API = "rbac.authorization.k8s.io";

/** The manifests: a ClusterRole and a Role in each namespace where something is missing, each with its binding. */
export function grantManifests({ name, user, inCluster, inNamespaces }: GrantInput): object[] {
  // Not the name of a role that `lotse generate rbac` makes: that one would lose what it has.
  const roleName = `${name}-missing`;
  const grant = (kind: "Role" | "ClusterRole", metadata: object, needs: readonly Need[]) => [
    { apiVersion: `${API}/v1`, kind, metadata, rules: rulesFor(needs).map(ruleWithReason) },
    {
      apiVersion: `${API}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: API, kind, name: roleName },
      subjects: [subjectOf(user)],
    },
  ];
  return [
    ...(inCluster.length > 0 ? grant("ClusterRole", { name: roleName }, inCluster) : []),
    ...[...inNamespaces].flatMap(([namespace, needs]) =>
      needs.length > 0 ? grant("Role", { name: roleName, namespace }, needs) : [],
    ),
  ];
}

function subjectOf(user: string): object {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (name !== undefined) return { kind: "ServiceAccount", name, namespace };
  return { kind: "User", name: user, apiGroup: API };
}
