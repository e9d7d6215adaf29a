import { describe, expect, test } from "vitest";
import { noReferences, type Schema } from "../schema/index.ts";
import { ApplyError, type ApplyInput, applyConfiguration, trackUpdate, type UpdateInput } from "./apply.ts";
import { formatConflicts } from "./conflicts.ts";
import type { ManagedFieldsEntry } from "./managers.ts";

const metadata: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    labels: { type: "object", additionalProperties: { type: "string" } },
    annotations: { type: "object", additionalProperties: { type: "string" } },
    finalizers: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    managedFields: { type: "array", items: { type: "object" } },
  },
};
const schema: Schema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata,
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        name: { type: "string" },
        plain: { type: "array", items: { type: "string" } },
        whole: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        nested: { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
              name: { type: "string" },
            },
          },
        },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  },
};
const start = Date.parse("2026-01-01T00:00:00.500Z");
type Obj = Record<string, unknown>;

const body = (spec: Obj, more: Obj = {}): Obj => ({
  apiVersion: "x/v1",
  kind: "X",
  metadata: { name: "n" },
  spec,
  ...more,
});
const stored = (object: Obj, managedFields: readonly ManagedFieldsEntry[]): Obj => ({
  ...object,
  metadata: { ...(object.metadata as Obj), managedFields },
});
const context = { apiVersion: "x/v1", schema, resolve: noReferences, now: start };
function apply(live: Obj | undefined, applied: Obj, manager: string, more: Partial<ApplyInput> = {}) {
  return applyConfiguration({ ...context, live, applied, manager, force: false, ...more });
}
function applied(live: Obj | undefined, config: Obj, manager: string, more: Partial<ApplyInput> = {}) {
  const result = apply(live, config, manager, more);
  if ("conflicts" in result) throw new Error(formatConflicts(result.conflicts).message);
  return { ...result, stored: stored(result.object, result.managedFields) };
}
function updated(old: Obj | undefined, next: Obj, manager: string, more: Partial<UpdateInput> = {}) {
  const managedFields = trackUpdate({ ...context, old, next, manager, ...more });
  return stored(next, managedFields);
}
const entries = (object: Obj) => (object.metadata as { managedFields: ManagedFieldsEntry[] }).managedFields;
const owners = (object: Obj) =>
  Object.fromEntries(entries(object).map((entry) => [`${entry.manager}/${entry.operation}`, entry.fieldsV1]));

