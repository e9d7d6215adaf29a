import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
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

  it("has a ClusterRole only where one has rules", () => {
    expect(rbac(INPUT)).toContain(
      '{{- if ne $scope "namespaces" }}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole',
    );
    const cluster = rbac({ ...INPUT, needs: [need("nodes", "handler h", true)] });
    expect(cluster).not.toContain("kind: Role\n");
    expect(rbac({ ...INPUT, installNeeds: [need("crds", "x", true)] })).toContain(
      '{{- if or (ne $scope "namespaces") .Values.installCrds }}',
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
