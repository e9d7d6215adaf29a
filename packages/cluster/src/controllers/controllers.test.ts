import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { CONFIG_MAPS, call, define, MERGE, WIDGETS, widget, widgetDefinition } from "../test-requests.ts";

async function makeOwned(cluster: Cluster, name: string, owners: object[], metadata: object = {}) {
  const body = { metadata: { name, ownerReferences: owners, ...metadata } };
  return (await call(cluster, "POST", CONFIG_MAPS, { body })).body;
}

async function makeOwner(cluster: Cluster, name: string, metadata: object = {}) {
  return (await call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name, ...metadata } } })).body;
}

const reference = (object: { metadata: { name: string; uid: string } }, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...more,
});

const exists = async (cluster: Cluster, name: string) =>
  (await call(cluster, "GET", `${CONFIG_MAPS}/${name}`)).status === 200;

describe("garbage collection", () => {
  it("deletes what nobody owns any more, through all generations", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const owner = await makeOwner(cluster, "owner");
    const child = await makeOwned(cluster, "child", [reference(owner)]);
    await makeOwned(cluster, "grandchild", [reference(child)]);
    await cluster.settle();
    expect(await exists(cluster, "grandchild")).toBe(true);
    await call(cluster, "DELETE", `${CONFIG_MAPS}/owner`);
    await cluster.settle();
    expect([await exists(cluster, "child"), await exists(cluster, "grandchild")]).toEqual([false, false]);
  });

  it("keeps what still has an owner and drops the reference to the one that is gone", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const [one, two] = [await makeOwner(cluster, "one"), await makeOwner(cluster, "two")];
    await makeOwned(cluster, "child", [reference(one), reference(two)]);
    await call(cluster, "DELETE", `${CONFIG_MAPS}/one`);
    await cluster.settle();
    const child = await call(cluster, "GET", `${CONFIG_MAPS}/child`);
    expect(child.body.metadata.ownerReferences).toEqual([reference(two)]);
  });

  it("deletes what refers to an owner that never was, and keeps what refers to an unknown kind", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await makeOwned(cluster, "lost", [reference({ metadata: { name: "x", uid: "none" } })]);
    await makeOwned(cluster, "strange", [{ apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: "u" }]);
    await cluster.settle();
    expect([await exists(cluster, "lost"), await exists(cluster, "strange")]).toEqual([false, true]);
    await define(cluster, widgetDefinition());
    await cluster.settle();
    expect(await exists(cluster, "strange")).toBe(false);
  });

  it("lets an owner wait in the foreground for dependents that block it", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const owner = await makeOwner(cluster, "owner");
    await makeOwned(cluster, "held", [reference(owner, { blockOwnerDeletion: true })], {
      finalizers: ["example.com/x"],
    });
    await makeOwned(cluster, "free", [reference(owner, { blockOwnerDeletion: true })]);
    const deleted = await call(cluster, "DELETE", `${CONFIG_MAPS}/owner`, {
      body: { propagationPolicy: "Foreground" },
    });
    expect(deleted.body.metadata.finalizers).toEqual(["foregroundDeletion"]);
    await cluster.settle();
    expect([await exists(cluster, "owner"), await exists(cluster, "free")]).toEqual([true, false]);
    await call(cluster, "PATCH", `${CONFIG_MAPS}/held`, { type: MERGE, body: { metadata: { finalizers: null } } });
    await cluster.settle();
    expect([await exists(cluster, "owner"), await exists(cluster, "held")]).toEqual([false, false]);
  });

  it("leaves orphans behind, without their owner", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const owner = await makeOwner(cluster, "owner");
    await makeOwned(cluster, "child", [reference(owner)]);
    await call(cluster, "DELETE", `${CONFIG_MAPS}/owner?propagationPolicy=Orphan`);
    await cluster.settle();
    expect(await exists(cluster, "owner")).toBe(false);
    const child = await call(cluster, "GET", `${CONFIG_MAPS}/child`);
    expect(child.body.metadata).not.toHaveProperty("ownerReferences");
  });

  it("does not lock up over owners that own each other", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const a = await makeOwner(cluster, "a");
    const b = await makeOwned(cluster, "b", [reference(a, { blockOwnerDeletion: true })]);
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, {
      type: MERGE,
      body: { metadata: { ownerReferences: [reference(b, { blockOwnerDeletion: true })] } },
    });
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a?propagationPolicy=Foreground`);
    await cluster.settle();
    expect([await exists(cluster, "a"), await exists(cluster, "b")]).toEqual([false, false]);
  });

  it("does not lock up over a circle of three owners", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const blocking = { blockOwnerDeletion: true };
    const a = await makeOwner(cluster, "a");
    const b = await makeOwned(cluster, "b", [reference(a, blocking)]);
    const c = await makeOwned(cluster, "c", [reference(b, blocking)]);
    await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, {
      type: MERGE,
      body: { metadata: { ownerReferences: [reference(c, blocking)] } },
    });
    await call(cluster, "DELETE", `${CONFIG_MAPS}/a?propagationPolicy=Foreground`);
    await cluster.settle();
    const left = await Promise.all(["a", "b", "c"].map((name) => exists(cluster, name)));
    expect(left).toEqual([false, false, false]);
  });

  it("follows owners of custom kinds", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    const owner = (await call(cluster, "POST", WIDGETS, { body: widget("w") })).body;
    await makeOwned(cluster, "child", [{ ...reference(owner), apiVersion: "example.com/v1", kind: "Widget" }]);
    await call(cluster, "DELETE", `${WIDGETS}/w`);
    await cluster.settle();
    expect(await exists(cluster, "child")).toBe(false);
  });
});

describe("namespaces", () => {
  it("are furnished at once and furnished again", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const made = await call(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "shop" } } });
    expect(made.body).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "shop" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
    const account = "/api/v1/namespaces/shop/serviceaccounts/default";
    expect((await call(cluster, "GET", account)).status).toBe(200);
    await call(cluster, "DELETE", account);
    await cluster.settle();
    expect((await call(cluster, "GET", account)).status).toBe(200);
  });

  it("have the certificate of the server, whatever others make of it", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const path = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
    await cluster.settle();
    const { data } = (await call(cluster, "GET", path)).body;
    await call(cluster, "PATCH", path, { type: MERGE, body: { data: { "ca.crt": "none", more: "x" } } });
    await cluster.settle();
    expect((await call(cluster, "GET", path)).body.data).toEqual(data);
    await call(cluster, "PATCH", path, { type: MERGE, body: { data: null } });
    await cluster.settle();
    expect((await call(cluster, "GET", path)).body.data).toEqual(data);
  });

  it("are emptied when they are deleted, and then gone", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    await call(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "shop" } } });
    await call(cluster, "POST", WIDGETS.replace("default", "shop"), { body: widget("w") });
    const deleted = await call(cluster, "DELETE", "/api/v1/namespaces/shop");
    expect(deleted.body.status.phase).toBe("Terminating");
    await cluster.settle();
    expect((await call(cluster, "GET", "/api/v1/namespaces/shop")).status).toBe(404);
    expect((await call(cluster, "GET", "/apis/example.com/v1/widgets")).body.items).toEqual([]);
  });

  it("say what holds them, and take nothing new meanwhile", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await call(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "shop" } } });
    const path = "/api/v1/namespaces/shop/configmaps";
    await call(cluster, "POST", path, { body: { metadata: { name: "held", finalizers: ["example.com/hold"] } } });
    await call(cluster, "DELETE", "/api/v1/namespaces/shop");
    await cluster.settle();
    const stuck = (await call(cluster, "GET", "/api/v1/namespaces/shop")).body;
    const message = (type: string) => stuck.status.conditions.find((c: { type: string }) => c.type === type).message;
    expect(message("NamespaceContentRemaining")).toBe(
      "Some resources are remaining: configmaps. has 1 resource instances",
    );
    expect(message("NamespaceFinalizersRemaining")).toBe(
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    );
    const refused = await call(cluster, "POST", path, { body: { metadata: { name: "late" } } });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(
      'configmaps "late" is forbidden: unable to create new content in namespace shop because it is being terminated',
    );
    expect(refused.body.details.causes[0].reason).toBe("NamespaceTerminating");
    await call(cluster, "PATCH", `${path}/held`, { type: MERGE, body: { metadata: { finalizers: null } } });
    await cluster.settle();
    expect((await call(cluster, "GET", "/api/v1/namespaces/shop")).status).toBe(404);
  });

  it("that the cluster needs cannot be deleted", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const refused = await call(cluster, "DELETE", "/api/v1/namespaces/default");
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'namespaces "default" is forbidden: this namespace may not be deleted',
    ]);
  });
});
