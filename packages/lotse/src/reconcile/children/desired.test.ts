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
    ["a text", ["hello"], "child 1 is a text: return objects, manifests or external things"],
    ["a number alone", 7, "child 1 is a number: return objects, manifests or external things"],
    ["true among them", [map("a"), true], "child 2 is true or false: return objects, manifests or external things"],
    [
      "a manifest without its kind",
      [map("a"), false, { apiVersion: "v1", metadata: { name: "a" }, data: {} }],
      "child 3 (a): kind is missing; a manifest begins with apiVersion and kind, this one has: apiVersion, metadata, data",
    ],
    [
      "a wrapped manifest without its version",
      [{ child: { kind: "Secret", metadata: { name: "a" } } }],
      "child 1 (Secret a): child.apiVersion is missing; a manifest begins with apiVersion and kind, this one has: kind, metadata",
    ],
    ["a wrapped text", [{ child: "a" }], "child 1: child is a text; it has to be an object or a manifest"],
    [
      "a misspelled order",
      [map("a"), { child: map("b"), afer: "configmap/a" }],
      'child 2 (ConfigMap b): there is no "afer"; the fields are child, key, after, readyWhen',
    ],
    [
      "an order that is none",
      [{ child: map("b"), after: 1 }],
      "child 1 (ConfigMap b): after is a number; it has to be a key or a list of keys",
    ],
    [
      "a question that is none",
      [{ child: map("b"), readyWhen: "always" }],
      "child 1 (ConfigMap b): readyWhen is a text; it has to be a function",
    ],
    [
      "a key that is none",
      [{ child: map("b"), key: 1 }],
      "child 1 (ConfigMap b): key is a number; it has to be a text",
    ],
    [
      "no name",
      [new ConfigMap({ metadata: { generateName: "a-" } })],
      "child 1 (ConfigMap): metadata.name is missing; a child is found again by its name, so generateName will not do",
    ],
    [
      "a misspelled field of the metadata",
      [{ ...manifest, metadata: { name: "key", lables: { tier: "front" } } }],
      'child 1 (Secret key): metadata has no field "lables"; its fields are name, namespace, labels, annotations, finalizers, ownerReferences',
    ],
    [
      "a misspelled field of the metadata of a wrapped one",
      [{ child: { ...manifest, metadata: { nam: "key" } } }],
      'child 1 (Secret): child.metadata has no field "nam"; its fields are name, namespace, labels, annotations, finalizers, ownerReferences',
    ],
    [
      "a label that is a number",
      [{ ...manifest, metadata: { name: "key", labels: { size: 3 } } }],
      'child 1 (Secret key): metadata.labels["size"] is a number; it has to be a text: "3"',
    ],
    [
      "labels that are a list",
      [{ ...manifest, metadata: { name: "key", labels: ["a"] } }],
      "child 1 (Secret key): metadata.labels is a list; it has to be an object of texts",
    ],
    [
      "a name that is a number",
      [{ ...manifest, metadata: { name: 3 } }],
      "child 1 (Secret): metadata.name is a number; it has to be a text",
    ],
    ["metadata that are a text", [{ ...manifest, metadata: "key" }], "child 1 (Secret): metadata is a text"],
    [
      "an external thing without a key",
      [{ ...dns, key: "" }],
      'child 1: key is missing; an external thing is known by it: { key: "dns", read, … }',
    ],
    [
      "an external thing that cannot be created",
      [{ ...dns, create: undefined }],
      "child 1 (dns): create is missing; it has to be a function",
    ],
    [
      "an external thing that cannot be deleted",
      [map("a"), { ...dns, delete: "no" }],
      "child 2 (dns): delete is a text; it has to be a function",
    ],
    [
      "an external thing that cannot be updated as it says",
      [{ ...dns, update: true }],
      "child 1 (dns): update is true or false; it has to be a function",
    ],
    [
      "an external thing whose wish is no answer",
      [{ ...dns, wanted: "no" }],
      "child 1 (dns): wanted is a text; it is true or false",
    ],
  ])("with %s is refused for good", (_, returned, sentence) => {
    expect(() => readDesired(returned as never)).toThrow(new PermanentError(sentence));
  });
});
