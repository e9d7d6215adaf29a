import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { thing } from "../test-builders.ts";
import { bookkeeping, kopfKeyMaker, kopfMarker } from "./kopf-keys.ts";
import { golden } from "./test-golden.ts";

const kopfKeys = (id: string, on: KubeBody, prefix: string, v1: boolean) => kopfKeyMaker(prefix, v1)(id, on);
const body = thing();
const replicaSet = {
  ...body,
  kind: "ReplicaSet",
  metadata: {
    ...body.metadata,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "d", uid: "d1" }],
  },
};

describe("Kopf's keys", () => {
  it.each(golden.keys)("of %s (%s times) are those that Kopf makes", (text, times, ...names) => {
    const id = text.repeat(times);
    const [first, second, third] = golden.prefixes;
    const found = [
      kopfKeys(id, body, first, true),
      kopfKeys(id, body, second, true),
      kopfKeys(id, body, third, true),
      kopfKeys(id, replicaSet, first, true),
      kopfKeys(id, body, first, false),
    ];
    const prefixes = [first, second, third, first, first];
    expect(found).toEqual(names.map((list, index) => list.map((name) => `${prefixes[index]}/${name}`)));
  });

  it.each([
    ["V2", "x".repeat(64), 0, `${"x".repeat(56)}-SItAqA`],
    ["V1", "x".repeat(40), 1, `${"x".repeat(32)}-tEokcg`],
    ["V2", "fn".repeat(323), 0, `${"fn".repeat(28)}-Az-r.g`],
    ["V2", "a_b.c-d/e", 0, "a_b.c-d.e"],
  ])("in %s of %s are those of its documentation", (_generation, id, index, name) => {
    expect(kopfKeys(id, body, "my-operator.example.com", true)[index]).toBe(`my-operator.example.com/${name}`);
  });

  it("are the same at the second time, and for thousands of ids", () => {
    const keys = kopfKeyMaker("a.b", true);
    const ids = Array.from({ length: 2_500 }, (_, index) => `fn/${index}`);
    for (const id of [...ids, ...ids]) expect(keys(id, body)).toEqual([`a.b/${id.replace("/", ".")}`]);
    expect([keys("fn", replicaSet), keys("fn", body)]).toEqual([["a.b/fn-ofDRS"], ["a.b/fn"]]);
  });

  it("are marked only on ReplicaSets that a Deployment owns", () => {
    const alone = { ...thing(), kind: "ReplicaSet" };
    expect(kopfKeys("fn", alone, "a.b", true)).toEqual(["a.b/fn"]);
    expect(kopfKeys("fn", { ...replicaSet, kind: "Pod" }, "a.b", true)).toEqual(["a.b/fn"]);
    expect(kopfKeys("fn", replicaSet, "a.b", true)).toEqual(["a.b/fn-ofDRS"]);
  });
});

describe("the marker", () => {
  it("is needed only where the prefix does not tell whose it is", () => {
    expect(kopfMarker("shop.example.com")).toBe("shop.example.com/kopf-managed");
    expect(kopfMarker("kopf.dev")).toBeUndefined();
  });

  it("makes everything under its prefix bookkeeping", () => {
    const keys = [
      "note",
      "kopf.zalando.org/fn",
      "team.kopf.zalando.org/fn",
      "notkopf.zalando.org/fn",
      "shop.example.com/kopf-managed",
      "shop.example.com/anything",
      "sub.shop.example.com/anything",
      "mine.example.com/state",
      "kubectl.kubernetes.io/last-applied-configuration",
      "kubectl.kubernetes.io/restartedAt",
    ];
    expect(keys.filter((key) => !bookkeeping(keys, ["mine.example.com"]).includes(key))).toEqual([
      "note",
      "notkopf.zalando.org/fn",
      "sub.shop.example.com/anything",
      "kubectl.kubernetes.io/restartedAt",
    ]);
  });
});
