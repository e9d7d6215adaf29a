import { generateKeyPairSync } from "node:crypto";
import { CertificateAuthority } from "@lotse/client/certificates";
import { describe, expect, it } from "vitest";
import { Cluster } from "./cluster.ts";
import { call, define, widgetDefinition } from "./test-requests.ts";

const names = async (cluster: Cluster, path: string): Promise<string[]> =>
  (await call(cluster, "GET", path)).body.items?.map((item: { metadata: { name: string } }) => item.metadata.name);

describe("what a server writes about itself", () => {
  it("is where it is: its Service, Endpoints, EndpointSlice, the range of addresses and who has which", async () => {
    await using cluster = await Cluster.start({ serviceRange: "10.0.0.0/24", advertiseAddress: "10.1.2.3" });
    const service = await call(cluster, "GET", "/api/v1/namespaces/default/services/kubernetes");
    expect(service.body.spec.clusterIP).toBe("10.0.0.1");
    const endpoints = await call(cluster, "GET", "/api/v1/namespaces/default/endpoints/kubernetes");
    expect(endpoints.body.subsets).toEqual([
      { addresses: [{ ip: "10.1.2.3" }], ports: [{ name: "https", port: cluster.port, protocol: "TCP" }] },
    ]);
    const slice = await call(cluster, "GET", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes");
    expect(slice.body).toMatchObject({
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: true } }],
      ports: [{ name: "https", port: cluster.port, protocol: "TCP" }],
    });
    const range = await call(cluster, "GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
    expect([range.body.spec.cidrs, range.body.status.conditions[0]]).toEqual([
      ["10.0.0.0/24"],
      expect.objectContaining({ type: "Ready", status: "True", message: "Kubernetes default Service CIDR is ready" }),
    ]);
    const addresses = "/apis/networking.k8s.io/v1/ipaddresses";
    expect(await names(cluster, addresses)).toEqual(["10.0.0.1"]);
    const made = await call(cluster, "POST", "/api/v1/namespaces/default/services", {
      body: { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } },
    });
    expect(made.body.spec.clusterIP).toMatch(/^10\.0\.0\.\d+$/);
    await cluster.settle();
    const { body } = await call(cluster, "GET", `${addresses}/${made.body.spec.clusterIP}`);
    expect(body.spec.parentRef).toEqual({ group: "", name: "web", namespace: "default", resource: "services" });
    await call(cluster, "DELETE", "/api/v1/namespaces/default/services/web");
    await cluster.settle();
    expect(await names(cluster, addresses)).toEqual(["10.0.0.1"]);
  });

  it("is which APIs it has, those of definitions among them", async () => {
    await using cluster = await Cluster.start();
    const path = "/apis/apiregistration.k8s.io/v1/apiservices";
    const before = await names(cluster, path);
    expect(before).toEqual(
      expect.arrayContaining(["v1.", "v1.apps", "v2.autoscaling", "v1.rbac.authorization.k8s.io"]),
    );
    const apps = await call(cluster, "GET", `${path}/v1.apps`);
    expect([apps.body.spec, apps.body.status.conditions[0].reason]).toEqual([
      { group: "apps", version: "v1", groupPriorityMinimum: 17_800, versionPriority: 15 },
      "Local",
    ]);
    await define(cluster, widgetDefinition());
    await cluster.settle();
    const added = (await names(cluster, path)).filter((name) => !before.includes(name));
    expect(added).toEqual(["v1.example.com"]);
  });

  it("is two classes of priority, two ConfigMaps and a Lease", async () => {
    await using cluster = await Cluster.start({ controllers: false });
    expect(await names(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses")).toEqual([
      "system-cluster-critical",
      "system-node-critical",
    ]);
    const maps = await call(cluster, "GET", "/api/v1/namespaces/kube-system/configmaps");
    const [trust, since] = maps.body.items;
    expect(maps.body.items).toHaveLength(2);
    expect([trust.metadata.name, trust.data]).toEqual([
      "extension-apiserver-authentication",
      { "client-ca-file": cluster.caPem },
    ]);
    expect([since.metadata.name, since.data.since]).toEqual([
      "kube-apiserver-legacy-service-account-token-tracking",
      expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    ]);
    const leases = await call(cluster, "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
    expect(leases.body.items[0].metadata.labels["apiserver.kubernetes.io/identity"]).toBe("kube-apiserver");
    expect(leases.body.items[0].spec.leaseDurationSeconds).toBe(3_600);
  });

  it("is how long it has been up, and how it was started, for people and for programs", async () => {
    await using cluster = await Cluster.start({ flags: { "secure-port": "6443", "bind-address": "127.0.0.1" } });
    const text = await call(cluster, "GET", "/statusz", { headers: { accept: "text/plain" } });
    expect(text.text).toMatch(/^\nkube-apiserver statusz\nWarning: [^\n]+\n\nStarted: [^\n]+\nUp: \d+s\n/);
    const flags = await call(cluster, "GET", "/flagz", { headers: { accept: "" } });
    expect(flags.text).toMatch(/\nbind-address=127\.0\.0\.1\nsecure-port=6443\n$/);
    const accept = "application/json;v=v1beta1;g=config.k8s.io;as=Statusz";
    const status = await call(cluster, "GET", "/statusz", { headers: { accept } });
    expect(status.body).toMatchObject({
      kind: "Statusz",
      apiVersion: "config.k8s.io/v1beta1",
      metadata: { name: "kube-apiserver" },
      emulationVersion: "1.36",
    });
    expect((await call(cluster, "GET", "/statusz", { headers: { accept: "application/json" } })).status).toBe(406);
  });
});

