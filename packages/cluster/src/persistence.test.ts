import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import {
  APPLY,
  CONFIG_MAPS,
  call,
  DEFINITIONS,
  define,
  MERGE,
  openWatch,
  WIDGETS,
  widget,
  widgetDefinition,
} from "./test-requests.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lotse-kept-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const RULES = {
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer" } },
          "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too big" }],
        },
      },
    },
  },
};

describe("a cluster with a data folder", () => {
  it("is the same cluster after a restart: token, certificate, objects, versions, custom resources and their rules", async () => {
    const first = await Cluster.start({ data: folder });
    await define(first, widgetDefinition({}, RULES));
    await call(first, "POST", WIDGETS, { body: widget("w") });
    await call(first, "POST", CONFIG_MAPS, { body: { metadata: { name: "a" }, data: { k: "1" } } });
    await call(first, "PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, {
      type: APPLY,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "y" } },
    });
    const before = await call(first, "GET", CONFIG_MAPS);
    const kind = await call(first, "GET", `${WIDGETS}/w`);
    await first.stop();

    await using second = await Cluster.start({ data: folder });
    expect(second.token).toBe(first.token);
    expect(second.caPem).toBe(first.caPem);
    expect(second.data).toMatchObject({ folder, cut: undefined });
    const after = await call(second, "GET", CONFIG_MAPS);
    expect(after.body.items).toEqual(before.body.items);
    expect(Number(after.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(before.body.metadata.resourceVersion),
    );
    expect((await call(second, "GET", `${WIDGETS}/w`)).body).toEqual(kind.body);
    const refused = await call(second, "POST", WIDGETS, { body: widget("v", { size: 11 }) });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain("too big");
    const made = await call(second, "POST", WIDGETS, { body: widget("v") });
    expect(made.status).toBe(201);
    expect(Number(made.body.metadata.resourceVersion)).toBeGreaterThan(Number(after.body.metadata.resourceVersion));
  });

  it("goes on with the watches of its clients", async () => {
    const first = await Cluster.start({ data: folder });
    const seen = (await call(first, "POST", CONFIG_MAPS, { body: { metadata: { name: "a" } } })).body.metadata;
    await call(first, "PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { k: "2" } } });
    await call(first, "DELETE", `${CONFIG_MAPS}/a`);
    await first.stop();
    await using second = await Cluster.start({ data: folder });
    const watch = await openWatch(second, `${CONFIG_MAPS}?watch=1&resourceVersion=${seen.resourceVersion}`);
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { data: { k: "2" } } });
    expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
    await call(second, "POST", CONFIG_MAPS, { body: { metadata: { name: "b" } } });
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    watch.close();
  });

  it("keeps its controllers' promises over a restart", async () => {
    const first = await Cluster.start({ data: folder, controllers: { garbageCollection: false } });
    const owner = await call(first, "POST", CONFIG_MAPS, { body: { metadata: { name: "owner" } } });
    const { name, uid } = owner.body.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid }];
    await call(first, "POST", CONFIG_MAPS, { body: { metadata: { name: "owned", ownerReferences } } });
    await call(first, "DELETE", `${CONFIG_MAPS}/owner`);
    await call(first, "POST", "/api/v1/namespaces", { body: { metadata: { name: "going" } } });
    await first.stop();
    await using second = await Cluster.start({ data: folder });
    expect((await call(second, "GET", `${CONFIG_MAPS}/owned`)).status).toBe(404);
    await call(second, "DELETE", "/api/v1/namespaces/going");
    await second.settle();
    expect((await call(second, "GET", "/api/v1/namespaces/going")).status).toBe(404);
    await define(second, widgetDefinition());
    await call(second, "DELETE", `${DEFINITIONS}/widgets.example.com`);
    await second.settle();
    expect((await call(second, "GET", `${DEFINITIONS}/widgets.example.com`)).status).toBe(404);
  });

  it("can be kept with pods that run", async () => {
    const options = { data: folder, kubelet: "simulate", rbac: true } as const;
    const pods = "/api/v1/namespaces/default/pods";
    const first = await Cluster.start(options);
    const spec = { containers: [{ name: "main", image: "busybox" }] };
    await call(first, "POST", pods, { body: { metadata: { name: "p" }, spec } });
    await first.settle();
    await first.stop();
    await using second = await Cluster.start(options);
    expect((await call(second, "GET", "/api/v1/nodes")).body.items).toHaveLength(1);
    expect((await call(second, "GET", `${pods}/p`)).status).toBe(200);
  });

  it.each(["ca.pem", "sa.pem", "token"])("says what to do about a damaged %s", async (name) => {
    await (await Cluster.start({ data: folder })).stop();
    await writeFile(join(folder, name), name === "token" ? "" : "-----BEGIN CERTIFICATE-----\nxx");
    await expect(Cluster.start({ data: folder })).rejects.toMatchObject({
      code: "LOTSE_DATA",
      message: expect.stringContaining(`${join(folder, name)} is damaged: `),
    });
    await rm(join(folder, name));
    await (await Cluster.start({ data: folder })).stop();
  });

  it("is refused to a second server, and free again when the first one could not start", async () => {
    const first = await Cluster.start({ data: folder });
    await expect(Cluster.start({ data: folder })).rejects.toMatchObject({ code: "LOTSE_DATA" });
    await first.stop();
    const other = await Cluster.start();
    await expect(Cluster.start({ data: folder, port: other.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await other.stop();
    await (await Cluster.start({ data: folder })).stop();
  });
});
