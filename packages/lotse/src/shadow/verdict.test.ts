import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { ABOUT_THE_SAME } from "./compare.ts";
import { fieldsOfPatch } from "./fields.ts";
import { begin, type Fork, removed, wrote } from "./fork.ts";
import { lens, map, OLD, outlook, worker } from "./test-builders.ts";
import { judge, keptBy } from "./verdict.ts";

const bench = { lens: lens(), same: ABOUT_THE_SAME, worker };
const object = { apiVersion: "v1", kind: "Box", namespace: "default", name: "b", uid: "u" };
const who = (handler: string) => ({ handlers: [handler], object });
const writes = (fork: Fork | undefined, body: KubeBody, handler = "keep") =>
  wrote(fork, body, fieldsOfPatch({ data: body.data }), who(handler));
const there = (data: Record<string, string>, by = "kubectl") => begin(map(data, by), true, outlook());
const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("the versions agree about an object", () => {
  it.each<[what: string, fork: Fork]>([
    ["that neither has touched", there({ a: "1" })],
    ["that both have written alike", writes(there({ a: "1" }), map({ a: "1" }))],
    [
      "that goes in the cluster and that the shadow never made",
      { ...there({}), alike: false, would: undefined, is: map({}, OLD, gone) },
    ],
    ["whose deletion the shadow has not heard of yet", { ...there({}), alike: false, deletion: "held" }],
  ])("%s", (_, fork) => {
    expect(judge(fork, bench)).toBeUndefined();
  });
});

describe("the new version", () => {
  it("would change it, wanted by the handlers that wrote those fields", () => {
    const once = wrote(there({ a: "1" }), map({ a: "2", b: "1" }), fieldsOfPatch({ data: { a: "2" } }), who("one"));
    const fork = wrote(once, map({ a: "2", b: "1" }), fieldsOfPatch({ metadata: { labels: {} } }), who("other"));
    const found = judge(fork, bench);
    expect(found).toMatchObject({ verdict: "would-change", handlers: ["one"], objects: [object] });
    expect(found?.fields.map(({ is, would }) => [is, would])).toEqual([
      ["1", "2"],
      [undefined, "1"],
    ]);
  });

  it("would make it, and what it writes is shown", () => {
    const found = judge(writes(undefined, { ...map({ a: "1" }), immutable: true }), bench);
    expect(found).toMatchObject({ verdict: "would-create", handlers: ["keep"], would: { data: { a: "1" } } });
    expect(found?.would).not.toHaveProperty("immutable");
  });

  it("would not make it, and what the old one has written is shown", () => {
    const found = judge(begin(map({ a: "1" }, OLD), false, outlook()), bench);
    expect(found).toMatchObject({ verdict: "would-not-create", handlers: [], is: { data: { a: "1" } } });
  });

  it("would delete it: at once, or with a mark on it", () => {
    expect(judge(removed(there({ a: "1" }), who("tidy")) as Fork, bench)).toMatchObject({
      verdict: "would-delete",
      handlers: ["tidy"],
    });
    expect(judge(writes(there({}), map({}, "kubectl", gone)), bench)?.verdict).toBe("would-delete");
  });

  it("would keep it: it holds it still, or did nothing for its end", () => {
    expect(judge({ ...writes(undefined, map({}, "x", gone)), last: map({}) }, bench)?.verdict).toBe("would-keep");
    expect(keptBy(there({}), bench)).toMatchObject({ verdict: "would-keep", handlers: [] });
  });
});
