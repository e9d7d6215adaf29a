import type { KubeBody, RawRequest } from "@lotse/client";
import { type ObjectKey, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { notFound } from "./answers.ts";
import { DryRun } from "./dry-run.ts";
import type { KindWorld } from "./kind-world.ts";
import { targetOf } from "./request-target.ts";
import { clientOf, entry, type Got, kindWorld, map, OLD, worker } from "./test-builders.ts";
import { type Write, Writes } from "./writes.ts";

const KEY = "default/one" as ObjectKey;
const ALL = "/api/v1/namespaces/default/configmaps";
const actor = { handlers: ["keep"], object: undefined };

/** What a server makes of a request by itself: a uid, and who has set what. */
function usual({ method, body, path }: Got): object {
  const sent = body as KubeBody;
  const name = sent?.metadata?.name ?? (sent?.metadata?.generateName ? `${sent.metadata.generateName}abcde` : "one");
  if (method === "DELETE") return { kind: "Status", status: "Success" };
  const managedFields = [entry(OLD, { data: sent?.data }, { operation: method === "PATCH" ? "Apply" : "Update" })];
  return { ...sent, metadata: { ...sent?.metadata, name, namespace: "default", uid: `uid of ${path}`, managedFields } };
}

async function stage(answers: (got: Got) => object | undefined = usual) {
  const { client, got } = await clientOf(answers);
  const clock = new VirtualClock();
  const world = kindWorld();
  const made = new Set<string>();
  const writes = new Writes({
    dryRun: new DryRun(client, worker),
    worker,
    clock,
    hasNamespace: (name) => made.has(name),
  });
  const write = (method: string, path: string, body?: unknown, more: Partial<RawRequest> = {}): Write => ({
    world,
    target: targetOf(path) as Write["target"],
    request: { method, path, body, query: { fieldManager: OLD }, ...more },
    actor,
  });
  return { clock, got, made, world, writes, write };
}

const would = (world: KindWorld) => world.fork(KEY)?.would;

describe("an object that the shadow makes", () => {
  it("is in its world alone, and cannot be made twice", async () => {
    const { world, writes, write } = await stage();
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" }, data: { a: "1" } };
    expect(await writes.create(write("POST", ALL, body))).toMatchObject({ data: { a: "1" } });
    expect(world.fork(KEY)).toMatchObject({ is: undefined, by: [{ handlers: ["keep"] }] });
    await expect(writes.create(write("POST", ALL, body))).rejects.toThrow('configmaps "one" already exists');
  });

  it("is the one that the old version has made, where there is one", async () => {
    const { world, writes, write } = await stage();
    world.shown(map({ theirs: "1" }, OLD), false);
    await writes.create(write("POST", ALL, { metadata: { name: "one" }, data: { mine: "1" } }));
    expect(world.fork(KEY)).toMatchObject({ made: true, would: { metadata: { uid: "u1" }, data: { mine: "1" } } });
  });

  it("is taken as it is in a namespace that only the shadow has", async () => {
    const { made, world, writes, write } = await stage(({ path }) => {
      throw notFound(targetOf("/api/v1/namespaces/default") as Write["target"], { method: "POST", path });
    });
    const create = () => writes.create(write("POST", ALL, { metadata: { name: "one" }, data: { a: "1" } }));
    await expect(create()).rejects.toThrow("not found");
    made.add("default");
    await create();
    expect(would(world)).toMatchObject({ data: { a: "1" }, metadata: { uid: "shadow-1" } });
  });
});

describe("a change that the shadow makes", () => {
  it("is asked as the difference to its own object, and so in its world", async () => {
    const { got, world, writes, write } = await stage(() => map({ a: "1", b: "as the server has it" }));
    world.shown(map({ a: "1" }), true);
    await writes.update(write("PATCH", `${ALL}/one`, { data: { a: "1", b: "2" } }), "merge");
    expect(got.at(-1)).toMatchObject({ method: "PATCH", body: { data: { b: "2" } } });
    expect(would(world)?.data).toEqual({ a: "1", b: "as the server has it" });
    expect(world.fork(KEY)?.is?.data).toEqual({ a: "1" });
  });

  it("that changes nothing asks nobody", async () => {
    const { got, world, writes, write } = await stage();
    world.shown(map({ a: "1" }), true);
    await writes.update(write("PATCH", `${ALL}/one`, { data: { a: "1" } }), "merge");
    expect(got).toEqual([]);
    expect(world.fork(KEY)?.alike).toBe(true);
  });

  it("that replaces is asked as a replacement of what the cluster has", async () => {
    const { got, world, writes, write } = await stage(({ body }) => body as object);
    world.shown(map({ a: "1" }, "kubectl", { resourceVersion: "77" }), true);
    const known = would(world) as KubeBody;
    await writes.update(write("PUT", `${ALL}/one`, { ...known, data: { b: "2" } }), "replace");
    expect(got).toMatchObject([{ method: "PUT", body: { metadata: { resourceVersion: "77" }, data: { b: "2" } } }]);
    expect(would(world)?.data).toEqual({ b: "2" });
  });

  it("is refused when it means another version or another object than its world has", async () => {
    const { world, writes, write } = await stage();
    world.shown(map({ a: "1" }), true);
    const patch = (metadata: object) =>
      writes.update(write("PATCH", `${ALL}/one`, { metadata, data: { b: "2" } }), "merge");
    await expect(patch({ resourceVersion: "1" })).rejects.toThrow("the object has been modified");
    await expect(patch({ uid: "u2" })).rejects.toThrow("does not match the UID");
    await expect(writes.update(write("PATCH", `${ALL}/two`, {}), "merge")).rejects.toThrow('"two" not found');
    await expect(
      writes.update(write("PATCH", `${ALL}/one`, [{ op: "remove", path: "/data/x" }]), "json"),
    ).rejects.toThrow("is invalid");
  });

  it("by an apply takes along what it applied before and does not any more", async () => {
    const { world, writes, write } = await stage();
    const apply = (data: object) => writes.apply(write("PATCH", `${ALL}/one`, { metadata: { name: "one" }, data }));
    await apply({ a: "1", b: "1" });
    await apply({ b: "2" });
    expect(would(world)?.data).toEqual({ b: "2" });
  });
});

describe("an object that the shadow deletes", () => {
  it("is gone in its world, and still in the cluster", async () => {
    const { got, world, writes, write } = await stage();
    world.shown(map({ a: "1" }), true);
    expect(await writes.remove(write("DELETE", `${ALL}/one`))).toMatchObject({ status: "Success" });
    expect(world.fork(KEY)).toMatchObject({ would: undefined, deletion: "own", is: { data: { a: "1" } } });
    expect(got.map(({ method }) => method)).toEqual(["DELETE"]);
    await expect(writes.remove(write("DELETE", `${ALL}/one`))).rejects.toThrow("not found");
  });

  it("stays with a mark on it while a finalizer holds it", async () => {
    const { world, writes, write } = await stage(() => map({}));
    world.shown(map({}, "kubectl", { finalizers: ["x/y"] }), true);
    await writes.remove(write("DELETE", `${ALL}/one`));
    expect(would(world)?.metadata?.deletionTimestamp).toBeDefined();
    await writes.update(write("PATCH", `${ALL}/one`, { metadata: { finalizers: null } }), "merge");
    expect(would(world)).toBeUndefined();
  });

  it("takes as long as the server says, and no longer than the shadow", async () => {
    const { clock, world, writes, write } = await stage(() => map({}, "kubectl", { deletionGracePeriodSeconds: 30 }));
    world.shown(map({}), true);
    await writes.remove(write("DELETE", `${ALL}/one`));
    await clock.advance(29_000);
    expect(would(world)).toBeDefined();
    await clock.advance(1_000);
    expect(would(world)).toBeUndefined();
    world.shown(map({}, "kubectl", { uid: "u2" }), false);
    await writes.remove(write("DELETE", `${ALL}/one`));
    writes.close();
    expect(clock.pending).toBe(0);
  });

  it("is not asked for where it was tried in another way", async () => {
    const { got, world, writes, write } = await stage();
    world.shown(map({}), true);
    await writes.remove(write("DELETE", `${ALL}/one`), { tried: true });
    expect([got, would(world)]).toEqual([[], undefined]);
  });
});
