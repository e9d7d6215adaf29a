import { describe, expect, test } from "vitest";
import type { Schema } from "../schema/index.ts";
import { applyStrategicMergePatch, StrategicPatchError } from "./strategic.ts";

const table: Record<string, Schema> = {
  container: {
    type: "object",
    properties: {
      name: { type: "string" },
      image: { type: "string" },
      args: { type: "array", items: { type: "string" } },
      env: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" } } },
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "name",
      },
    },
  },
};
const schema: Schema = {
  type: "object",
  properties: {
    metadata: {
      type: "object",
      properties: {
        labels: { type: "object", additionalProperties: { type: "string" } },
        finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" },
      },
    },
    containers: {
      type: "array",
      items: { $ref: "container" },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    },
    volumes: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
    },
    strategy: { type: "object", "x-kubernetes-patch-strategy": "retainKeys" },
    selector: { type: "object", "x-kubernetes-patch-strategy": "replace" },
    plain: { type: "array", items: { type: "object" } },
  },
};
const apply = (doc: unknown, patch: unknown) =>
  applyStrategicMergePatch(doc, patch, schema, (ref) => table[ref] as Schema);

describe("merging", () => {
  test.each<[string, unknown, unknown, unknown]>([
    [
      "objects by key, null removes",
      { metadata: { labels: { a: "1", b: "2" } } },
      { metadata: { labels: { a: null, c: "3" } } },
      { metadata: { labels: { b: "2", c: "3" } } },
    ],
    [
      "nulls of new values are dropped",
      {},
      { metadata: { labels: { a: null, b: "1" } } },
      { metadata: { labels: { b: "1" } } },
    ],
    [
      "lists by merge key",
      {
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "2" },
        ],
      },
      { containers: [{ name: "b", image: "3" }] },
      {
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "3" },
        ],
      },
    ],
    [
      "new items come where the patch has them",
      { containers: [{ name: "a" }] },
      { containers: [{ name: "b" }, { name: "a", image: "x" }] },
      { containers: [{ name: "b" }, { name: "a", image: "x" }] },
    ],
    [
      "nested lists through references",
      { containers: [{ name: "a", env: [{ name: "X", value: "1" }] }] },
      { containers: [{ name: "a", env: [{ name: "Y", value: "2" }] }] },
      {
        containers: [
          {
            name: "a",
            env: [
              { name: "Y", value: "2" },
              { name: "X", value: "1" },
            ],
          },
        ],
      },
    ],
    [
      "lists without a strategy are replaced",
      { plain: [{ a: 1 }], containers: [{ name: "a", args: ["x"] }] },
      { plain: [{ b: 1 }], containers: [{ name: "a", args: ["y"] }] },
      { plain: [{ b: 1 }], containers: [{ name: "a", args: ["y"] }] },
    ],
    [
      "scalars merge without repetition",
      { metadata: { finalizers: ["a", "b"] } },
      { metadata: { finalizers: ["b", "c"] } },
      { metadata: { finalizers: ["a", "b", "c"] } },
    ],
    ["objects with strategy replace", { selector: { a: 1 } }, { selector: { b: 2 } }, { selector: { b: 2 } }],
  ])("%s", (_, doc, patch, expected) => {
    const before = structuredClone(doc);
    expect(apply(doc, patch)).toEqual(expected);
    expect(doc).toEqual(before);
  });
});

