import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { fieldsOfPatch } from "./fields.ts";
import { begin, type Fork, released, removed, shown, vanished, wrote } from "./fork.ts";
import { entry, map, OLD, outlook, worker } from "./test-builders.ts";

const view = outlook();
const who = { handlers: ["keep"], object: undefined };
const gone = { deletionTimestamp: "2026-01-01T00:00:00Z" };

/** An object of two managers. */
function both(theirs: Record<string, string>, others: Record<string, string>, metadata: KubeBody["metadata"] = {}) {
  const managedFields = [entry(OLD, { data: theirs }), entry("kubectl", { data: others })];
  return map({ ...theirs, ...others }, OLD, { managedFields, ...metadata });
}

/** The shadow has written data. */
function writes(fork: Fork | undefined, body: KubeBody): Fork {
  return wrote(fork, body, fieldsOfPatch({ data: body.data }), who);
}

describe("an object that is first seen", () => {
  it("is in both worlds when others made it, or when it was there before", () => {
    expect(begin(map({ a: "1" }), false, view)).toMatchObject({ alike: true, would: { data: { a: "1" } } });
    expect(begin(map({ a: "1" }, OLD), true, view)).toMatchObject({ alike: true, made: true });
  });

  it("is not there for the shadow when the old version has made it since", () => {
    expect(begin(map({ a: "1" }, OLD), false, view)).toMatchObject({ would: undefined, made: true });
  });

  it("is there without the labels of the old version when it only changed it; and uncertain where that wrote the rest", () => {
    const labels = entry(OLD, { metadata: { labels: { theirs: "x" } } });
    const managedFields = [entry("kubectl", { data: { a: "1" } }), labels];
    const labelled = begin(map({ a: "1" }, "", { managedFields, labels: { theirs: "x", ours: "y" } }), false, view);
    expect(labelled).toMatchObject({ uncertain: false, would: { metadata: { labels: { ours: "y" } } } });
    expect(labelled.would?.metadata?.labels).not.toHaveProperty("theirs");
    expect(begin(both({ a: "1" }, { b: "2" }), false, view)).toMatchObject({ uncertain: true });
  });
});

describe("a change in the cluster", () => {
  it("flows into the shadow's world when others made it, and not when the old version did", () => {
    const fork = writes(begin(map({ a: "1" }), true, view), map({ a: "1", mine: "1" }));
    const next = shown(fork, both({ a: "2", theirs: "2" }, { b: "3" }, { resourceVersion: "2" }), view);
    expect(next.is?.data).toEqual({ a: "2", theirs: "2", b: "3" });
    expect(next.would?.data).toEqual({ a: "1", mine: "1", b: "3" });
  });

  it("of others to a field that the shadow has set takes it over, as on a server", () => {
    const fork = writes(begin(map({}), true, view), map({ a: "1", b: "1" }, OLD));
    const next = shown({ ...fork, is: map({ a: "1", b: "1" }, OLD) }, both({ b: "1" }, { a: "2" }), view);
    expect(next.would?.data).toEqual({ a: "2", b: "1" });
    expect(worker.fieldsOf(next.would)).toEqual({ "f:data": { "f:b": {} } });
  });

  it("keeps both alike as long as only others write", () => {
    const next = shown(begin(map({ a: "1" }), true, view), map({ a: "2" }), view);
    expect(next).toMatchObject({ alike: true, would: { data: { a: "2" } } });
  });

  it("makes the shadow's object and the old version's one, when the shadow was first", () => {
    const own = writes(undefined, map({ mine: "1" }, OLD, { uid: "shadows" }));
    const next = shown(own, map({ theirs: "1" }, OLD, { uid: "real" }), view);
    expect(next).toMatchObject({ made: true, would: { metadata: { uid: "real" }, data: { mine: "1" } } });
    expect(next.would?.data).not.toHaveProperty("theirs");
  });

  it("to another object of the same name begins anew", () => {
    const next = shown(begin(map({ a: "1" }), true, view), map({ a: "2" }, "kubectl", { uid: "u2" }), view);
    expect(next).toMatchObject({ alike: true, would: { metadata: { uid: "u2" } } });
  });
});

describe("a deletion in the cluster", () => {
  const mine = () => writes(begin(map({ a: "1" }, OLD), true, view), map({ a: "1" }, OLD));

  it("is held back from the shadow when it was the old version's object: it may want to delete it as well", () => {
    const held = vanished(mine(), view);
    expect(held).toMatchObject({ deletion: "held", is: undefined, would: { data: { a: "1" } } });
    expect(released(held as Fork, worker)).toBeUndefined();
    const marking = shown(mine(), map({ a: "1" }, OLD, gone), view);
    expect(marking.deletion).toBe("held");
    expect(marking.would?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(released(marking, worker)?.would?.metadata).toMatchObject(gone);
  });

  it("is everybody's when the object was not the old version's, or goes with its owner", () => {
    expect(vanished(begin(map({ a: "1" }), true, view), view)).toBeUndefined();
    expect(vanished(mine(), outlook({ ownerGoes: () => true }))).toBeUndefined();
  });

  it("leaves in the shadow's world what a finalizer of the shadow's holds there", () => {
    const finalizers = ["boxes/cleanup"];
    const fork = writes(begin(map({}), true, view), map({}, "kubectl", { finalizers }));
    expect(vanished(fork, view)?.would?.metadata).toMatchObject({ finalizers });
  });
});

describe("a write of the shadow", () => {
  it("is remembered with who wrote what", () => {
    const once = writes(begin(map({ a: "1" }), true, view), map({ a: "1", b: "2" }));
    const twice = wrote(once, map({ a: "1", b: "2", c: "3" }), fieldsOfPatch({ data: { c: "3" } }), who);
    expect(twice.alike).toBe(false);
    expect(twice.own).toEqual({ "f:data": { "f:a": {}, "f:b": {}, "f:c": {} } });
    expect(twice.by).toEqual([{ ...who, fields: twice.own }]);
  });

  it("that deletes leaves the object in the cluster alone, and one that makes it anew wants it back", () => {
    const deleted = removed(begin(map({ a: "1" }), true, view), who);
    expect(deleted).toMatchObject({ deletion: "own", would: undefined, is: { data: { a: "1" } } });
    expect(writes(deleted, map({ a: "1" })).deletion).toBeUndefined();
    expect(removed(writes(undefined, map({})), who)).toBeUndefined();
  });
});
