import { builtinKinds } from "@lotse/client/kinds";
import { describe, expect, it } from "vitest";
import type { Schema } from "../schema/index.ts";
import { createSchemaTable } from "./index.ts";

const table = createSchemaTable();
const core = (type: string): Schema => table.get(`io.k8s.api.core.v1.${type}`);

function nodesOf(schema: Schema): Schema[] {
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : []),
    ...(schema.oneOf ?? []),
  ];
  return [schema, ...below.flatMap(nodesOf)];
}

describe("the table of schemas", () => {
  it.each(builtinKinds)("has $kind of $group/$version", ({ group, version, kind }) => {
    const schema = table.get(table.refOfKind(group, version, kind) ?? "");
    expect(schema.type).toBe("object");
    expect(Object.keys(schema.properties ?? {})).toEqual(expect.arrayContaining(["apiVersion", "kind", "metadata"]));
    expect(schema["x-kubernetes-group-version-kind"]).toContainEqual({ group, version, kind });
  });

  it("has the list kind of every kind that can be listed", () => {
    const missing = builtinKinds.filter(
      (k) => k.verbs.includes("list") && table.refOfKind(k.group, k.version, `${k.kind}List`) === undefined,
    );
    expect(missing).toEqual([]);
  });

  it("resolves every reference", () => {
    const refs = new Set(table.refs());
    const dangling = table
      .refs()
      .flatMap((ref) => nodesOf(table.get(ref)))
      .flatMap((node) => (node.$ref !== undefined && !refs.has(node.$ref) ? [node.$ref] : []));
    expect(refs.size).toBeGreaterThan(500);
    expect(dangling).toEqual([]);
  });

  it("requires only properties that exist, and keys of lists that their items have", () => {
    for (const ref of table.refs()) {
      for (const node of nodesOf(table.get(ref))) {
        for (const name of node.required ?? []) expect(node.properties, ref).toHaveProperty([name]);
        const keys = node["x-kubernetes-list-map-keys"] ?? [];
        const item = node.items?.$ref === undefined ? undefined : table.get(node.items.$ref);
        for (const key of keys) expect(item?.properties, ref).toHaveProperty([key]);
      }
    }
  });

  it("merges containers by name", () => {
    const spec = core("PodSpec");
    expect(spec.required).toEqual(["containers"]);
    expect(spec.properties?.containers).toEqual({
      type: "array",
      items: { $ref: "io.k8s.api.core.v1.Container", default: {} },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    });
  });

  it("knows a service's ports by port and protocol, and the protocol's default", () => {
    const ports = core("ServiceSpec").properties?.ports;
    expect(ports?.["x-kubernetes-list-map-keys"]).toEqual(["port", "protocol"]);
    expect(ports?.["x-kubernetes-patch-merge-key"]).toBe("port");
    expect(core("ServicePort").properties?.protocol).toEqual({
      type: "string",
      default: "TCP",
      enum: ["SCTP", "TCP", "UDP"],
    });
  });

  it("keeps maps, atomic maps and formats apart", () => {
    expect(core("Secret").properties?.data).toEqual({
      type: "object",
      additionalProperties: { type: "string", format: "byte" },
    });
    expect(core("ServiceSpec").properties?.selector?.["x-kubernetes-map-type"]).toBe("atomic");
    expect(table.get("io.k8s.apimachinery.pkg.apis.meta.v1.Time")).toEqual({ type: "string", format: "date-time" });
    expect(core("PodSpec").properties?.terminationGracePeriodSeconds).toEqual({ type: "integer", format: "int64" });
    expect(table.get("io.k8s.apimachinery.pkg.util.intstr.IntOrString")).toEqual({
      format: "int-or-string",
      oneOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  it("gives an enumeration of list items to the items", () => {
    const operations = table.get("io.k8s.api.admissionregistration.v1.RuleWithOperations").properties?.operations;
    expect(operations?.enum).toBeUndefined();
    expect(operations?.items?.enum).toEqual(["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
  });

  it("finds the options of a request under the request's own group", () => {
    const ref = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
    expect(table.refOfKind("", "v1", "DeleteOptions")).toBe(ref);
    expect(table.refOfKind("apps", "v1", "DeleteOptions")).toBe(ref);
    expect(table.refOfKind("apps", "v1", "Pod")).toBeUndefined();
  });

  it("decodes a schema once, and each table by itself", () => {
    const ref = "io.k8s.api.core.v1.Pod";
    expect(table.get(ref)).toBe(table.get(ref));
    expect(createSchemaTable().get(ref)).not.toBe(table.get(ref));
  });

  it("names the schema that it does not have", () => {
    expect(() => table.get("io.k8s.api.core.v1.Nothing")).toThrow("io.k8s.api.core.v1.Nothing");
  });
});
