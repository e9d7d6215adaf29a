import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Declarations, type PolicyOptions, present, resource } from "../../declare/index.ts";
import { type PolicyParts, policyObjects } from "./policies.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number() }),
});

function plan(options: PolicyOptions, more: Partial<PolicyParts> = {}) {
  const operator = new Declarations();
  operator.policy(Machine, options);
  const { policies } = operator;
  const objects = policyObjects({
    operator: "shops",
    policies,
    discovered: [],
    served: undefined,
    mutatingVersion: "v1",
    ...more,
  });
  return objects.map(({ policy, binding }) => ({ policy, binding })) as { policy: never; binding: never }[];
}

const LABELS = { "app.kubernetes.io/managed-by": "lotse", "lotse.dev/operator": "shops" };

describe("a policy", () => {
  it("with rules is a ValidatingAdmissionPolicy with its binding", () => {
    const rules = [
      { expression: "object.spec.size <= 100", message: "no machine is that large", reason: "Forbidden" as const },
      { expression: "object.spec.size > 0", messageExpression: "'not ' + string(object.spec.size)" },
    ];
    expect(plan({ id: "sizeLimit", rules })).toEqual([
      {
        policy: {
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingAdmissionPolicy",
          metadata: { name: "size-limit.shops.lotse.dev", labels: LABELS },
          spec: {
            failurePolicy: "Fail",
            matchConstraints: {
              matchPolicy: "Equivalent",
              resourceRules: [
                {
                  operations: ["CREATE", "UPDATE"],
                  apiGroups: ["machines.example.com"],
                  apiVersions: ["v1"],
                  resources: ["machines"],
                  scope: "Namespaced",
                },
              ],
            },
            validations: rules,
          },
        },
        binding: {
          apiVersion: "admissionregistration.k8s.io/v1",
          kind: "ValidatingAdmissionPolicyBinding",
          metadata: { name: "size-limit.shops.lotse.dev", labels: LABELS },
          spec: { policyName: "size-limit.shops.lotse.dev", validationActions: ["Deny"] },
        },
      },
    ]);
  });

  it("with changes is a MutatingAdmissionPolicy with its binding, in the version that the cluster has", () => {
    const mutate = [{ apply: "Object{spec: Object.spec{size: 10}}" }, { patch: "[]" }];
    const options: PolicyOptions = { id: "fill", mutate, operations: ["CREATE", "DELETE"], reinvoke: true };
    const [made] = plan(options, { mutatingVersion: "v1beta1" });
    expect(made).toMatchObject({
      policy: {
        apiVersion: "admissionregistration.k8s.io/v1beta1",
        kind: "MutatingAdmissionPolicy",
        spec: {
          matchConstraints: { resourceRules: [{ operations: ["CREATE"] }] },
          mutations: [
            {
              patchType: "ApplyConfiguration",
              applyConfiguration: { expression: "Object{spec: Object.spec{size: 10}}" },
            },
            { patchType: "JSONPatch", jsonPatch: { expression: "[]" } },
          ],
          reinvocationPolicy: "IfNeeded",
        },
      },
      binding: {
        apiVersion: "admissionregistration.k8s.io/v1beta1",
        kind: "MutatingAdmissionPolicyBinding",
        spec: { policyName: "fill.shops.lotse.dev" },
      },
    });
  });

  it("with both is both, under one name", () => {
    const made = plan({ id: "both", rules: [{ expression: "true" }], mutate: [{ patch: "[]" }] });
    expect(made.map(({ policy }) => (policy as { kind: string }).kind)).toEqual([
      "ValidatingAdmissionPolicy",
      "MutatingAdmissionPolicy",
    ]);
  });

  it.each<[string, PolicyOptions, object]>([
    ["warns", { enforce: "warn" }, ["Warn"]],
    ["refuses and is audited", { audit: true }, ["Deny", "Audit"]],
    ["is only audited", { enforce: "none", audit: true }, ["Audit"]],
    ["has notes for the audit log", { audit: { size: "string(object.spec.size)" } }, ["Deny"]],
    ["has nothing but notes", { enforce: "none", audit: { size: "'1'" } }, ["Audit"]],
  ])("%s", (_, options, validationActions) => {
    const [made] = plan({ rules: [{ expression: "true" }], ...options });
    expect(made?.binding).toMatchObject({ spec: { validationActions } });
    if (typeof options.audit !== "object") return;
    const [[key, valueExpression]] = Object.entries(options.audit) as [[string, string]];
    expect(made?.policy).toMatchObject({ spec: { auditAnnotations: [{ key, valueExpression }] } });
  });

  it("takes params, variables, conditions, labels and namespaces", () => {
    const [made] = plan(
      {
        rules: [{ expression: "object.spec.size <= variables.most" }],
        params: { kind: ConfigMap, name: "limits", namespace: "shops", missing: "allow" },
        variables: { most: "int(params.data.most)" },
        matchConditions: [{ name: "people", expression: "!request.userInfo.username.startsWith('system:')" }],
        labels: { tier: "gold", known: present },
        namespaces: ["team-a"],
        subresource: "scale",
        ignoreFailures: true,
      },
      { served: ["team-a"] },
    );
    expect(made).toMatchObject({
      policy: {
        spec: {
          failurePolicy: "Ignore",
          paramKind: { apiVersion: "v1", kind: "ConfigMap" },
          variables: [{ name: "most", expression: "int(params.data.most)" }],
          matchConditions: [{ name: "people", expression: "!request.userInfo.username.startsWith('system:')" }],
          matchConstraints: {
            resourceRules: [{ resources: ["machines/scale"] }],
            objectSelector: { matchLabels: { tier: "gold" }, matchExpressions: [{ key: "known", operator: "Exists" }] },
            namespaceSelector: {
              matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["team-a"] }],
            },
          },
        },
      },
      binding: { spec: { paramRef: { name: "limits", namespace: "shops", parameterNotFoundAction: "Allow" } } },
    });
  });

  it("needs no namespace to be spared, for nothing of it can be down", () => {
    const [made] = plan({ rules: [{ expression: "true" }] });
    expect(made?.policy).not.toHaveProperty("spec.matchConstraints.namespaceSelector");
  });
});
