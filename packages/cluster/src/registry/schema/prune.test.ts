import { expect, test } from "vitest";
import { prune } from "./prune.ts";
import { noReferences, type Schema } from "./types.ts";

const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
        map: { type: "object", additionalProperties: { type: "object", properties: { b: { type: "string" } } } },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: { c: { type: "string" } } } },
        },
        any: { "x-kubernetes-preserve-unknown-fields": true },
        embedded: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
      },
    },
  },
};

test("unknown fields go, and are named with dots and indexes", () => {
  const value = {
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "n", bogus: 1 },
    top: 1,
    spec: { size: 1, oops: {}, list: [{ a: "1" }, { a: "2", x: 1 }], map: { k: { b: "1", y: 2 } } },
  };
  const { value: pruned, unknown } = prune(value, schema, noReferences, { resourceRoot: true });
  expect(unknown).toEqual(["spec.list[1].x", "spec.map.k.y", "spec.oops", "top"]);
  expect(pruned).toEqual({
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "n", bogus: 1 },
    spec: { size: 1, list: [{ a: "1" }, { a: "2" }], map: { k: { b: "1" } } },
  });
  expect(value.top).toBe(1);
  expect(value.spec.oops).toEqual({});
});

test("metadata is pruned by the schema of ObjectMeta where there is one, in embedded resources too", () => {
  const objectMeta: Schema = { type: "object", properties: { name: { type: "string" } } };
  const value = {
    metadata: { name: "n", bogus: 1 },
    spec: { embedded: { apiVersion: "v1", kind: "Y", metadata: { name: "m", odd: 1 }, status: {} } },
  };
  const { unknown } = prune(value, schema, noReferences, { resourceRoot: true, objectMeta });
  expect(unknown).toEqual(["metadata.bogus", "spec.embedded.metadata.odd", "spec.embedded.status"]);
});

test("preserving nodes keep what they do not know and prune below what they know", () => {
  const value = { spec: { free: { x: { y: 1 }, known: { c: "1", d: 1 } }, any: [{ z: 1 }] } };
  const { value: pruned, unknown } = prune(value, schema, noReferences);
  expect(unknown).toEqual(["spec.free.known.d"]);
  expect(pruned).toEqual({ spec: { free: { x: { y: 1 }, known: { c: "1" } }, any: [{ z: 1 }] } });
});

test("what needs no pruning is shared", () => {
  const value = { spec: { size: 1, list: [{ a: "1" }] } };
  expect(prune(value, schema, noReferences).value).toBe(value);
});

test("references are followed, also inside a single allOf; definitions without properties hold any JSON", () => {
  const table: Record<string, Schema> = {
    raw: { type: "object" },
    meta: { type: "object", properties: { name: { type: "string" } } },
  };
  const resolve = (ref: string) => table[ref] as Schema;
  const root: Schema = {
    type: "object",
    properties: { metadata: { allOf: [{ $ref: "meta" }], default: {} }, raw: { $ref: "raw" } },
  };
  expect(prune({ metadata: { name: "a", x: 1 }, raw: { y: 1 }, z: 1 }, root, resolve)).toEqual({
    value: { metadata: { name: "a" }, raw: { y: 1 } },
    unknown: ["metadata.x", "z"],
  });
});
