import { builtinKinds } from "@lotse/client/kinds";
import { describe, expect, it } from "vitest";
import { createMessageTable, createSchemaTable, type MessageFields } from "./index.ts";

const table = createMessageTable();
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

function message(name: string): MessageFields {
  const found = table.get(name);
  if (found === undefined) throw new Error(`no message ${name}`);
  return found;
}

const core = (type: string) => message(`io.k8s.api.core.v1.${type}`);
const field = (of: MessageFields, name: string) => [...of.fields.values()].find((f) => f.name === name);

/** The names of a message's fields in JSON, with those of inlined messages in their place. */
function jsonNames(of: MessageFields): string[] {
  return [...of.fields.values()].flatMap((f) =>
    f.inline && "message" in f.type ? jsonNames(message(f.type.message)) : [f.name],
  );
}

describe("the table of messages", () => {
  it.each(builtinKinds)("has $kind of $group/$version", ({ group, version, kind }) => {
    const name = table.nameOfKind(group === "" ? version : `${group}/${version}`, kind);
    const metadata = message(name ?? "").fields.get(1);
    expect(metadata).toMatchObject({ name: "metadata", type: { message: `${META}.ObjectMeta` } });
  });

  it("resolves every message that a field names", () => {
    const types = table.names().flatMap((name) => [...message(name).fields.values()].map((f) => f.type));
    const dangling = types.filter((type) => "message" in type && table.get(type.message) === undefined);
    expect(types.length).toBeGreaterThan(2000);
    expect(dangling).toEqual([]);
  });

  it("speaks of the same fields as the schemas, but for apiVersion and kind", () => {
    const schemas = createSchemaTable();
    const compared = schemas.refs().filter((ref) => schemas.get(ref).properties && table.get(ref));
    const different = compared.filter((ref) => {
      const schema = schemas.get(ref);
      const typed = schema["x-kubernetes-group-version-kind"] !== undefined;
      const expected = Object.keys(schema.properties ?? {}).filter(
        (name) => !typed || (name !== "apiVersion" && name !== "kind"),
      );
      return expected.sort().join() !== jsonNames(message(ref)).sort().join();
    });
    expect(compared.length).toBeGreaterThan(500);
    expect(different).toEqual([]);
  });

  it("has the numbers of a pod and a config map", () => {
    const numbers = (of: MessageFields) => Object.fromEntries([...of.fields.values()].map((f) => [f.name, f.number]));
    expect(numbers(core("Pod"))).toEqual({ metadata: 1, spec: 2, status: 3 });
    expect(numbers(core("ConfigMap"))).toEqual({ metadata: 1, data: 2, binaryData: 3, immutable: 4 });
  });

  it("keeps lists, maps and pointers apart", () => {
    expect(field(core("ConfigMap"), "data")).toMatchObject({ map: true, repeated: false, type: { scalar: "string" } });
    expect(field(core("ConfigMap"), "binaryData")).toMatchObject({ map: true, type: { scalar: "bytes" } });
    expect(field(core("ConfigMap"), "immutable")).toMatchObject({ pointer: true, type: { scalar: "bool" } });
    expect(field(core("PodSpec"), "containers")).toMatchObject({
      repeated: true,
      map: false,
      type: { message: "io.k8s.api.core.v1.Container" },
    });
    expect(field(core("PodSpec"), "hostNetwork")?.pointer).toBe(false);
    expect(field(core("PodSpec"), "terminationGracePeriodSeconds")?.pointer).toBe(true);
  });

  it("knows which fields JSON shows even when they are zero", () => {
    expect(field(core("Container"), "name")?.always).toBe(true);
    expect(field(core("Container"), "image")?.always).toBe(false);
    expect(field(message("io.k8s.api.apps.v1.ReplicaSetStatus"), "replicas")?.always).toBe(true);
  });

  it("marks messages whose fields stand in the parent, and messages that are lists", () => {
    expect(core("Volume").fields.get(2)).toMatchObject({
      inline: true,
      type: { message: "io.k8s.api.core.v1.VolumeSource" },
    });
    expect(message("io.k8s.api.authorization.v1.ExtraValue").list).toBe(true);
    expect(core("Pod").list).toBe(false);
  });

  it("uses the names of JSON where protobuf has others", () => {
    const props = message("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    expect(props.fields.get(3)).toMatchObject({ name: "$ref", pointer: true });
    expect(props.fields.get(38)?.name).toBe("x-kubernetes-preserve-unknown-fields");
  });

  it("knows the envelope and the options of requests to any group", () => {
    const envelope = message("io.k8s.apimachinery.pkg.runtime.Unknown");
    expect([...envelope.fields.values()].map((f) => f.name)).toEqual([
      "typeMeta",
      "raw",
      "contentEncoding",
      "contentType",
    ]);
    expect(table.nameOfKind("v1", "DeleteOptions")).toBe(`${META}.DeleteOptions`);
    expect(table.nameOfKind("example.com/v1", "DeleteOptions")).toBe(`${META}.DeleteOptions`);
    expect(table.nameOfKind("policy/v1", "Eviction")).toBe("io.k8s.api.policy.v1.Eviction");
    expect(table.nameOfKind("example.com/v1", "Pod")).toBeUndefined();
    for (const kind of ["CreateOptions", "UpdateOptions", "PatchOptions", "ListOptions", "Status", "WatchEvent"]) {
      expect(table.get(table.nameOfKind("v1", kind) ?? ""), kind).toBeDefined();
    }
  });
});
