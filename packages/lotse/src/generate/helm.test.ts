import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { leader, peering, planCoordination } from "../declare/index.ts";
import { aboutOf } from "./about.ts";
import { type ChartInput, helmChart, imageParts } from "./helm.ts";
import type { Need } from "./rbac.ts";

const need = (resource: string, by: string, clusterWide = false): Need => ({
  group: "",
  resource,
  verbs: ["get"],
  by,
  clusterWide,
});

const INPUT: ChartInput = {
  name: "shop",
  about: aboutOf({ version: "1.2.3", author: "Jo <jo@example.com>", repository: "a/shop" }),
  definitions: [],
  needs: [need("pods", "handler h")],
  installNeeds: [],
  installs: false,
  patternNeeds: [need("namespaces", "the framework", true)],
  image: undefined,
  serves: undefined,
  stopMs: 15_000,
  replication: { replicas: 2, plan: planCoordination("leader"), declared: "alone" },
  metricsAuth: false,
  coordinationNeeds: {
    leader: [{ ...need("leases", "a leader"), inOwnNamespace: true }],
    shards: [{ ...need("leases", "shards"), inOwnNamespace: true }],
  },
};

const DIGEST = `sha256:${"0".repeat(64)}`;

const textOf = (input: ChartInput, name: string) => helmChart(input).find((file) => file.name === name)?.text ?? "";
const rbac = (input: ChartInput) => textOf(input, "templates/rbac.yaml");

describe("a chart", () => {
  it("says what the package says", () => {
    expect(load(textOf(INPUT, "Chart.yaml"))).toEqual({
      apiVersion: "v2",
      name: "shop",
      description: "The operator shop",
      type: "application",
      version: "1.2.3",
      appVersion: "1.2.3",
      kubeVersion: ">=1.31.0-0",
      sources: ["https://github.com/a/shop"],
      maintainers: [{ name: "Jo", email: "jo@example.com" }],
    });
  });

  it("has a schema that knows each of its values", () => {
    const keys = (schema: { properties?: Record<string, object> }, value: unknown): unknown =>
      schema.properties && typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.keys(value).filter((key) => !(key in (schema.properties ?? {})))
        : [];
    const values = load(textOf(INPUT, "values.yaml")) as Record<string, unknown>;
    const schema = JSON.parse(textOf(INPUT, "values.schema.json")) as { properties: Record<string, object> };
    expect(keys(schema, values)).toEqual([]);
    for (const [key, value] of Object.entries(values))
      expect(keys(schema.properties[key] ?? {}, value), key).toEqual([]);
    expect(Object.keys(schema.properties)).toEqual([...Object.keys(values), "global"]);
  });

  it("asks about definitions only when there are some", () => {
    expect(textOf(INPUT, "values.yaml")).not.toContain("installCrds");
    expect(textOf(INPUT, "templates/deployment.yaml")).not.toContain("INSTALL_CRDS");
  });

  it("keeps what people write from being read as a template", () => {
    const written = rbac({ ...INPUT, needs: [need("pods", 'handler {{ fail "no" }}')] });
    expect(written).toContain('# handler {{ "{{" }} fail "no" }}');
  });

  it("gives the rights on Leases that its user's choice of a coordination needs", () => {
    const own = rbac(INPUT).slice(rbac(INPUT).indexOf('{{- if or (eq .Values.coordination "leader")'));
    expect(own).toContain('{{- if or (eq .Values.coordination "leader") (eq .Values.coordination "shards") }}\n---');
    expect(own).toMatch(/\n {2}\{\{- if eq .Values.coordination "leader" \}\}\n {2}# a leader\n {2}- apiGroups:/);
    expect(own).toMatch(/\n {2}\{\{- if eq .Values.coordination "shards" \}\}\n {2}# shards\n {2}- apiGroups:/);
    const elsewhere = { ...need("leases", "there"), inOwnNamespace: true, namespace: "leases" };
    const apart = rbac({ ...INPUT, coordinationNeeds: { ...INPUT.coordinationNeeds, leader: [elsewhere] } });
    expect(apart).toContain("-own\n  namespace: leases\n");
    expect(apart).toContain("-own\n  namespace: {{ .Release.Namespace }}\n");
  });

  it("tells the operator of its coordination, unless it says so itself", () => {
    const deployment = (replication: ChartInput["replication"]) =>
      textOf({ ...INPUT, replication }, "templates/deployment.yaml");
    const plan = planCoordination(leader({ name: "first" }));
    expect(deployment(INPUT.replication)).toContain('{{- if ne .Values.coordination "alone" }}');
    expect(deployment({ replicas: 1, plan, declared: "leader" })).toContain(
      '{{- if ne .Values.coordination "leader" }}',
    );
  });

  it("has as many replicas as its user wants, but of those that are alone", () => {
    expect(load(textOf(INPUT, "values.yaml"))).toMatchObject({ replicas: 2, coordination: "leader" });
    const schema = JSON.parse(textOf(INPUT, "values.schema.json")) as Record<string, unknown>;
    expect(schema).toMatchObject({
      properties: { replicas: { minimum: 0 }, coordination: { enum: ["leader", "shards", "alone"] } },
      if: { properties: { coordination: { const: "alone" } } },
    });
    expect(schema.then).toEqual({ properties: { replicas: { maximum: 1 } } });
  });

  it("has one replica of an operator that gives way to peers, and no choice", () => {
    const plan = planCoordination(peering());
    const input: ChartInput = { ...INPUT, replication: { replicas: 1, plan, declared: "peering" } };
    expect(load(textOf(input, "values.yaml"))).not.toHaveProperty("coordination");
    expect(JSON.parse(textOf(input, "values.schema.json"))).toMatchObject({
      properties: { replicas: { enum: [0, 1] } },
    });
    for (const { name, text } of helmChart(input)) expect(text, name).not.toContain(".Values.coordination");
  });

  it("has a ClusterRole only where one has rules", () => {
    expect(rbac(INPUT)).toContain(
      '{{- if or (ne $scope "namespaces") .Values.metrics.auth }}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole',
    );
    const coordinationNeeds = { leader: [], shards: [] };
    const cluster = rbac({ ...INPUT, needs: [need("nodes", "handler h", true)], coordinationNeeds });
    expect(cluster).not.toContain("kind: Role\n");
    expect(rbac({ ...INPUT, installNeeds: [need("crds", "x", true)] })).toContain(
      '{{- if or (ne $scope "namespaces") .Values.installCrds .Values.metrics.auth }}',
    );
  });

  it.each([
    ["rates", "rates", ""],
    [`rates:1@${DIGEST}`, "rates", "1", DIGEST],
    [`localhost:5000/rates@${DIGEST}`, "localhost:5000/rates", "", DIGEST],
    ["rates:1", "rates", "1"],
    ["example.com/rates:1.2.3", "example.com/rates", "1.2.3"],
    ["localhost:5000/rates", "localhost:5000/rates", ""],
    ["localhost:5000/rates:v1", "localhost:5000/rates", "v1"],
  ])("finds the parts of %s", (image, repository, tag, digest = "") => {
    expect(imageParts(image)).toEqual({ repository, tag, digest });
  });
});
