import { expect, test } from "vitest";
import { wholeObjectSchema } from "../schema/index.ts";
import { createSchemaTable } from "../tables/index.ts";
import { applyConfiguration, trackUpdate } from "./apply.ts";

const table = createSchemaTable();
const now = Date.parse("2026-01-01T00:00:00Z");
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "c", image: "nginx", ports: [{ containerPort: 80, protocol: "TCP" }] }] },
    },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } },
  },
};
const common = {
  apiVersion: "apps/v1",
  schema: { $ref: table.refOfKind("apps", "v1", "Deployment") as string },
  resolve: (ref: string) => table.get(ref),
  now,
  ignore: [["status"]],
};

// The record that kube-apiserver writes for this object.
const created = {
  "f:spec": {
    "f:replicas": {},
    "f:selector": {},
    "f:strategy": { "f:rollingUpdate": { ".": {}, "f:maxSurge": {} }, "f:type": {} },
    "f:template": {
      "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
      "f:spec": {
        "f:containers": {
          'k:{"name":"c"}': {
            ".": {},
            "f:image": {},
            "f:name": {},
            "f:ports": {
              ".": {},
              'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {}, "f:protocol": {} },
            },
            "f:resources": {},
          },
        },
      },
    },
  },
};

test("a created Deployment has the same record as on a real server", () => {
  const [entry] = trackUpdate({ ...common, old: undefined, next: deployment, manager: "kubectl-create" });
  expect(entry?.fieldsV1).toEqual(created);
});

test("a controller's status is recorded without marks on the struct itself", () => {
  const managedFields = trackUpdate({ ...common, old: undefined, next: deployment, manager: "kubectl-create" });
  const old = { ...deployment, metadata: { ...deployment.metadata, managedFields } };
  const next = { ...old, status: { replicas: 1, conditions: [{ type: "Available", status: "True" }] } };
  const entries = trackUpdate({ ...common, ignore: [["spec"]], old, next, manager: "ctl", subresource: "status" });
  expect(entries.find(({ manager }) => manager === "ctl")?.fieldsV1).toEqual({
    "f:status": {
      "f:conditions": { ".": {}, 'k:{"type":"Available"}': { ".": {}, "f:status": {}, "f:type": {} } },
      "f:replicas": {},
    },
  });
});

test("an applied Deployment owns its leaves; a port's protocol comes from its default", () => {
  const applied = structuredClone(deployment) as typeof deployment & {
    spec: { template: { spec: { containers: { ports: object[] }[] } } };
  };
  (applied.spec.template.spec.containers[0] as { ports: object[] }).ports = [{ containerPort: 80 }];
  const result = applyConfiguration({ ...common, live: undefined, applied, manager: "me", force: false });
  expect("managedFields" in result && result.managedFields[0]?.fieldsV1).toEqual({
    "f:spec": {
      "f:replicas": {},
      "f:selector": {},
      "f:strategy": { "f:rollingUpdate": { "f:maxSurge": {} }, "f:type": {} },
      "f:template": {
        "f:metadata": { "f:labels": { "f:app": {} } },
        "f:spec": {
          "f:containers": {
            'k:{"name":"c"}': {
              ".": {},
              "f:image": {},
              "f:name": {},
              "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
            },
          },
        },
      },
    },
  });
});

test("an unknown field of a built-in kind is refused", () => {
  const applied = { ...deployment, spec: { ...deployment.spec, bogus: 1 } };
  expect(() => applyConfiguration({ ...common, live: undefined, applied, manager: "me", force: false })).toThrow(
    "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.bogus: field not declared in schema",
  );
});

test("a schema that is looked up already does as well as a reference to it", () => {
  const schema = table.get(common.schema.$ref);
  const [entry] = trackUpdate({ ...common, schema, old: undefined, next: deployment, manager: "kubectl-create" });
  expect(entry?.fieldsV1).toEqual(created);
});

test("a custom resource with the built-in metadata marks its own containers", () => {
  const schema = wholeObjectSchema(
    {
      type: "object",
      required: ["spec"],
      properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
    },
    { $ref: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
  );
  const next = { apiVersion: "x/v1", kind: "X", metadata: { name: "n", finalizers: ["a/b"] }, spec: { size: 1 } };
  const [entry] = trackUpdate({ ...common, apiVersion: "x/v1", schema, old: undefined, next, manager: "m" });
  expect(entry?.fieldsV1).toEqual({
    "f:metadata": { "f:finalizers": { ".": {}, 'v:"a/b"': {} } },
    "f:spec": { ".": {}, "f:size": {} },
  });
});
