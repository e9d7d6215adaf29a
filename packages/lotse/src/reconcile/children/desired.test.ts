import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { PermanentError } from "../../declare/index.ts";
import { readDesired } from "./desired.ts";

const map = (name: string) => ConfigMap.gen({ name });
const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: "key" } };
const dns = { key: "dns", read: () => undefined, create: () => {}, delete: () => {} };

describe("what a function returned", () => {
  it("may be objects, manifests, external things and holes, in any list or alone", () => {
    const found = readDesired([map("A"), false, manifest, undefined, null, dns] as never);
    expect(found.map(({ key, thing }) => [key, thing.type])).toEqual([
      ["configmap/a", "object"],
      ["secret/key", "object"],
      ["dns", "external"],
    ]);
    expect(readDesired(new Set([map("a")])).map(({ key }) => key)).toEqual(["configmap/a"]);
    expect(readDesired(map("a")).map(({ key }) => key)).toEqual(["configmap/a"]);
    expect(readDesired(dns).map(({ key }) => key)).toEqual(["dns"]);
    for (const nothing of [undefined, null, false, []] as const) expect(readDesired(nothing)).toEqual([]);
  });

  it("may say how a child stands to the others", () => {
    const readyWhen = () => true;
    const found = readDesired([
      { child: map("a"), key: "first" },
      { child: map("b"), after: "first", readyWhen },
      { child: map("c"), after: ["first", "configmap/b"] },
    ]);
    expect(found.map(({ key, after }) => [key, ...after])).toEqual([
      ["first"],
      ["configmap/b", "first"],
      ["configmap/c", "first", "configmap/b"],
    ]);
    expect(found[1]?.readyWhen).toBe(readyWhen);
  });

  it.each<[mistake: string, returned: unknown, sentence: string]>([
    [
      "two of one name",
      [map("a"), map("a")],
      'two children are called "configmap/a": give one of them another name or key',
    ],
    [
      "two of one key",
      [
        { child: map("a"), key: "x" },
        { ...dns, key: "x" },
      ],
      'two children are called "x": give one of them another name or key',
    ],
    [
      "an unknown predecessor",
      [{ child: map("a"), after: "db" }],
      'the child "configmap/a" comes after "db", which is not among the children',
    ],
    [
      "a circle",
      [
        { child: map("a"), key: "a", after: "b" },
        { child: map("b"), key: "b", after: "c" },
        { child: map("c"), key: "c", after: "b" },
      ],
      "children wait for each other in a circle: b → c → b",
    ],
    [
      "one that waits for itself",
      [{ child: map("a"), key: "a", after: "a" }],
      "children wait for each other in a circle: a → a",
    ],
    ["a text", ["hello"], "string is no child: return objects, manifests or external things"],
    ["a number alone", 7, "number is no child: return objects, manifests or external things"],
    [
      "a manifest without its kind",
      [{ metadata: { name: "a" }, data: {} }],
      "a child needs apiVersion and kind, or { child: … }; this one has: metadata, data",
    ],
    [
      "a wrapped manifest without its kind",
      [{ child: { metadata: { name: "a" } } }],
      "a child needs apiVersion and kind, or { child: … }; this one has: metadata",
    ],
    ["a wrapped text", [{ child: "a" }], "a child needs apiVersion and kind, or { child: … }; this one has: string"],
    [
      "no name",
      [new ConfigMap({ metadata: { generateName: "a-" } })],
      "a ConfigMap among the children has no name: a child is found again by its name, so generateName will not do",
    ],
    [
      "an external thing without a key",
      [{ ...dns, key: "" }],
      'an external thing needs a key: { key: "dns", read, … }',
    ],
    [
      "an external thing that cannot be created",
      [{ ...dns, create: undefined }],
      'the external thing "dns" has no function "create"',
    ],
    [
      "an external thing that cannot be deleted",
      [{ ...dns, delete: "no" }],
      'the external thing "dns" has no function "delete"',
    ],
  ])("with %s is refused for good", (_, returned, sentence) => {
    expect(() => readDesired(returned as never)).toThrow(new PermanentError(sentence));
  });
});
