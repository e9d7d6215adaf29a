import { describe, expect, it } from "vitest";
import { PUBLIC_RULES } from "./authorizer.ts";
import { defaultPolicy } from "./bootstrap-policy.ts";
import { roleRefOf } from "./rbac.ts";

const find = (plural: string, name: string) =>
  defaultPolicy().find((one) => one.plural === plural && one.object.metadata.name === name)?.object;

describe("the default policy", () => {
  it("makes the administrator's role and its binding", () => {
    expect(find("clusterroles", "cluster-admin")).toEqual({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: {
        name: "cluster-admin",
        labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
        annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
      },
      rules: [
        { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
        { verbs: ["*"], nonResourceURLs: ["*"] },
      ],
    });
    expect(find("clusterrolebindings", "cluster-admin")).toMatchObject({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:masters" }],
    });
  });

  it("marks roles whose rules others collect", () => {
    const edit = find("clusterroles", "edit");
    expect(edit?.metadata.labels?.["rbac.authorization.k8s.io/aggregate-to-admin"]).toBe("true");
    expect(edit?.aggregationRule).toEqual({
      clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-edit": "true" } }],
    });
    expect(edit).not.toHaveProperty("rules");
  });

  it("has roles in namespaces, names and service accounts", () => {
    const reader = find("roles", "extension-apiserver-authentication-reader");
    expect(reader?.metadata.namespace).toBe("kube-system");
    expect(reader?.rules).toEqual([
      {
        verbs: ["get", "list", "watch"],
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["extension-apiserver-authentication"],
      },
    ]);
    expect(find("clusterrolebindings", "system:kube-dns")?.subjects).toEqual([
      { kind: "ServiceAccount", name: "kube-dns", namespace: "kube-system" },
    ]);
  });

  it("gives those who send no credentials what they may also do where roles do not count", () => {
    const bound = defaultPolicy().filter(({ object }) =>
      (object.subjects as { name: string }[] | undefined)?.some(({ name }) => name === "system:unauthenticated"),
    );
    const rules = bound.flatMap(({ object }) => find("clusterroles", roleRefOf(object).name)?.rules);
    expect(rules).toEqual(PUBLIC_RULES);
  });

  it("binds only roles that it has", () => {
    const policy = defaultPolicy();
    const known = new Set(policy.map(({ object }) => `${object.kind}/${object.metadata.name}`));
    for (const { object } of policy) {
      const { roleRef } = object as { roleRef?: { kind: string; name: string } };
      if (roleRef) expect(known).toContain(`${roleRef.kind}/${roleRef.name}`);
    }
  });
});
