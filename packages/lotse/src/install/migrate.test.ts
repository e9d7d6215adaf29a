/** Rewriting on an embedded cluster, with everything that may come in between. */
import { type Client, CustomResourceDefinition, defineKind, type KubeBody } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type MigrationRequest, type MigrationStep, migrateKind, readableKind, storedVersionsOf } from "./migrate.ts";

const NAME = "shops.example.com";
const KIND = { group: "example.com", kind: "Shop", plural: "shops" };
const Shop = defineKind<KubeBody>({ ...KIND, version: "v1" });
const OldShop = defineKind<KubeBody>({ ...KIND, version: "v1beta1" });

let cluster: Cluster;
let client: Client;

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
});

/** The definition as it is, with these versions; the last one is stored. */
function define(...names: readonly string[]) {
  const versions = names.map((name, i) => version(name, i === names.length - 1));
  const spec = {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Shop", plural: "shops" },
    versions,
  } as const;
  return new CustomResourceDefinition({ metadata: { name: NAME }, spec }, client).apply({ force: true });
}

const stored = async () => (await client.get(CustomResourceDefinition, NAME)).body.status?.storedVersions;

const versionsOfObjects = async () =>
  Object.fromEntries((await client.list(Shop).toArray()).map(({ name, metadata }) => [name, metadata.resourceVersion]));

async function migrated(request: Partial<MigrationRequest> = {}): Promise<MigrationStep[]> {
  const steps: MigrationStep[] = [];
  for await (const step of migrateKind(client, NAME, { clock: systemClock, ...request })) steps.push(step);
  return steps;
}

beforeEach(async () => {
  cluster = await Cluster.start({ tls: false, kubelet: false });
  client = await cluster.connect();
  await (await define("v1beta1")).wait("condition=Established", { timeout: "30s" });
  for (const name of ["a", "b", "c"]) await client.create(new OldShop({ metadata: { name }, spec: { size: name } }));
  await define("v1beta1", "v1");
});

afterEach(async () => {
  await client.close();
  await cluster.stop();
});

describe("rewriting the objects of a kind", () => {
  it("writes each once, and takes the old version out of the list", async () => {
    expect(await stored()).toEqual(["v1beta1", "v1"]);
    const before = await versionsOfObjects();
    expect(await migrated({ concurrency: 2 })).toEqual([
      { type: "progress", done: 3, remaining: undefined },
      { type: "dropped", versions: ["v1beta1"] },
    ]);
    expect(await stored()).toEqual(["v1"]);
    const after = await versionsOfObjects();
    for (const name of ["a", "b", "c"]) expect(after[name], name).not.toBe(before[name]);
    expect(await migrated()).toEqual([]);
  });

  it("only tries with dryRun", async () => {
    const before = await versionsOfObjects();
    expect(await migrated({ dryRun: true })).toEqual([
      { type: "progress", done: 3, remaining: undefined },
      { type: "dropped", versions: ["v1beta1"] },
    ]);
    expect(await stored()).toEqual(["v1beta1", "v1"]);
    expect(await versionsOfObjects()).toEqual(before);
  });

  it("can be stopped and run again: what was rewritten is not written a second time", async () => {
    const stop = new AbortController();
    const when = () => {
      stop.abort();
      return true;
    };
    using _ = cluster.faults.add({ match: { verb: "patch", resource: NAME, name: "b", when }, status: 500 });
    await expect(migrated({ concurrency: 1, signal: stop.signal })).rejects.toThrow();
    cluster.faults.clear();
    expect(await stored()).toEqual(["v1beta1", "v1"]);
    const before = await versionsOfObjects();
    await migrated();
    const after = await versionsOfObjects();
    expect(after.a).toBe(before.a);
    expect(after.b).not.toBe(before.b);
    expect(await stored()).toEqual(["v1"]);
  });

  it("leaves the list alone while an object cannot be written, and says which", async () => {
    cluster.faults.add({ match: { verb: "patch", resource: NAME, name: "b" }, status: 403 });
    expect(await migrated()).toEqual([
      { type: "failed", namespace: "default", name: "b", message: expect.any(String) as string },
      { type: "progress", done: 3, remaining: undefined },
    ]);
    expect(await stored()).toEqual(["v1beta1", "v1"]);
  });

  it("tries again when another client was faster", async () => {
    const fault = cluster.faults.add({ match: { verb: "patch", resource: NAME, name: "b", count: 2 }, status: 409 });
    expect((await migrated()).at(-1)).toEqual({ type: "dropped", versions: ["v1beta1"] });
    expect(fault.hits).toBe(2);
  });

  it("does not mind an object that goes meanwhile", async () => {
    cluster.faults.add({ match: { verb: "patch", resource: NAME, name: "b" }, status: 404 });
    expect((await migrated()).at(-1)).toEqual({ type: "dropped", versions: ["v1beta1"] });
  });

  it("does not touch the list of a definition that has changed meanwhile", async () => {
    const running = migrateKind(client, NAME, { clock: systemClock });
    expect((await running.next()).value).toMatchObject({ type: "progress" });
    await define("v1beta1", "v1", "v2");
    await expect(running.next()).rejects.toThrow(`${NAME} was changed while its objects were rewritten`);
    expect(await stored()).toEqual(["v1beta1", "v1", "v2"]);
  });

  it("writes the list again when only the status of the definition has changed", async () => {
    const fault = cluster.faults.add({
      match: {
        verb: "patch",
        resource: "customresourcedefinitions.apiextensions.k8s.io",
        subresource: "status",
        count: 1,
      },
      status: 409,
    });
    await migrated();
    expect(fault.hits).toBe(1);
    expect(await stored()).toEqual(["v1"]);
  });
});

it("reads a kind in the version that is stored, or in one that is served", () => {
  const body = (...versions: readonly { name: string; served: boolean; storage: boolean }[]) =>
    ({
      metadata: { name: NAME },
      spec: { group: "example.com", scope: "Cluster", names: { kind: "Shop", plural: "shops" }, versions },
      status: { storedVersions: ["v1beta1", "v1"] },
    }) as unknown as CustomResourceDefinition["body"];
  const old = { name: "v1beta1", served: true, storage: false };
  expect(readableKind(body(old, { name: "v1", served: true, storage: true })).version).toBe("v1");
  const unserved = body(old, { name: "v1", served: false, storage: true });
  expect(readableKind(unserved).version).toBe("v1beta1");
  expect(storedVersionsOf(unserved)).toEqual({ storage: "v1", old: ["v1beta1"] });
  expect(() => readableKind(body({ ...old, served: false }))).toThrow(`no version of ${NAME} is served`);
});
