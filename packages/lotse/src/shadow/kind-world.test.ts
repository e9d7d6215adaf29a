import type { ObjectKey } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Aliases } from "./aliases.ts";
import { fieldsOfPatch } from "./fields.ts";
import { removed, wrote } from "./fork.ts";
import type { KindWorld } from "./kind-world.ts";
import { kindWorld, lens, map, OLD } from "./test-builders.ts";

const key = (name: string) => `default/${name}` as ObjectKey;

/** What the shadow is told, from the beginning or from `version` on. */
function told(world: KindWorld, version = 1_000): string[] {
  const events: string[] = [];
  world.listen(version, ({ type, body }) =>
    events.push(`${type} ${body.metadata?.name}@${body.metadata?.resourceVersion}`),
  );
  return events;
}

/** The shadow makes a child with a generated name. */
function make(world: KindWorld, name: string, data: Record<string, string>): void {
  const body = map(data, OLD, { name, generateName: "one-", uid: `uid-of-${name}` });
  world.put(key(name), wrote(undefined, body, fieldsOfPatch({ data }), undefined));
}

describe("the shadow's world", () => {
  it("tells what happens in it, in the order of its own versions", () => {
    const world = kindWorld();
    const events = told(world);
    world.shown(map({ a: "1" }), true);
    world.shown(map({ a: "1" }, "kubectl", { resourceVersion: "2" }), false);
    world.shown(map({ a: "2" }, "kubectl", { resourceVersion: "3" }), false);
    world.vanished(map({ a: "2" }));
    expect(events).toEqual(["ADDED one@1001", "MODIFIED one@1002", "DELETED one@1003"]);
    expect(told(world, 1_001)).toEqual(["MODIFIED one@1002", "DELETED one@1003"]);
  });

  it("has nothing of what the old version makes until the shadow makes it", () => {
    const world = kindWorld();
    const events = told(world);
    world.shown(map({ a: "1" }, OLD), false);
    expect([...world.bodies()]).toEqual([]);
    expect(events).toEqual([]);
  });

  it("forgets what is long ago: whoever asks for that lists anew", () => {
    const world = kindWorld();
    for (let i = 0; i <= 5_000; i++)
      world.shown(map({ i: String(i) }, "kubectl", { resourceVersion: String(i) }), true);
    expect(() => told(world)).toThrow("too old resource version");
    expect(told(world, 6_000)).toHaveLength(1);
  });

  it("knows who belongs to whom, and tells when an owner is gone", () => {
    const gone: (string | undefined)[] = [];
    const world = kindWorld({ onGone: ({ metadata }) => void gone.push(metadata?.name) });
    const ownerReferences = [{ apiVersion: "v1", kind: "Box", name: "b", uid: "box" }];
    world.shown(map({}, "kubectl", { ownerReferences }), true);
    expect(world.ownedBy("box")).toEqual([key("one")]);
    const fork = world.fork(key("one"));
    world.put(key("one"), fork && removed(fork, undefined));
    expect([world.ownedBy("box"), gone]).toEqual([[], ["one"]]);
  });
});

describe("an object that both versions make under one name", () => {
  it("has one uid, whichever version was first: what the shadow says of its own means the cluster's", () => {
    let added = 0;
    const aliases = new Aliases(() => added++);
    const world = kindWorld({ lens: { ...lens(), aliases } });
    make(world, "one", { a: "1" });
    world.shown(map({ a: "1" }, OLD, { name: "one", uid: "real" }), false);
    expect([aliases.translate("children: uid-of-one"), added]).toEqual(["children: real", 1]);
    world.shown(map({ a: "1" }, OLD, { name: "one", uid: "real", resourceVersion: "2" }), false);
    expect(added).toBe(1);
  });
});

describe("children with generated names", () => {
  it("are one, whichever version was first, under the name that the cluster has", () => {
    for (const shadowFirst of [true, false]) {
      const world = kindWorld();
      const theirs = () =>
        world.shown(map({ a: "1" }, OLD, { name: "one-real", generateName: "one-", uid: "r" }), false);
      if (!shadowFirst) theirs();
      make(world, "one-own", { a: "1" });
      if (shadowFirst) theirs();
      else world.bindOwn(key("one-own"));
      expect([...world.bodies()].map(({ metadata }) => metadata?.name)).toEqual(["one-real"]);
      expect(world.keyOf(key("one-own"))).toBe(key("one-real"));
    }
  });

  it("stay two when they are of different sorts", () => {
    const world = kindWorld();
    make(world, "one-own", { a: "1" });
    world.shown(map({ a: "1" }, OLD, { name: "two-real", generateName: "two-", uid: "r" }), false);
    expect(world.bindOwn(key("one-own"))).toBe(key("one-own"));
  });
});
