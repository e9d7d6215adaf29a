/** What a team's namespace has: no more than a description, of a Team and nothing else. */
import { LimitRange, NetworkPolicy, ResourceQuota, RoleBinding } from "lotse/client";

/** What a Team says. */
export interface TeamSpec {
  readonly group: string;
  readonly members: readonly string[];
  readonly role: "view" | "edit" | "admin";
  readonly quota: { readonly cpu: string; readonly memory: string; readonly pods: number };
}

/** Says whose a namespace is. */
export const TEAM = "onboarding.example.com/team";
/** Says that it was there before the team. */
export const ADOPTED = "onboarding.example.com/adopted";

/** The labels of a team's namespace. */
export const labelsOf = (team: string): Record<string, string> => ({
  [TEAM]: team,
  "pod-security.kubernetes.io/enforce": "baseline",
});

/** The kinds of what is in it. */
export const KINDS = [RoleBinding, ResourceQuota, LimitRange, NetworkPolicy] as const;

/** The objects in the namespace, which is named as the team is. */
export function objectsOf(team: string, { group, members, role, quota }: TeamSpec) {
  const metadata = (name: string) => ({ name, namespace: team, labels: { [TEAM]: team } });
  return [
    // What a binding binds cannot be changed: another role is another binding, and the old one goes.
    RoleBinding.gen({
      ...metadata(`team-${role}`),
      role: `ClusterRole:${role}`,
      subjects: [`Group:${group}`, ...members.map((member) => `User:${member}` as const)],
    }),
    new ResourceQuota({
      metadata: metadata("team"),
      spec: {
        hard: { "requests.cpu": quota.cpu, "requests.memory": quota.memory, pods: String(quota.pods) },
      },
    }),
    // Where there is a quota, a container that asks for nothing is refused: so it asks for a little.
    new LimitRange({
      metadata: metadata("team"),
      spec: { limits: [{ type: "Container", defaultRequest: { cpu: "100m", memory: "128Mi" } }] },
    }),
    new NetworkPolicy({
      metadata: metadata("default-deny"),
      spec: { podSelector: {}, policyTypes: ["Ingress"] },
    }),
    new NetworkPolicy({
      metadata: metadata("allow-same-namespace"),
      spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from: [{ podSelector: {} }] }] },
    }),
  ];
}
