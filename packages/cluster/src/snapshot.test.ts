import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster, ClusterSnapshot } from "./index.ts";
import {
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

const map = (name: string, value = "1") => ({ metadata: { name }, data: { value } });
const patch = (value: string) => ({ type: MERGE, body: { data: { value } } });

describe("cluster.snapshot and restore", () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await Cluster.start();
  });

  afterEach(() => cluster.stop());

  it("bring objects back as they were, and tell those who watch", async () => {
    await call(cluster, "POST", CONFIG_MAPS, { body: map("kept") });
    const deleted = (await call(cluster, "POST", CONFIG_MAPS, { body: map("deleted") })).body;
    const before = cluster.snapshot();
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&resourceVersion=${before.revision}`);
    await call(cluster, "PATCH", `${CONFIG_MAPS}/kept`, patch("2"));
    await call(cluster, "DELETE", `${CONFIG_MAPS}/deleted`);
    await call(cluster, "POST", CONFIG_MAPS, { body: map("new") });
    await cluster.restore(before);
    const list = await call(cluster, "GET", CONFIG_MAPS);
    const plain = list.body.items.map((item: { metadata: { name: string; uid: string }; data: object }) => [
      item.metadata.name,
      item.data,
    ]);
    expect(plain).toEqual([
      ["deleted", { value: "1" }],
      ["kept", { value: "1" }],
      ["kube-root-ca.crt", expect.anything()],
    ]);
    expect(list.body.items[0].metadata.uid).toBe(deleted.metadata.uid);
    expect(Number(list.body.items[0].metadata.resourceVersion)).toBeGreaterThan(before.revision);
    const events: string[] = [];
    for (let i = 0; i < 6; i++) {
      const { type, object } = await watch.next();
      events.push(`${type} ${object.metadata.name}`);
    }
    expect(events).toEqual([
      "MODIFIED kept",
      "DELETED deleted",
      "ADDED new",
      "DELETED new",
      "ADDED deleted",
      "MODIFIED kept",
    ]);
    watch.close();
  });

  it("bring kinds back with their objects, and take them away", async () => {
    const bare = cluster.snapshot();
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const full = cluster.snapshot();
    await cluster.restore(bare);
    expect((await call(cluster, "GET", WIDGETS)).status).toBe(404);
    await cluster.restore(full);
    expect((await call(cluster, "GET", `${WIDGETS}/w`)).body.spec).toEqual({ size: 1, mode: "A" });
    expect((await call(cluster, "GET", `${DEFINITIONS}/widgets.example.com`)).status).toBe(200);
    expect((await call(cluster, "POST", WIDGETS, { body: widget("v") })).status).toBe(201);
  });

  it("can be written down and read by another cluster", async () => {
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", WIDGETS, { body: widget("w") });
    const text = JSON.stringify(cluster.snapshot());
    await using other = await Cluster.start();
    const snapshot = ClusterSnapshot.from(JSON.parse(text));
    expect(snapshot.size).toBe(cluster.snapshot().size);
    await other.restore(snapshot);
    expect((await call(other, "GET", `${WIDGETS}/w`)).status).toBe(200);
  });

  it("change nothing that is as it was", async () => {
    await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    const before = cluster.snapshot();
    await cluster.restore(before);
    await cluster.restore(ClusterSnapshot.from(JSON.parse(JSON.stringify(before))));
    expect(cluster.snapshot().revision).toBe(before.revision);
  });
});

describe("cluster.onChange", () => {
  it("tells every change of every object until it is ended", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const heard: string[] = [];
    const stop = cluster.onChange(({ type, resource, object, resourceVersion }) => {
      // The cluster has things of its own to write.
      if (object.metadata?.namespace === "default") heard.push(`${type} ${resource} ${object.metadata.name}`);
      expect(object.metadata?.resourceVersion).toBe(resourceVersion);
    });
    await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, patch("2"));
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a`);
    stop();
    await call(cluster, "POST", CONFIG_MAPS, { body: map("b") });
    expect(heard).toEqual(["created configmaps a", "updated configmaps a", "deleted configmaps a"]);
  });
});

describe("cluster.history", () => {
  it("tells every version of an object", async () => {
    await using cluster = await Cluster.start({ history: true });
    const made = await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, patch("2"));
    cluster.compact();
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a`);
    const versions = cluster.history("configmaps", "default", "a");
    expect(versions.map(({ type, object }) => [type, (object.data as { value: string }).value])).toEqual([
      ["created", "1"],
      ["updated", "2"],
      ["deleted", "2"],
    ]);
    expect(versions[0]?.resourceVersion).toBe(made.body.metadata.resourceVersion);
    for (const name of ["ConfigMap", "configmap", "cm"]) expect(cluster.history(name, "default", "a")).toHaveLength(3);
    expect(cluster.history("namespaces", "default")[0]?.type).toBe("created");
    expect(cluster.history("configmaps", "default", "never")).toEqual([]);
  });

  it("reaches back only as far as it is asked to", async () => {
    await using cluster = await Cluster.start({ history: 10 });
    await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    for (let i = 0; i < 30; i++) await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, patch(`p${i}`));
    const { length } = cluster.history("configmaps", "default", "a");
    expect(length).toBeGreaterThanOrEqual(10);
    expect(length).toBeLessThanOrEqual(12);
  });

  it("tells what the cluster remembers anyway when nobody asked for more", async () => {
    await using cluster = await Cluster.start();
    await call(cluster, "POST", CONFIG_MAPS, { body: map("a") });
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, patch("2"));
    expect(cluster.history("configmaps", "default", "a")).toHaveLength(2);
    cluster.compact();
    expect(cluster.history("configmaps", "default", "a")).toHaveLength(0);
  });

  it("says what it needs to know", async () => {
    await using cluster = await Cluster.start();
    expect(() => cluster.history("configmaps", "a")).toThrow("configmaps are in namespaces: say in which one");
    expect(() => cluster.history("nothing", "a")).toThrow('no resource is called "nothing"');
  });
});
