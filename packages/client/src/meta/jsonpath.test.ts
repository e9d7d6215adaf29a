import { expect, test } from "vitest";
import { compileJsonPath, JsonPathError } from "./jsonpath.ts";

const doc = {
  metadata: { name: "web", labels: { "app.kubernetes.io/name": "x", "a'b": "quote" } },
  list: [10, 20, 30, 40],
  conditions: [
    { type: "Ready", status: "True", count: 3 },
    { type: "Synced", status: "False", count: 5, extra: null },
  ],
  deep: { image: "one", more: [{ image: "two" }] },
  nothing: null,
};

test.each([
  [".metadata.name", ["web"]],
  ["metadata.name", ["web"]],
  ["{.metadata.name}", ["web"]],
  ["$.metadata.name", ["web"]],
  ["{$['metadata']['name']}", ["web"]],
  [".metadata.labels.app\\.kubernetes\\.io/name", ["x"]],
  [".metadata.labels['app.kubernetes.io/name']", ["x"]],
  [".metadata.labels['app\\.kubernetes\\.io/name']", ["x"]],
  ['.metadata.labels["a\'b"]', ["quote"]],
  [".absent.name", []],
  [".metadata.toString", []],
  [".nothing", [null]],
  [".nothing.more", []],
  [".list[0]", [10]],
  [".list[-1]", [40]],
  [".list[9]", []],
  [".list[1:3]", [20, 30]],
  [".list[:2]", [10, 20]],
  [".list[-2:]", [30, 40]],
  [".list[::2]", [10, 30]],
  [".list[*]", [10, 20, 30, 40]],
  [".list[0,2]", [10, 30]],
  [".metadata['name','labels']", [doc.metadata.name, doc.metadata.labels]],
  [".deep.*", ["one", doc.deep.more]],
  [".conditions[*].type", ["Ready", "Synced"]],
  ['.conditions[?(@.type=="Ready")].status', ["True"]],
  [".conditions[?(@.type == 'Synced')].status", ["False"]],
  [".conditions[?(@.type!='Ready')].type", ["Synced"]],
  [".conditions[?(@.count>3)].type", ["Synced"]],
  [".conditions[?(@.count>=3)].type", ["Ready", "Synced"]],
  [".conditions[?(@.count<5)].type", ["Ready"]],
  [".conditions[?(@.count<=5)].type", ["Ready", "Synced"]],
  [".conditions[?(@.extra)].type", ["Synced"]],
  [".list[?(@>20)]", [30, 40]],
  [".conditions[?(@.type==$.metadata.name)]", []],
  ['.conditions[?(@.status=="a)b")]', []],
  ["..image", ["one", "two"]],
  ["$..image", ["one", "two"]],
  [".deep..image", ["one", "two"]],
  ["..['image']", ["one", "two"]],
  [".", [doc]],
  ["$", [doc]],
])("%s", (text, expected) => {
  expect(compileJsonPath(text).evaluate(doc)).toEqual(expected);
});

test.each([".a[", ".a[x]", ".a[?(@.b==)]", ".a[?(@.b", "{.a", ".a b", ".a[1", "....a", ".a[::0]", ".a[?(b)]", ".a."])(
  "%s is refused",
  (text) => {
    expect(() => compileJsonPath(text)).toThrow(JsonPathError);
  },
);
