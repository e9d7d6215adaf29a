import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap } from "@lotse/client";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { CONFIG_MAPS, call, openWatch } from "./test-requests.ts";

/** Always the same numbers, so that names and uids are the same, too. */
function seeded(): () => number {
  let state = 42;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe("Cluster", () => {
  it("answers over TLS with a certificate that its own authority signed", async () => {
    await using cluster = await Cluster.start();
    expect(cluster.url).toBe(`https://127.0.0.1:${cluster.port}`);
    const version = await call(cluster, "GET", "/version");
    expect(version.status).toBe(200);
    expect(version.body.gitVersion).toMatch(/^v1\.36\.\d+\+lotse$/);
  });

  it("serves plain HTTP on request and says so in the kubeconfig", async () => {
    await using cluster = await Cluster.start({ tls: false });
    expect(cluster.url).toMatch(/^http:/);
    expect((await call(cluster, "GET", "/healthz")).text).toBe("ok");
    expect(cluster.kubeconfig.clusters?.[0]?.cluster["insecure-skip-tls-verify"]).toBe(true);
  });

  it("has its first objects before it says that it started", async () => {
    await using cluster = await Cluster.start();
    const names = async (path: string) =>
      (await call(cluster, "GET", path)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(await names("/api/v1/namespaces")).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
    expect(await names("/api/v1/namespaces/kube-system/serviceaccounts")).toEqual(["default"]);
    expect(await names(CONFIG_MAPS)).toEqual(["kube-root-ca.crt"]);
    const service = await call(cluster, "GET", "/api/v1/namespaces/default/services/kubernetes");
    expect(service.body.spec.clusterIP).toBe("10.96.0.1");
    const root = await call(cluster, "GET", `${CONFIG_MAPS}/kube-root-ca.crt`);
    expect(root.body.data["ca.crt"]).toBe(cluster.caPem);
  });

  it("knows who owns the fields of its first objects, as if anybody had written them", async () => {
    await using cluster = await Cluster.start();
    const fieldsOf = async (path: string) =>
      (await call(cluster, "GET", path)).body.metadata.managedFields?.[0].fieldsV1;
    const again = async (path: string, name: string, change: (body: Record<string, unknown>) => void = () => {}) => {
      const { body } = await call(cluster, "GET", path);
      const { metadata, ...rest } = body;
      const { labels } = metadata;
      if (labels) delete labels["kubernetes.io/metadata.name"];
      const fresh = { ...rest, metadata: { name, ...(labels ? { labels } : {}) } };
      change(fresh);
      const made = await call(cluster, "POST", path.slice(0, path.lastIndexOf("/")), { body: fresh });
      expect(made.status).toBe(201);
      return made.body.metadata.managedFields?.[0].fieldsV1;
    };
    const namespace = "/api/v1/namespaces/default";
    const bare = await again(namespace, "other", (body) => {
      body.spec = {};
    });
    expect(await fieldsOf(namespace)).toEqual(bare);
    const root = `${CONFIG_MAPS}/kube-root-ca.crt`;
    expect(await fieldsOf(root)).toEqual(await again(root, "other"));
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    expect(await fieldsOf(account)).toEqual(await again(account, "other"));
    const service = "/api/v1/namespaces/default/services/kubernetes";
    const other = await again(service, "other", ({ spec }) => {
      const {
        clusterIP: _,
        clusterIPs: __,
        ipFamilies: ___,
        ipFamilyPolicy: ____,
        ...kept
      } = spec as Record<string, unknown>;
      Object.assign(spec as object, kept, { clusterIP: "10.96.7.7", clusterIPs: ["10.96.7.7"] });
      delete (spec as Record<string, unknown>).ipFamilies;
      delete (spec as Record<string, unknown>).ipFamilyPolicy;
    });
    expect(await fieldsOf(service)).toEqual(other);
  });

  it("works with the client of this product", async () => {
    await using cluster = await Cluster.start();
    await using client = await cluster.connect();
    await client.create(ConfigMap.gen({ name: "hello", data: { greeting: "moin" } }));
    const found = await client.get(ConfigMap, "hello");
    expect(found.raw.data).toEqual({ greeting: "moin" });
  });

  it("writes a kubeconfig that only its owner can read", async () => {
    await using cluster = await Cluster.start({ name: "here" });
    const path = join(tmpdir(), `kubeconfig-${cluster.port}`);
    await cluster.writeKubeconfig(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(load(await readFile(path, "utf8"))).toEqual(JSON.parse(JSON.stringify(cluster.kubeconfig)));
    expect(cluster.kubeconfig["current-context"]).toBe("here");
  });

  it("refuses a wrong token and a request without one", async () => {
    await using cluster = await Cluster.start();
    const wrong = await call(cluster, "GET", "/api/v1/pods", { headers: { authorization: "Bearer nonsense" } });
    expect(wrong.status).toBe(401);
    expect(wrong.body).toMatchObject({ kind: "Status", reason: "Unauthorized", message: "Unauthorized", code: 401 });
    const nobody = await call(cluster, "GET", "/api/v1/pods", { headers: { authorization: "" } });
    expect(nobody.status).toBe(403);
    expect(nobody.body).toMatchObject({ reason: "Forbidden", details: { kind: "pods" }, code: 403 });
  });

  it("remembers the requests that it answered", async () => {
    await using cluster = await Cluster.start();
    cluster.requests.clear();
    await call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name: "a" } } });
    await call(cluster, "GET", `${CONFIG_MAPS}/a?pretty=true`);
    await call(cluster, "GET", "/apis/apps/v1/namespaces/default/deployments/x/scale");
    expect(cluster.requests.entries).toHaveLength(3);
    expect(cluster.requests.filter({ verb: "create" })).toEqual([
      expect.objectContaining({
        method: "POST",
        path: CONFIG_MAPS,
        user: "kubernetes-admin",
        userAgent: "suite/1.0",
        resource: "configmaps",
        namespace: "default",
        name: undefined,
        status: 201,
        body: { metadata: { name: "a" } },
      }),
    ]);
    expect(cluster.requests.filter((entry) => entry.status === 404)[0]).toMatchObject({
      resource: "deployments.apps",
      name: "x",
      subresource: "scale",
      body: undefined,
    });
  });

  it("makes the same names and uids from the same seed", async () => {
    const make = async () => {
      await using cluster = await Cluster.start({ random: seeded() });
      const made = await call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { generateName: "x-" } } });
      return [made.body.metadata.name, made.body.metadata.uid];
    };
    expect(await make()).toEqual(await make());
  });

  it("ends watches cleanly when it stops", async () => {
    const cluster = await Cluster.start();
    const watch = await openWatch(cluster, `${CONFIG_MAPS}?watch=1&resourceVersion=0`);
    await watch.next();
    await cluster.stop();
    await watch.ended;
    await expect(call(cluster, "GET", "/version")).rejects.toThrow();
  });

  it("leaves controllers out on request", async () => {
    await using cluster = await Cluster.start({ controllers: { namespaces: false, garbageCollection: false } });
    await call(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "bare" } } });
    await cluster.settle();
    expect((await call(cluster, "GET", "/api/v1/namespaces/bare/serviceaccounts")).body.items).toEqual([]);
    const orphan = {
      metadata: { name: "o", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }] },
    };
    await call(cluster, "POST", CONFIG_MAPS, { body: orphan });
    await cluster.settle();
    expect((await call(cluster, "GET", `${CONFIG_MAPS}/o`)).status).toBe(200);
  });
});
