import { ConfigMap, type KindDescription, Namespace, Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { absent, Declarations, everything, present, resource } from "../../declare/index.ts";
import {
  type ConfigurationParts,
  handlerOfPath,
  judgedKinds,
  labelOf,
  pathOfHandler,
  webhookConfigurations,
} from "./index.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number(), owner: z.object({ name: z.string() }).optional() }),
});

const DISCOVERED: KindDescription[] = [
  ConfigMap.description,
  Pod.description,
  Namespace.description,
  Machine.description,
];

type Entry = Record<string, unknown>;

function plan(declare: (operator: Declarations) => void, more: Partial<ConfigurationParts> = {}) {
  const operator = new Declarations();
  declare(operator);
  const { validating, mutating } = webhookConfigurations({
    operator: "shops",
    kinds: judgedKinds(operator.admission, DISCOVERED),
    address: { service: { namespace: "shop-system", name: "shops-webhooks", port: 443 } },
    caBundle: "-----BEGIN CERTIFICATE-----",
    namespaces: { spared: ["kube-system", "shop-system"], served: undefined },
    ...more,
  });
  const webhooks = (body: object | undefined) => (body as { webhooks?: Entry[] } | undefined)?.webhooks ?? [];
  return { validating, mutating, validate: webhooks(validating), mutate: webhooks(mutating) };
}

const entryOf = (options: object, more?: Partial<ConfigurationParts>): Entry =>
  plan((operator) => operator.on.validate(Machine, { id: "check", ...options }, () => {}), more).validate[0] ?? {};