describe("applying", () => {
  test("creates an object and owns its leaves", () => {
    const { object, managedFields, changed } = applied(
      undefined,
      body({ size: 1, nested: { a: "x" }, ports: [{ port: 80, name: "w" }] }),
      "me",
    );
    expect(object).toEqual(body({ size: 1, nested: { a: "x" }, ports: [{ port: 80, name: "w" }] }));
    expect(changed).toBe(true);
    expect(managedFields).toEqual([
      {
        manager: "me",
        operation: "Apply",
        apiVersion: "x/v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:spec": {
            "f:nested": { "f:a": {} },
            "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} } },
            "f:size": {},
          },
        },
      },
    ]);
  });

  test("the same configuration again changes nothing, not even the time", () => {
    const first = applied(undefined, body({ size: 1 }), "me").stored;
    const again = applied(first, body({ size: 1 }), "me", { now: start + 60_000 });
    expect(again.changed).toBe(false);
    expect(again.managedFields).toEqual(entries(first));
  });

  test("what is no longer applied goes, what others own stays", () => {
    const first = applied(
      undefined,
      body({ size: 1, name: "a", nested: { a: "x", b: "y" }, ports: [{ port: 80 }, { port: 81 }] }),
      "me",
    ).stored;
    const shared = applied(first, body({ name: "a" }), "other").stored;
    const { object, stored: last } = applied(shared, body({ nested: { a: "x" }, ports: [{ port: 81 }] }), "me");
    expect(object.spec).toEqual({ name: "a", nested: { a: "x" }, ports: [{ port: 81 }] });
    expect(owners(last)["other/Apply"]).toEqual({ "f:spec": { "f:name": {} } });
    const gone = applied(last, body({ ports: [{ port: 81 }] }), "me");
    expect(gone.object.spec).toEqual({ name: "a", ports: [{ port: 81 }] });
  });

  test("a value that another manager owns is a conflict, the same value is shared, force takes it", () => {
    const first = applied(undefined, body({ size: 1, name: "a" }), "m1").stored;
    const same = applied(first, body({ size: 1 }), "m2");
    // Sharing changes nothing in the object, so that it has no time; what has none comes first.
    expect(Object.keys(owners(same.stored))).toEqual(["m2/Apply", "m1/Apply"]);
    const result = apply(first, body({ size: 2 }), "m2");
    expect("conflicts" in result && formatConflicts(result.conflicts)).toEqual({
      message: 'Apply failed with 1 conflict: conflict with "m1": .spec.size',
      causes: [{ reason: "FieldManagerConflict", message: 'conflict with "m1"', field: ".spec.size" }],
    });
    const forced = applied(first, body({ size: 2 }), "m2", { force: true }).stored;
    expect(owners(forced)).toEqual({
      "m1/Apply": { "f:spec": { "f:name": {} } },
      "m2/Apply": { "f:spec": { "f:size": {} } },
    });
  });

  test("several conflicts are listed by manager, updaters with their version and subresource", () => {
    let object = updated(undefined, body({ size: 1, ports: [{ port: 80, protocol: "TCP", name: "a" }] }), "edit");
    object = updated(object, { ...object, spec: { ...(object.spec as Obj), name: "x" } }, "ctl", {
      subresource: "status",
    });
    const result = apply(object, body({ size: 2, name: "y", ports: [{ port: 80, name: "b" }] }), "me");
    expect("conflicts" in result && formatConflicts(result.conflicts).message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "ctl" with subresource "status" using x/v1:',
        "- .spec.name",
        'conflicts with "edit" using x/v1:',
        "- .spec.size",
        '- .spec.ports[port=80,protocol="TCP"].name',
      ].join("\n"),
    );
  });

  test("plain lists and atomic maps are replaced as a whole, sets are joined", () => {
    const live = applied(
      undefined,
      { ...body({ plain: ["a"], whole: { a: "1" } }), metadata: { name: "n", finalizers: ["x/a"] } },
      "m1",
    ).stored;
    const result = applied(
      live,
      { ...body({ plain: ["b"], whole: { b: "2" } }), metadata: { name: "n", finalizers: ["x/b"] } },
      "m2",
      { force: true },
    );
    expect(result.object.spec).toEqual({ plain: ["b"], whole: { b: "2" } });
    expect((result.object.metadata as Obj).finalizers).toEqual(["x/a", "x/b"]);
    expect(owners(result.stored)).toEqual({
      "m1/Apply": { "f:metadata": { "f:finalizers": { 'v:"x/a"': {} } } },
      "m2/Apply": { "f:metadata": { "f:finalizers": { 'v:"x/b"': {} } }, "f:spec": { "f:plain": {}, "f:whole": {} } },
    });
  });

  test("content without a schema is owned key by key, its lists as a whole", () => {
    const first = applied(undefined, body({ any: { a: { b: 1 }, l: [{ x: 1 }] } }), "m1").stored;
    expect(owners(first)["m1/Apply"]).toEqual({ "f:spec": { "f:any": { "f:a": { ".": {}, "f:b": {} }, "f:l": {} } } });
    const both = applied(first, body({ any: { a: { c: 2 } } }), "m2");
    expect((both.object.spec as Obj).any).toEqual({ a: { b: 1, c: 2 }, l: [{ x: 1 }] });
    const rest = applied(both.stored, body({}), "m1");
    expect((rest.object.spec as Obj).any).toEqual({ a: { c: 2 } });
  });

  test("items of keyed lists merge in the order of the configuration", () => {
    const live = applied(undefined, body({ ports: [{ port: 1 }, { port: 2 }, { port: 3 }] }), "m1").stored;
    const result = applied(live, body({ ports: [{ port: 9 }, { port: 3 }, { port: 1, name: "x" }] }), "m2");
    expect((result.object.spec as { ports: { port: number }[] }).ports.map(({ port }) => port)).toEqual([2, 9, 3, 1]);
  });

  test("fields that the endpoint leaves alone are not owned", () => {
    const { managedFields } = applied(undefined, body({ size: 1 }, { status: { ready: true } }), "me", {
      ignore: [["status"]],
    });
    expect(managedFields[0]?.fieldsV1).toEqual({ "f:spec": { "f:size": {} } });
  });

  test("an object without a record gets one for what was there before", () => {
    const result = applied(body({ size: 1, name: "a" }), body({ size: 1 }), "me");
    expect(owners(result.stored)).toEqual({
      "me/Apply": { "f:spec": { "f:size": {} } },
      "before-first-apply/Update": { "f:spec": { ".": {}, "f:name": {}, "f:size": {} } },
    });
  });

  test("kubectl takes over what it applied from the client, and keeps its annotation true", () => {
    const last = JSON.stringify(body({ size: 1 }));
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": last };
    const live = updated(
      undefined,
      { ...body({ size: 1, name: "a" }), metadata: { name: "n", annotations } },
      "kubectl-client-side-apply",
    );
    const config = body({ size: 2 });
    const { object } = applied(live, config, "kubectl");
    expect((object.spec as Obj).size).toBe(2);
    expect(
      JSON.parse(
        (object.metadata as { annotations: Record<string, string> }).annotations[
          "kubectl.kubernetes.io/last-applied-configuration"
        ] as string,
      ),
    ).toEqual(config);
    const annotated = { ...config, metadata: { ...(config.metadata as object), annotations } };
    const again = applied(live, annotated, "kubectl").object.metadata as { annotations: Record<string, string> };
    expect(JSON.parse(Object.values(again.annotations)[0] as string)).toMatchObject({ metadata: { annotations: {} } });
    expect("conflicts" in apply(live, body({ name: "b" }), "kubectl")).toBe(true);
    expect("conflicts" in apply(live, config, "someone")).toBe(true);
  });

  test.each<[Obj, string]>([
    [{ bogus: 1 }, ".spec.bogus: field not declared in schema"],
    [
      { ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] },
      '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ],
  ])("%o is refused", (spec, message) => {
    const config = { ...body(spec), metadata: { name: "n", namespace: "ns" } };
    const open = {
      ...schema,
      properties: {
        ...schema.properties,
        metadata: { ...metadata, properties: { ...metadata.properties, namespace: { type: "string" } } },
      },
    };
    expect(() => apply(undefined, config, "me", { schema: open })).toThrow(ApplyError);
    expect(() => apply(undefined, config, "me", { schema: open })).toThrow(
      `failed to create typed patch object (ns/n; x/v1, Kind=X): ${message}`,
    );
  });

  test("nothing that was given is changed", () => {
    const live = applied(undefined, body({ size: 1, ports: [{ port: 80 }] }), "m1").stored;
    const config = body({ ports: [{ port: 80, name: "x" }] });
    const before = structuredClone([live, config]);
    applied(live, config, "m2");
    expect([live, config]).toEqual(before);
  });
});