describe("directives", () => {
  test.each<[string, unknown, unknown, unknown]>([
    [
      "$patch: replace in an object",
      { metadata: { labels: { a: "1" } } },
      { metadata: { labels: { $patch: "replace", b: "2" } } },
      { metadata: { labels: { b: "2" } } },
    ],
    [
      "$patch: delete in an object",
      { metadata: { labels: { a: "1" } } },
      { metadata: { labels: { $patch: "delete" } } },
      { metadata: { labels: {} } },
    ],
    [
      "$patch: delete in an item",
      { containers: [{ name: "a" }, { name: "b" }] },
      { containers: [{ name: "a", $patch: "delete" }] },
      { containers: [{ name: "b" }] },
    ],
    [
      "$patch: replace in a list",
      { containers: [{ name: "a" }, { name: "b" }] },
      { containers: [{ name: "c" }, { $patch: "replace" }] },
      { containers: [{ name: "c" }] },
    ],
    [
      "$patch in a value that is new",
      {},
      { containers: [{ name: "a", $patch: "delete" }, { name: "b" }] },
      { containers: [{ name: "b" }] },
    ],
    [
      "$deleteFromPrimitiveList",
      { metadata: { finalizers: ["a", "b"] } },
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } },
      { metadata: { finalizers: ["b"] } },
    ],
    [
      "$retainKeys",
      { strategy: { type: "RollingUpdate", rollingUpdate: {} } },
      { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      { strategy: { type: "Recreate" } },
    ],
    [
      "$retainKeys in items",
      { volumes: [{ name: "v", emptyDir: {} }] },
      { volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }] },
      { volumes: [{ name: "v", hostPath: { path: "/" } }] },
    ],
    [
      "$setElementOrder moves items",
      { containers: [{ name: "a" }, { name: "b" }, { name: "c" }] },
      { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }, { name: "b" }] },
      { containers: [{ name: "c" }, { name: "a" }, { name: "b" }] },
    ],
    [
      "$setElementOrder with a patch",
      { containers: [{ name: "a" }, { name: "s" }] },
      { "$setElementOrder/containers": [{ name: "n" }, { name: "a" }], containers: [{ name: "n", image: "x" }] },
      { containers: [{ name: "n", image: "x" }, { name: "a" }, { name: "s" }] },
    ],
    [
      "$setElementOrder that names nothing: new items come the other way round, as the server sorts what has no place",
      { containers: [{ name: "c" }] },
      { "$setElementOrder/containers": [], containers: [{ name: "a" }, { name: "b" }] },
      { containers: [{ name: "c" }, { name: "b" }, { name: "a" }] },
    ],
    [
      "$setElementOrder of scalars",
      { metadata: { finalizers: ["a", "b"] } },
      { metadata: { "$setElementOrder/finalizers": ["b", "a"] } },
      { metadata: { finalizers: ["b", "a"] } },
    ],
    [
      "$setElementOrder with a new item where another went: it comes after those that the patch does not name",
      { containers: [{ name: "old" }, { name: "sidecar" }, { name: "other" }] },
      {
        "$setElementOrder/containers": [{ name: "new" }, { name: "newer" }],
        containers: [{ name: "new" }, { name: "newer" }, { $patch: "delete", name: "old" }],
      },
      { containers: [{ name: "sidecar" }, { name: "other" }, { name: "new" }, { name: "newer" }] },
    ],
    [
      "$setElementOrder with as many new items as went",
      { containers: [{ name: "a" }, { name: "b" }, { name: "c" }] },
      {
        "$setElementOrder/containers": [{ name: "x" }, { name: "b" }, { name: "y" }],
        containers: [{ $patch: "delete", name: "a" }, { $patch: "delete", name: "c" }, { name: "x" }, { name: "y" }],
      },
      { containers: [{ name: "x" }, { name: "b" }, { name: "y" }] },
    ],
  ])("%s", (_, doc, patch, expected) => {
    expect(apply(doc, patch)).toEqual(expected);
  });
});

describe("what cannot be applied", () => {
  test.each<[string, unknown, unknown, number, string]>([
    [
      "an order of nothing",
      { containers: [] },
      { "$setElementOrder/containers": [{ name: "a" }] },
      500,
      "no elements in any of the given slices",
    ],
    [
      "a replacement after the last of an order",
      { containers: [{ name: "a" }] },
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "a" }, { $patch: "replace" }] },
      500,
      "The order in patch list:\n[map[name:a] map[$patch:replace]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      "an item without its key",
      { containers: [{ name: "a" }] },
      { containers: [{ image: "x", ports: [1, 2] }] },
      500,
      "map: map[image:x ports:[1 2]] does not contain declared merge key: name",
    ],
    [
      "a deletion without its key",
      { containers: [{ name: "a" }] },
      { containers: [{ $patch: "delete" }] },
      500,
      "map: map[$patch:delete] does not contain declared merge key: name",
    ],
    [
      "an unknown directive",
      { strategy: {} },
      { strategy: { $patch: "jump" } },
      500,
      "unknown patch type: jump in map: map[$patch:jump]",
    ],
    [
      "a merge directive in an item",
      { containers: [{ name: "a" }] },
      { containers: [{ name: "a", $patch: "merge" }] },
      500,
      "merging lists cannot yet be specified in the patch",
    ],
    [
      "retained keys that miss one",
      { strategy: {} },
      { strategy: { $retainKeys: ["type"], other: 1 } },
      400,
      "invalid patch format of retainKeys",
    ],
    [
      "an order that misses an item",
      { containers: [{ name: "a" }] },
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b" }] },
      500,
      "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      "an order that is no list",
      {},
      { "$setElementOrder/containers": "x" },
      500,
      "expected a []interface {}, but received a string",
    ],
    [
      "a directive without a field",
      { metadata: {} },
      { $deleteFromPrimitiveList: ["a"] },
      400,
      "invalid patch format of primitive list",
    ],
    ["a patch that is no object", {}, [], 400, "invalid JSON document"],
  ])("%s", (_, doc, patch, code, message) => {
    try {
      apply(doc, patch);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(StrategicPatchError);
      expect([(error as StrategicPatchError).code, (error as Error).message]).toEqual([code, message]);
    }
  });
});
