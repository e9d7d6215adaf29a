import type { KindDescription, KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import type { ChangeFilter } from "../declare/index.ts";
import { isCounted, mappedKeys, ownersOf } from "./changes.ts";

const KIND = {
  group: "example.com",
  version: "v1",
  kind: "Team",
  plural: "teams",
  namespaced: true,
} as KindDescription;
const GLOBAL = { ...KIND, namespaced: false };

const body = (metadata: object) =>
  ({ metadata: { name: "a", namespace: "one", uid: "u", generation: 1, ...metadata } }) as KubeBody;

describe("a change of the object itself", () => {
  const counted = (filters: readonly ChangeFilter<KubeBody>[], change: object) =>
    isCounted(filters, body({}), body(change));

  it("counts without filters, whatever it is", () => {
    expect(counted([], { resourceVersion: "2" })).toBe(true);
  });

  it.each<[ChangeFilter<KubeBody>, object, boolean]>([
    ["generation", { generation: 2 }, true],
    ["generation", { labels: { a: "b" } }, false],
    ["labels", { labels: { a: "b" } }, true],
    ["labels", { generation: 2 }, false],
    ["annotations", { annotations: { a: "b" } }, true],
    ["annotations", { labels: { a: "b" } }, false],
    [(now, before) => now.metadata?.name !== before.metadata?.name, { name: "b" }, true],
    [(now, before) => now.metadata?.name !== before.metadata?.name, { generation: 2 }, false],
  ])("counts by %s for %o: %s", (filter, change, expected) => {
    expect(counted([filter], change)).toBe(expected);
  });

  it("counts when one of several filters says so", () => {
    expect(counted(["generation", "labels"], { labels: { a: "b" } })).toBe(true);
    expect(counted(["generation", "labels"], { annotations: { a: "b" } })).toBe(false);
  });

  it("counts when the object is new, is another one of the same name, or is marked for deletion", () => {
    expect(isCounted(["generation"], undefined, body({}))).toBe(true);
    expect(counted(["generation"], { uid: "other" })).toBe(true);
    expect(counted(["generation"], { deletionTimestamp: "2026-01-01T00:00:00Z" })).toBe(true);
  });
});

describe("what a mapping function means", () => {
  const from = body({});

  it("is names in the object's own namespace, or wherever it says", () => {
    expect(mappedKeys("x", from, KIND)).toEqual(["one/x"]);
    expect(mappedKeys({ name: "x", namespace: "two" }, from, KIND)).toEqual(["two/x"]);
    expect(mappedKeys(["x", { name: "y" }, { name: "z", namespace: "two" }], from, KIND)).toEqual([
      "one/x",
      "one/y",
      "two/z",
    ]);
  });

  it("is nothing when it says nothing", () => {
    expect(mappedKeys(undefined, from, KIND)).toEqual([]);
    expect(mappedKeys(null as never, from, KIND)).toEqual([]);
    expect(mappedKeys(["", undefined as never, "x"], from, KIND)).toEqual(["one/x"]);
    expect(mappedKeys("", from, KIND)).toEqual([]);
  });

  it("has no namespace where the kind has none", () => {
    expect(mappedKeys({ name: "x", namespace: "two" }, from, GLOBAL)).toEqual(["/x"]);
  });
});

describe("the owners of an object", () => {
  const owned = (...owners: object[]) => body({ ownerReferences: owners });
  const team = { apiVersion: "example.com/v1beta1", kind: "Team", name: "t", uid: "u1" };

  it("are those of the kind, in whichever version", () => {
    expect(ownersOf(owned(team, { ...team, apiVersion: "other.com/v1", uid: "u2" }), KIND)).toEqual(["one/t/u1"]);
    expect(ownersOf(owned({ ...team, kind: "Member" }), KIND)).toEqual([]);
    expect(ownersOf(owned(team), GLOBAL)).toEqual(["/t/u1"]);
    expect(ownersOf(owned({ ...team, apiVersion: "v1" }), { ...KIND, group: "" })).toEqual(["one/t/u1"]);
  });

  it("are none where there are none", () => {
    expect(ownersOf(body({}), KIND)).toEqual([]);
    expect(ownersOf(undefined, KIND)).toEqual([]);
  });
});