describe("a cluster that is told what it shall be", () => {
  it("shows the certificate that it is given, and believes clients of another authority", async () => {
    const serving = new CertificateAuthority("mine", Date.now());
    const clients = new CertificateAuthority("clients", Date.now());
    const { certPem: cert, keyPem: key } = serving.issue({ commonName: "me", hosts: ["127.0.0.1"], usage: "server" });
    await using cluster = await Cluster.start({
      rbac: true,
      certificate: { cert, key, ca: serving.certPem },
      clientCa: clients.certPem,
    });
    expect(cluster.caPem).toBe(serving.certPem);
    const jane = clients.issue({ commonName: "jane", organizations: ["system:masters"], usage: "client" });
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const user = { "client-certificate-data": base64(jane.certPem), "client-key-data": base64(jane.keyPem) };
    const kubeconfig = { ...cluster.kubeconfig, users: [{ name: "lotse", user }] };
    await using client = await cluster.connect({ kubeconfig });
    expect((await client.whoami()).username).toBe("jane");
  });

  it("knows the tokens that it is given, and signs with the keys that it is given", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await using cluster = await Cluster.start({
      rbac: true,
      tokens: { sesame: { user: "ali", groups: ["thieves"] } },
      serviceAccounts: {
        issuer: "https://me.example.com",
        signingKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      },
    });
    const headers = { authorization: "Bearer sesame" };
    const me = await call(cluster, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: {}, headers });
    expect(me.body.status.userInfo).toMatchObject({ username: "ali", groups: ["thieves", "system:authenticated"] });
    const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    const { token } = (await call(cluster, "POST", path, { body: { spec: {} } })).body.status;
    const review = await call(cluster, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
      body: { spec: { token } },
    });
    expect([review.body.status.authenticated, review.body.status.audiences]).toEqual([
      true,
      ["https://me.example.com"],
    ]);
    const { body } = await call(cluster, "GET", "/openid/v1/jwks", { headers: { accept: "*/*" } });
    expect(body.keys[0]).toMatchObject({ kty: "RSA", alg: "RS256", e: "AQAB" });
  });

  it("has none of the controllers, and its collecting roles are empty", async () => {
    await using cluster = await Cluster.start({ rbac: true, controllers: false });
    expect(await names(cluster, "/api/v1/serviceaccounts")).toEqual([]);
    const role = await call(cluster, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view");
    expect([role.body.rules, role.body.metadata.managedFields.length]).toEqual([null, 1]);
    const pod = { metadata: { name: "web" }, spec: { containers: [{ name: "web", image: "nginx" }] } };
    expect((await call(cluster, "POST", "/api/v1/namespaces/default/pods", { body: pod })).status).toBe(201);
  });

  it("leaves out the admission plugins that are switched off", async () => {
    const limits = { metadata: { name: "l" }, spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } };
    const pod = { metadata: { name: "web" }, spec: { containers: [{ name: "web", image: "nginx" }] } };
    const limitOf = async (options: Parameters<typeof Cluster.start>[0]) => {
      await using cluster = await Cluster.start({ controllers: false, ...options });
      await call(cluster, "POST", "/api/v1/namespaces/default/limitranges", { body: limits });
      const { body } = await call(cluster, "POST", "/api/v1/namespaces/default/pods", { body: pod });
      return body.message ?? body.spec.containers[0].resources.limits?.cpu;
    };
    expect(await limitOf({})).toBe("1");
    expect(await limitOf({ admission: { disable: ["LimitRanger"] } })).toBeUndefined();
    expect(await limitOf({ admission: { enable: ["ServiceAccount"] } })).toContain(
      "error looking up service account default/default",
    );
  });

  it("refuses a range of addresses that is none", async () => {
    for (const serviceRange of ["10.0.0.0", "10.0.0.0/31", "300.0.0.0/24", "fd00::/108"]) {
      await expect(Cluster.start({ serviceRange })).rejects.toThrow("is no range of addresses for Services");
    }
  });
});
