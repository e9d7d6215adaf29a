import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { CONFIG_MAPS, call } from "./test-requests.ts";
import { type Reception, type Visit, visit, WEBSOCKET } from "./test-visitor.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const PODS = "/api/v1/namespaces/default/pods";
const EXEC = `${PODS}/web/exec?command=id&stdout=true`;
const JSON_TYPE = { "content-type": "application/json" };

const configMap = (name: string) => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

async function furnished(options: Parameters<typeof Cluster.start>[0]): Promise<Cluster> {
  const cluster = await Cluster.start({ kubelet: { mode: "simulate", startDelay: 0 }, ...options });
  cluster.pods.program("web", { exec: { id: "root" } });
  const spec = { containers: [{ name: "c", image: "i" }] };
  await call(cluster, "POST", PODS, { body: { metadata: { name: "web" }, spec } });
  await call(cluster, "POST", SECRETS, { body: { metadata: { name: "safe" }, stringData: { code: "0000" } } });
  await cluster.settle();
  return cluster;
}

const names = async (cluster: Cluster): Promise<string[]> =>
  (await call(cluster, "GET", CONFIG_MAPS)).body.items.map((one: { metadata: { name: string } }) => one.metadata.name);

describe.each([
  ["over TLS", {}],
  ["over plain HTTP", { tls: false }],
  ["over TLS, where roles decide", { rbac: true }],
])("whoever sends no credentials %s", (_how, options) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await furnished(options);
  });
  afterAll(() => cluster.stop());

  const ask = (path: string, visitor?: Visit): Promise<Reception> => visit(cluster, path, visitor);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it("may ask how the server is and which it is", async () => {
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      expect(await ask(path), path).toEqual({ status: 200, told: "ok" });
    }
    expect((await ask("/version")).told).toContain('"gitVersion"');
  });

  it("reads nothing", async () => {
    const refused = (what: string) => ({ status: 403, told: `${what}` });
    expect(await ask(SECRETS)).toEqual(
      refused(
        'secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" in the namespace "default"',
      ),
    );
    expect(await ask(`${SECRETS}/safe`)).toEqual(
      refused(
        'secrets "safe" is forbidden: User "system:anonymous" cannot get resource "secrets" in API group "" in the namespace "default"',
      ),
    );
    expect(await ask("/api/v1/secrets?watch=true")).toEqual(
      refused(
        'secrets is forbidden: User "system:anonymous" cannot watch resource "secrets" in API group "" at the cluster scope',
      ),
    );
    for (const path of ["/", "/api", "/apis", "/openapi/v2", "/openapi/v3", "/livez/ping"]) {
      expect(await ask(path), path).toEqual(
        refused(`forbidden: User "system:anonymous" cannot get path ${JSON.stringify(path)}`),
      );
    }
  });

  it("writes nothing", async () => {
    const create = { method: "POST", headers: JSON_TYPE, body: configMap("theirs") };
    expect(await ask(CONFIG_MAPS, create)).toEqual({
      status: 403,
      told: 'configmaps is forbidden: User "system:anonymous" cannot create resource "configmaps" in API group "" in the namespace "default"',
    });
    expect((await ask(`${SECRETS}/safe`, { method: "DELETE" })).status).toBe(403);
    const patch = { "content-type": "application/merge-patch+json" };
    expect((await ask(`${SECRETS}/safe`, { method: "PATCH", headers: patch, body: "{}" })).status).toBe(403);
    const review = { method: "POST", headers: JSON_TYPE, body: "{}" };
    expect((await ask("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)).status).toBe(403);
    expect((await ask("/api/v1/namespaces/default/serviceaccounts/default/token", review)).status).toBe(403);
    expect(await names(cluster)).toEqual(["kube-root-ca.crt"]);
  });

  it("runs no command, and cannot act as somebody else", async () => {
    expect(await ask(EXEC, { headers: WEBSOCKET })).toEqual({
      status: 403,
      told: 'pods "web" is forbidden: User "system:anonymous" cannot get resource "pods/exec" in API group "" in the namespace "default"',
    });
    const spdy = { connection: "Upgrade", upgrade: "SPDY/3.1" };
    expect((await ask(EXEC, { method: "POST", headers: spdy })).status).toBe(403);
    expect((await ask(SECRETS, { headers: { "impersonate-user": "kubernetes-admin" } })).status).toBe(403);
  });

  it("is refused with wrong ones, and does everything with the token of the kubeconfig", async () => {
    expect(await ask("/version", { headers: bearer("wrong") })).toEqual({ status: 401, told: "Unauthorized" });
    const token = cluster.kubeconfig.users?.[0]?.user.token as string;
    expect((await ask(SECRETS, { headers: bearer(token) })).status).toBe(200);
    expect((await ask(EXEC, { headers: { ...WEBSOCKET, ...bearer(token) } })).status).toBe(101);
    // As browsers do, who cannot set headers of a WebSocket.
    const inProtocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}, v5.channel.k8s.io`;
    expect((await ask(EXEC, { headers: { ...WEBSOCKET, "sec-websocket-protocol": inProtocol } })).status).toBe(101);
  });
});

it("a client certificate of the cluster is as good as a token", async () => {
  await using cluster = await furnished({});
  const user = cluster.kubeconfigFor({ user: "jane" }).users?.[0]?.user;
  const text = (data: string | undefined) => Buffer.from(data ?? "", "base64").toString();
  const jane = { cert: text(user?.["client-certificate-data"]), key: text(user?.["client-key-data"]) };
  expect((await visit(cluster, SECRETS, jane)).status).toBe(200);
  expect((await visit(cluster, EXEC, { ...jane, headers: WEBSOCKET })).status).toBe(101);
  const create = { ...jane, method: "POST", headers: JSON_TYPE, body: configMap("hers") };
  expect((await visit(cluster, CONFIG_MAPS, create)).status).toBe(201);
});

it("over plain HTTP the kubeconfig's address carries the token, as kubectl sends no other credentials there", async () => {
  await using cluster = await furnished({ tls: false });
  const { server } = cluster.kubeconfig.clusters?.[0]?.cluster ?? { server: "" };
  expect(server).toBe(`${cluster.url}/~${cluster.token}`);
  const base = new URL(server as string).pathname;
  expect((await visit(cluster, `${base}${SECRETS}/safe`)).status).toBe(200);
  expect((await visit(cluster, `${base}${EXEC}`, { headers: WEBSOCKET })).status).toBe(101);
  expect((await visit(cluster, base)).told).toContain('"paths"');
  expect(await visit(cluster, `/~wrong${SECRETS}`)).toEqual({ status: 401, told: "Unauthorized" });
  // What is said in so many words counts.
  const wrong = { headers: { authorization: "Bearer wrong" } };
  expect((await visit(cluster, `${base}${SECRETS}`, wrong)).status).toBe(401);
  expect(JSON.stringify(cluster.requests.entries)).not.toContain(cluster.token);

  const jane = cluster.kubeconfigFor({ user: "jane" }).clusters?.[0]?.cluster.server as string;
  const review = { method: "POST", headers: JSON_TYPE, body: "{}" };
  const { told } = await visit(
    cluster,
    `${new URL(jane).pathname}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    review,
  );
  expect(JSON.parse(told).status.userInfo.username).toBe("jane");
});

it("over TLS no token is looked for in addresses", async () => {
  await using cluster = await Cluster.start();
  expect((await visit(cluster, `/~${cluster.token}${SECRETS}`)).status).toBe(403);
  expect(cluster.kubeconfig.clusters?.[0]?.cluster.server).toBe(cluster.url);
});

it.each([{ tls: false }, {}, { rbac: true }])(
  "with anonymous: admin and %j nobody needs credentials",
  async (options) => {
    await using cluster = await furnished({ ...options, anonymous: "admin" });
    expect((await visit(cluster, SECRETS)).status).toBe(200);
    expect((await visit(cluster, EXEC, { headers: WEBSOCKET })).status).toBe(101);
    const create = { method: "POST", headers: JSON_TYPE, body: configMap("anybody") };
    expect((await visit(cluster, CONFIG_MAPS, create)).status).toBe(201);
    expect((await visit(cluster, SECRETS, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  },
);

// The doors stand open here, so that nothing but the guard can refuse.
describe.each([
  ["over TLS", {}],
  ["over plain HTTP", { tls: false }],
])("a web page %s", (_how, options) => {
  let cluster: Cluster;
  const own = () => `127.0.0.1:${cluster.port}`;
  beforeAll(async () => {
    cluster = await furnished({ ...options, anonymous: "admin" });
  });
  afterAll(() => cluster.stop());

  it("of another site cannot write, whatever type it gives its request", async () => {
    for (const type of [undefined, "text/plain", "application/json", "application/x-www-form-urlencoded"]) {
      const headers = { origin: "https://evil.example", ...(type && { "content-type": type }) };
      expect(await visit(cluster, CONFIG_MAPS, { method: "POST", headers, body: configMap("evil") })).toEqual({
        status: 403,
        told: 'forbidden: a web page of "https://evil.example" sent this request, and pages of other sites may not use this API server: use a program with the kubeconfig instead',
      });
    }
    expect(await names(cluster)).toEqual(["kube-root-ca.crt"]);
  });

  it.each([
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "null" },
    { origin: "http://127.0.0.1:5173" },
    { origin: "http://localhost:3000", "sec-fetch-site": "same-site" },
  ])("that sends %j neither reads nor deletes, nor is it told what it may send", async (headers) => {
    expect((await visit(cluster, SECRETS, { headers })).status).toBe(403);
    expect((await visit(cluster, `${SECRETS}/safe`, { method: "DELETE", headers })).status).toBe(403);
    expect((await visit(cluster, SECRETS, { method: "OPTIONS", headers })).status).toBe(403);
    expect((await visit(cluster, "/version", { headers })).status).toBe(403);
    expect((await call(cluster, "GET", `${SECRETS}/safe`)).status).toBe(200);
  });

  it("of another site cannot run a command in a pod, not even with a token", async () => {
    const headers = { ...WEBSOCKET, origin: "https://evil.example", authorization: `Bearer ${cluster.token}` };
    expect((await visit(cluster, EXEC, { headers })).status).toBe(403);
  });

  it("is not what a program is that names the server as its origin, or an address that somebody typed", async () => {
    const origin = `${new URL(cluster.url).protocol}//${own()}`;
    expect((await visit(cluster, EXEC, { headers: { ...WEBSOCKET, origin } })).status).toBe(101);
    expect((await visit(cluster, "/version", { headers: { "sec-fetch-site": "none" } })).status).toBe(200);
  });
});

describe("over plain HTTP, a host name", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await furnished({ tls: false, anonymous: "admin" });
  });
  afterAll(() => cluster.stop());

  it("that a page has pointed here gets nothing: it need not be foreign to what it serves", async () => {
    const host = `evil.example:${cluster.port}`;
    const headers = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
    expect(await visit(cluster, SECRETS, { headers })).toEqual({
      status: 403,
      told: `forbidden: this API server does not answer to the host "${host}", which a web page could have pointed here: use its address, as in the kubeconfig`,
    });
    expect((await visit(cluster, EXEC, { headers: { ...headers, ...WEBSOCKET } })).status).toBe(403);
    expect((await visit(cluster, "/healthz", { headers: { host } })).status).toBe(403);
  });

  it.each(["127.0.0.1", "localhost", "[::1]", "kubernetes", "kubernetes.default.svc", "192.168.0.7"])(
    "%s is fine",
    async (name) => {
      for (const host of [name, `${name}:${cluster.port}`]) {
        expect((await visit(cluster, SECRETS, { headers: { host } })).status).toBe(200);
      }
    },
  );

  it("that the cluster was told to listen on is fine", async () => {
    await using named = await Cluster.start({ tls: false, host: "localhost" });
    expect((await visit(named, "/healthz", { headers: { host: `localhost:${named.port}` } })).status).toBe(200);
  });
});

describe("a body without a type, or with one that any page may send", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await furnished({});
  });
  afterAll(() => cluster.stop());

  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];

  it.each(types)("is refused as %s", async (type) => {
    const told = `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf`;
    for (const [method, path] of [
      ["POST", CONFIG_MAPS],
      ["PUT", `${CONFIG_MAPS}/a`],
      ["DELETE", `${CONFIG_MAPS}/a`],
      ["POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"],
    ] as const) {
      const answer = await call(cluster, method, path, { type, body: configMap("a") });
      expect([method, answer.status, answer.body.message]).toEqual([method, 415, told]);
    }
    const patch = await call(cluster, "PATCH", `${CONFIG_MAPS}/a`, { type, body: "{}" });
    expect(patch.status).toBe(415);
  });

  it("counts as JSON without one, as at a real server", async () => {
    const headers = { authorization: `Bearer ${cluster.token}` };
    const create = { method: "POST", headers, body: configMap("untyped") };
    expect((await visit(cluster, CONFIG_MAPS, create)).status).toBe(201);
  });
});