describe("updating", () => {
  test("a creation owns all it brings, containers that are new with it", () => {
    const object = updated(undefined, { ...body({ size: 1 }), metadata: { name: "n", labels: { a: "1" } } }, "curl");
    expect(entries(object)).toEqual([
      {
        manager: "curl",
        operation: "Update",
        apiVersion: "x/v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } }, "f:spec": { ".": {}, "f:size": {} } },
      },
    ]);
  });

  test("changed fields move to the updater, removed ones disappear everywhere", () => {
    const first = applied(undefined, body({ size: 1, name: "a" }), "m1").stored;
    const next = updated(first, { ...first, spec: { size: 2 } }, "curl", { now: start + 1000 });
    expect(owners(next)).toEqual({ "curl/Update": { "f:spec": { "f:size": {} } } });
    const same = updated(next, { ...next }, "curl", { now: start + 5000 });
    expect(entries(same)).toEqual(entries(next));
  });

  test("a subresource has its own entry, and cannot change the record", () => {
    const first = updated(undefined, body({ size: 1 }), "curl");
    const status = updated(first, stored({ ...first, status: { ready: true } }, []), "curl", { subresource: "status" });
    expect(entries(status).map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ["curl", undefined],
      ["curl", "status"],
    ]);
  });

  test("an empty record clears it for good; nonsense is ignored", () => {
    const first = updated(undefined, body({ size: 1 }), "curl");
    expect(trackUpdate({ ...context, old: first, next: stored(first, []), manager: "curl" })).toEqual([]);
    expect(trackUpdate({ ...context, old: first, next: stored(first, [{}]), manager: "curl" })).toEqual([]);
    expect(trackUpdate({ ...context, old: body({ size: 1 }), next: body({ size: 2 }), manager: "curl" })).toEqual([]);
    const odd = stored(first, [{ manager: "x", operation: "Dance" }]);
    expect(trackUpdate({ ...context, old: first, next: odd, manager: "curl" })).toEqual(entries(first));
  });

  test("more than ten updaters are joined, the oldest first", () => {
    let object = updated(undefined, body({}), "m00");
    for (let i = 1; i <= 12; i++) {
      const any = { ...((object.spec as Obj).any as Obj), [`k${i}`]: i };
      object = updated(object, { ...object, spec: { any } }, `m${String(i).padStart(2, "0")}`, {
        now: start + i * 1000,
      });
    }
    const names = entries(object).map(({ manager }) => manager);
    expect(names).toHaveLength(10);
    expect(names[0]).toBe("ancient-changes");
    expect(names.at(-1)).toBe("m12");
    const ancient = owners(object)["ancient-changes/Update"] as Record<string, Record<string, object>>;
    expect(Object.keys(ancient["f:spec"]?.["f:any"] ?? {})).toEqual([".", "f:k1", "f:k2", "f:k3"]);
  });
});

