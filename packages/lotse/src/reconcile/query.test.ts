import type { KubeBody } from "@lotse/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeOf, type QueryInput, readQuery, valuesIn } from "./query.ts";
import { bodyOf, naivelyMatches, place, query, shape } from "./test-objects.ts";

const filed = (input: Partial<QueryInput>) => {
  const { dimension, value, test, text } = readQuery({ namespace: undefined, ...input });
  return [dimension, value, test !== undefined, text];
};

describe("a query", () => {
  it("is filed under its owner, else a label, else a field, else its namespace alone", () => {
    expect(filed({ owner: "u1" })).toEqual(["u", "u1", false, "owner u1"]);
    expect(filed({ owner: "u1", labelSelector: { app: "web" } })).toEqual(["u", "u1", true, "app=web owner u1"]);
    expect(filed({ labelSelector: { app: "web" } })).toEqual(["l:app", "web", false, "app=web"]);
    expect(filed({ labelSelector: "app in (web)" })).toEqual(["l:app", "web", false, "app in (web)"]);
    expect(filed({ labelSelector: "tier!=db,app=web" })).toEqual(["l:app", "web", true, "app=web,tier!=db"]);
    expect(filed({ labelSelector: "app!=web", fieldSelector: "spec.nodeName=n1" })).toEqual([
      "f:spec.nodeName",
      "n1",
      true,
      "app!=web spec.nodeName=n1",
    ]);
    expect(filed({ labelSelector: "app in (a,b)" })).toEqual(["n", "", true, "app in (a,b)"]);
    expect(filed({})).toEqual(["n", "", false, ""]);
  });

  it("is found at a place of every object that it is about, and of nothing else that its test lets pass", () => {
    fc.assert(
      fc.property(query, place, shape, (input, where, how) => {
        const { namespace, dimension, value, test } = readQuery(input);
        const body = bodyOf(where, how, "u", 1);
        const here = namespace === undefined || body.metadata?.namespace === namespace;
        const found = here && valuesIn(dimension, body).includes(value) && (test?.(body) ?? true);
        expect(found).toBe(naivelyMatches(input, body));
      }),
      { numRuns: 1_000 },
    );
  });

  it("has places that do not get in each other's way", () => {
    const places = [
      placeOf("n", "", undefined),
      placeOf("n", "", "one"),
      placeOf("u", "", "one"),
      placeOf("l:app", "one", undefined),
      placeOf("l:app", "", "one"),
      placeOf("f:app", "", "one"),
    ];
    expect(new Set(places).size).toBe(places.length);
  });
});

describe("the values of an object", () => {
  it("are texts, as field selectors compare them: what is not there is empty", () => {
    const body = { metadata: { name: "a" }, spec: { replicas: 3, paused: false, host: null } } as unknown as KubeBody;
    const at = (path: string) => valuesIn(`f:${path}`, body);
    expect([at("spec.replicas"), at("spec.paused"), at("spec.host"), at("spec.none.at.all")]).toEqual([
      ["3"],
      ["false"],
      [""],
      [""],
    ]);
  });

  it("are none for a label that it does not have, one for one that is empty", () => {
    expect(valuesIn("l:app", { metadata: { labels: { app: "" } } } as unknown as KubeBody)).toEqual([""]);
    expect(valuesIn("l:tier", { metadata: { labels: { app: "" } } } as unknown as KubeBody)).toEqual([]);
    expect(valuesIn("l:tier", {} as KubeBody)).toEqual([]);
  });
});