describe("the configuration of a handler", () => {
  it("is one entry of the operator's configuration", () => {
    const { validating, mutating } = plan((operator) => operator.on.validate(Machine, function checkSize() {}));
    expect(mutating).toBeUndefined();
    expect(validating).toEqual({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: {
        name: "shops.lotse.dev",
        labels: { "app.kubernetes.io/managed-by": "lotse", "lotse.dev/operator": "shops" },
      },
      webhooks: [
        {
          name: "check-size.shops.lotse.dev",
          clientConfig: {
            service: { namespace: "shop-system", name: "shops-webhooks", port: 443, path: "/validate/check-size" },
            caBundle: Buffer.from("-----BEGIN CERTIFICATE-----").toString("base64"),
          },
          rules: [
            {
              operations: ["CREATE", "UPDATE"],
              apiGroups: ["machines.example.com"],
              apiVersions: ["v1"],
              resources: ["machines"],
              scope: "Namespaced",
            },
          ],
          matchPolicy: "Equivalent",
          namespaceSelector: {
            matchExpressions: [
              { key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system", "shop-system"] },
            ],
          },
          failurePolicy: "Fail",
          sideEffects: "None",
          timeoutSeconds: 10,
          admissionReviewVersions: ["v1"],
        },
      ],
    });
  });

  it("has everything that the options say", () => {
    const { mutate } = plan((operator) =>
      operator.on.mutate(
        Machine,
        {
          id: "fill",
          operations: ["DELETE"],
          subresource: "*",
          ignoreFailures: true,
          sideEffects: true,
          timeout: "3s",
          reinvoke: true,
          matchConditions: ["request.name != 'x'"],
        },
        () => {},
      ),
    );
    expect(mutate[0]).toMatchObject({
      rules: [{ operations: ["DELETE"], resources: ["machines", "machines/*"] }],
      failurePolicy: "Ignore",
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 3,
      reinvocationPolicy: "IfNeeded",
      matchConditions: [{ name: "condition-1", expression: "request.name != 'x'" }],
    });
    expect(entryOf({ subresource: "status" })).toMatchObject({ rules: [{ resources: ["machines/status"] }] });
    expect(entryOf({})).not.toHaveProperty("reinvocationPolicy");
  });

  it("reaches a process at its address, with a certificate that is known anyway", () => {
    const { clientConfig } = entryOf({ id: "a b/c" }, { address: { url: "https://host:9443/" }, caBundle: undefined });
    expect(clientConfig).toEqual({ url: "https://host:9443/validate/x0612062/c" });
  });

  it("comes in the order that was asked for", () => {
    const { mutate } = plan((operator) => {
      operator.on.mutate(Machine, { id: "second" }, () => {});
      operator.on.mutate(Machine, { id: "third" }, () => {});
      operator.on.mutate(Machine, { id: "first", order: -1 }, () => {});
      operator.on.mutate(Machine, { id: "last", order: 1 }, () => {});
    });
    expect(mutate.map(({ name }) => name)).toEqual([
      "first.shops.lotse.dev",
      "second.shops.lotse.dev",
      "third.shops.lotse.dev",
      "last.shops.lotse.dev",
    ]);
  });

  it("has a rule for each version of a group and each scope of the kinds that it is for", () => {
    const { validate } = plan((operator) => operator.on.validate(everything, { id: "all" }, () => {}));
    expect(
      ((validate[0]?.rules ?? []) as Entry[]).map(({ apiGroups, resources, scope }) => [apiGroups, resources, scope]),
    ).toEqual([
      [[""], ["configmaps", "pods"], "Namespaced"],
      [[""], ["namespaces"], "Cluster"],
      [["machines.example.com"], ["machines"], "Namespaced"],
    ]);
  });

  it("is not there while the cluster has none of its kinds", () => {
    const { validating } = plan((operator) => operator.on.validate("gadgets.example.com", { id: "check" }, () => {}));
    expect(validating).toBeUndefined();
  });

  it("asks in the version of the class alone: the API server converts what comes in another one", () => {
    expect(entryOf({}).rules).toMatchObject([{ apiVersions: ["v1"] }]);
    expect(entryOf({}).matchPolicy).toBe("Equivalent");
  });
});

describe("names of webhooks", () => {
  it.each([
    ["checkSize", "check-size"],
    ["validateHTTPRoute", "validate-httproute"],
    ["check/spec.size", "check-spec-size"],
    ["_private_", "private"],
    ["prüfe", "pr-fe"],
    ["✓", "handler"],
    ["a".repeat(80), "a".repeat(56)],
  ])("are legal: %s", (id, label) => expect(labelOf(id)).toBe(label));

  it("are unique, whatever is lost on the way", () => {
    const { validate } = plan((operator) => {
      operator.on.validate(Machine, { id: "checkSize" }, () => {});
      operator.on.validate(Machine, { id: "check_size" }, () => {});
      operator.on.validate(Machine, { id: "check-size" }, () => {});
      operator.on.validate(ConfigMap, { id: "checkSize" }, () => {});
    });
    expect(validate.map(({ name }) => name)).toEqual([
      "check-size.shops.lotse.dev",
      "check-size-machines.shops.lotse.dev",
      "check-size-2.shops.lotse.dev",
      "check-size-configmaps.shops.lotse.dev",
    ]);
  });

  it("lead back to the handler by the path", () => {
    expect(handlerOfPath("/validate/check/spec.size")).toEqual({ type: "validate", id: "check/spec.size" });
    for (const path of [
      "/",
      "/validate/",
      "/convert/x",
      "/validate",
      "/validate/%zz",
      "/validate/v-1",
      "/validate/x0zz",
    ]) {
      expect(handlerOfPath(path), path).toBeUndefined();
    }
  });

  it("have paths that API servers take behind a Service, each its own", () => {
    const ids = [
      "checkSize",
      "check-size",
      "check_size",
      "CheckSize",
      "x0",
      "a b/ü%",
      "check/spec.size",
      "-",
      "a//b",
      "ß",
    ];
    const paths = ids.map((id) => pathOfHandler({ type: "mutate", id }));
    expect(paths.slice(0, 2)).toEqual(["/mutate/check-size", "/mutate/check--size"]);
    expect(new Set(paths).size).toBe(ids.length);
    for (const segment of paths.flatMap((path) => path.split("/").slice(1))) {
      expect(segment).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    }
    expect(paths.map((path) => handlerOfPath(path)?.id)).toEqual(ids);
  });

  it("cannot be one name for two handlers of one kind", () => {
    const declare = () =>
      plan((operator) => {
        operator.on.validate(ConfigMap, { id: "check" }, () => {});
        operator.on.validate("configmaps", { id: "check" }, () => {});
      });
    expect(declare).toThrow('handler id "check" is used twice for ConfigMap, which was declared under two names');
  });
});

describe("what the API server decides by itself", () => {
  it("is which labels the object has", () => {
    const labels = { tier: "gold", known: present, old: absent, some: /x/, other: () => true, long: "x".repeat(64) };
    expect(entryOf({ labels }).objectSelector).toEqual({
      matchLabels: { tier: "gold" },
      matchExpressions: [
        { key: "known", operator: "Exists" },
        { key: "old", operator: "DoesNotExist" },
      ],
    });
    expect(entryOf({ labels: { some: /x/ } })).not.toHaveProperty("objectSelector");
  });

  it.each<[string, object, Partial<ConfigurationParts>, object | undefined]>([
    ["all, when that is asked for", { namespaces: "all" }, {}, undefined],
    ["those that are named", { namespaces: ["b", "a"] }, {}, { operator: "In", values: ["a", "b"] }],
    ["all but some", { namespaces: ["!x"] }, {}, { operator: "NotIn", values: ["kube-system", "shop-system", "x"] }],
    [
      "those that the operator serves, also its own when it was named",
      {},
      { namespaces: { spared: ["kube-system", "a"], served: ["b", "a"] } },
      { operator: "In", values: ["a", "b"] },
    ],
  ])("is which namespace it is in: %s", (_, options, more, expected) => {
    const wanted = expected && { matchExpressions: [{ key: "kubernetes.io/metadata.name", ...expected }] };
    expect(entryOf(options, more).namespaceSelector).toEqual(wanted);
  });

  it("is which labels its namespace has", () => {
    const namespaces = { matchLabels: { judged: "yes" } };
    expect(entryOf({ namespaces }).namespaceSelector).toEqual({ matchLabels: { judged: "yes" } });
  });

  const size = "has(object.spec) && object.spec != null && has(object.spec.size)";
  it.each<[string, object, string | undefined]>([
    ["a field that is there", { field: "spec.size" }, size],
    ["a field with a value", { field: "spec.size", value: 3 }, `${size} && object.spec.size == 3`],
    ["a field that is not there", { field: "spec.size", value: absent }, `!(${size})`],
    ["a field whose value only a program can judge", { field: "spec.size", value: (x: number) => x > 3 }, undefined],
    ["a field with a value that is no scalar", { field: "spec.owner", value: { name: "x" } }, undefined],
    [
      "an annotation",
      { annotations: { "example.com/x": 'a"b' } },
      "has(object.metadata) && object.metadata != null && has(object.metadata.annotations) && object.metadata.annotations != null" +
        ' && "example.com/x" in object.metadata.annotations && object.metadata.annotations["example.com/x"] == "a\\"b"',
    ],
    [
      "the field of what is deleted",
      { field: "metadata.name", operations: ["DELETE"] },
      "has(oldObject.metadata) && oldObject.metadata != null && has(oldObject.metadata.name)",
    ],
    [
      "the field of what is stored or deleted",
      { field: "kind", operations: ["CREATE", "DELETE"] },
      "has((object == null ? oldObject : object).kind)",
    ],
  ])("is %s", (_, options, expression) => {
    const conditions = entryOf(options).matchConditions as { expression: string }[] | undefined;
    expect(conditions?.map((one) => one.expression)).toEqual(expression === undefined ? undefined : [expression]);
  });

  it("is nothing about fields of a kind that is known by its name alone: a path may lead through a list", () => {
    const { validate } = plan((operator) => operator.on.validate("pods", { id: "check", field: "spec.x" }, () => {}));
    expect(validate[0]).not.toHaveProperty("matchConditions");
  });

  it("has conditions with names of their own beside those of the user", () => {
    const options = {
      matchConditions: [{ name: "annotation", expression: "true" }],
      annotations: { a: "1", b: present },
    };
    const conditions = entryOf(options).matchConditions as { name: string }[];
    expect(conditions.map(({ name }) => name)).toEqual(["annotation", "annotation-2", "annotation-3"]);
  });
});