test("structs of built-in kinds exist before they are set, lists that must be there are null", () => {
  const table: Record<string, Schema> = {
    root: {
      type: "object",
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { allOf: [{ $ref: "meta" }], default: {} },
        spec: { allOf: [{ $ref: "spec" }], default: {} },
      },
    },
    meta: {
      type: "object",
      properties: { name: { type: "string" }, labels: { type: "object", additionalProperties: { type: "string" } } },
    },
    spec: {
      type: "object",
      required: ["containers"],
      properties: {
        containers: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: { $ref: "container" },
        },
        strategy: { $ref: "strategy" },
      },
    },
    container: { type: "object", properties: { name: { type: "string" } } },
    strategy: { type: "object", properties: { type: { type: "string" } } },
  };
  const next = {
    apiVersion: "v1",
    kind: "P",
    metadata: { name: "n" },
    spec: { containers: [{ name: "c" }], strategy: { type: "x" } },
  };
  const [entry] = trackUpdate({
    ...context,
    schema: { $ref: "root" },
    resolve: (ref) => table[ref] as Schema,
    old: undefined,
    next,
    manager: "m",
  });
  expect(entry?.fieldsV1).toEqual({
    "f:spec": {
      "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {} } },
      "f:strategy": { ".": {}, "f:type": {} },
    },
  });
});
