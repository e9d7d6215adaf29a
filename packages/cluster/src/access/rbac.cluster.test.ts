import { mkdtemp, rm } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, ForbiddenError, type Kubeconfig, Pod, ServiceAccount } from "@lotse/client";
import { CertificateAuthority } from "@lotse/client/certificates";
import { VirtualClock } from "@lotse/client/meta";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { type Answer, APPLY, CONFIG_MAPS, call, MERGE } from "../test-requests.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

const rule = (verbs: string[], resources: string[], apiGroups = [""]) => ({ verbs, apiGroups, resources });
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, roleName: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
  subjects,
});
const user = (name: string) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });

/** Sends a request by a user's token, or by the administrator who acts as that user. */
const by = (cluster: Cluster, token: string) => (method: string, path: string, body?: unknown) =>
  call(cluster, method, path, { body, headers: { authorization: `Bearer ${token}` } });
const as = (cluster: Cluster, name: string) => (method: string, path: string, body?: unknown, type?: string) =>
  call(cluster, method, path, { body, ...(type ? { type } : {}), headers: { "impersonate-user": name } });

async function must(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  expect(status, text).toBeLessThan(300);
  return answer;
}

async function makeAccount(cluster: Cluster, name: string): Promise<string> {
  await must(call(cluster, "POST", ACCOUNTS, { body: { metadata: { name } } }));
  const answer = await must(call(cluster, "POST", `${ACCOUNTS}/${name}/token`, { body: {} }));
  return answer.body.status.token;
}

describe("a cluster with roles", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await Cluster.start({ rbac: true });
  });

  afterAll(async () => {
    await cluster.stop();
  });

  it("lets a service account do what its role says and nothing else", async () => {
    const send = by(cluster, await makeAccount(cluster, "robot"));
    await must(call(cluster, "POST", ROLES, { body: role("robot", rule(["get", "list", "create"], ["configmaps"])) }));
    const subject = { kind: "ServiceAccount", name: "robot", namespace: "default" };
    await must(call(cluster, "POST", BINDINGS, { body: binding("robot", "Role", "robot", subject) }));
    await must(send("POST", CONFIG_MAPS, { metadata: { name: "made-by-robot" } }));
    await must(send("GET", `${CONFIG_MAPS}/made-by-robot`));
    await must(send("GET", CONFIG_MAPS));
    const robot = 'User "system:serviceaccount:default:robot"';
    const refusals: [method: string, path: string, message: string][] = [
      [
        "DELETE",
        `${CONFIG_MAPS}/made-by-robot`,
        `configmaps "made-by-robot" is forbidden: ${robot} cannot delete resource "configmaps" in API group "" in the namespace "default"`,
      ],
      [
        "DELETE",
        CONFIG_MAPS,
        `configmaps is forbidden: ${robot} cannot deletecollection resource "configmaps" in API group "" in the namespace "default"`,
      ],
      [
        "GET",
        `${CONFIG_MAPS}?watch=1`,
        `configmaps is forbidden: ${robot} cannot watch resource "configmaps" in API group "" in the namespace "default"`,
      ],
      [
        "GET",
        "/api/v1/configmaps",
        `configmaps is forbidden: ${robot} cannot list resource "configmaps" in API group "" at the cluster scope`,
      ],
      [
        "GET",
        "/api/v1/namespaces/kube-system/configmaps",
        `configmaps is forbidden: ${robot} cannot list resource "configmaps" in API group "" in the namespace "kube-system"`,
      ],
      [
        "GET",
        "/apis/apps/v1/namespaces/default/deployments/web/scale",
        `deployments.apps "web" is forbidden: ${robot} cannot get resource "deployments/scale" in API group "apps" in the namespace "default"`,
      ],
      [
        "GET",
        "/api/v1/namespaces/default",
        `namespaces "default" is forbidden: ${robot} cannot get resource "namespaces" in API group "" in the namespace "default"`,
      ],
      ["GET", "/metrics", `forbidden: ${robot} cannot get path "/metrics"`],
    ];
    for (const [method, path, message] of refusals) {
      const { status, body } = await send(method, path);
      expect({ status, reason: body.reason, message: body.message }).toEqual({
        status: 403,
        reason: "Forbidden",
        message,
      });
    }
    const { body } = await send("GET", `${CONFIG_MAPS}?fieldSelector=metadata.name%3Da&watch=1`);
    expect(body.details).toEqual({ name: "a", kind: "configmaps" });
  });

  it("treats requests without credentials as nobody's", async () => {
    const send = (path: string) => call(cluster, "GET", path, { headers: { authorization: "" } });
    expect((await send("/version")).status).toBe(200);
    expect((await send("/api")).body.message).toBe('forbidden: User "system:anonymous" cannot get path "/api"');
    expect((await call(cluster, "GET", "/version", { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("tells which bindings lead nowhere", async () => {
    await must(call(cluster, "POST", BINDINGS, { body: binding("lost", "ClusterRole", "nowhere", user("lou")) }));
    const { body } = await as(cluster, "lou")("GET", CONFIG_MAPS);
    expect(body.message).toBe(
      'configmaps is forbidden: User "lou" cannot list resource "configmaps" in API group "" in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "nowhere" not found',
    );
  });

  it("collects the rules of aggregated roles", async () => {
    const view = await must(call(cluster, "GET", `${RBAC}/clusterroles/view`));
    expect(view.body.rules.length).toBeGreaterThan(5);
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    const body = { metadata: { name: "view-widgets", labels }, rules: [rule(["get"], ["widgets"], ["example.com"])] };
    await must(call(cluster, "POST", `${RBAC}/clusterroles`, { body }));
    await cluster.settle();
    for (const name of ["view", "edit", "admin"]) {
      const { rules } = (await call(cluster, "GET", `${RBAC}/clusterroles/${name}`)).body;
      expect(rules).toContainEqual(rule(["get"], ["widgets"], ["example.com"]));
    }
    await must(call(cluster, "DELETE", `${RBAC}/clusterroles/view-widgets`));
    await cluster.settle();
    const { rules } = (await call(cluster, "GET", `${RBAC}/clusterroles/admin`)).body;
    expect(JSON.stringify(rules)).not.toContain("widgets");
  });

  it("keeps people from giving away what they do not have", async () => {
    const verbs = ["get", "create", "update", "patch"];
    const writer = role("writer", rule(verbs, ["roles", "rolebindings"], ["rbac.authorization.k8s.io"]));
    await must(call(cluster, "POST", ROLES, { body: writer }));
    await must(call(cluster, "POST", BINDINGS, { body: binding("writer", "Role", "writer", user("wanda")) }));
    const send = as(cluster, "wanda");
    const refused = await send(
      "POST",
      ROLES,
      role("more", rule(["get", "list"], ["pods"]), rule(["get"], ["secrets"])),
    );
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "wanda" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    );
    const bound = await send("POST", BINDINGS, binding("more", "ClusterRole", "cluster-admin", user("wanda")));
    expect(bound.body.message).toContain('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
    await must(send("POST", ROLES, role("same", writer.rules[0] as object)));
    const patched = await send("PATCH", `${ROLES}/same`, { rules: [rule(["delete"], ["pods"])] }, MERGE);
    expect(patched.status).toBe(403);
    await must(send("PATCH", `${ROLES}/same`, { metadata: { finalizers: ["example.com/x"] } }, MERGE));

    const free = role(
      "free",
      rule(["escalate"], ["roles"], ["rbac.authorization.k8s.io"]),
      rule(["bind"], ["clusterroles"], ["rbac.authorization.k8s.io"]),
    );
    await must(call(cluster, "POST", ROLES, { body: free }));
    await must(call(cluster, "POST", BINDINGS, { body: binding("free", "Role", "free", user("wanda")) }));
    await must(send("POST", ROLES, role("more", rule(["get"], ["secrets"]))));
    await must(send("POST", BINDINGS, binding("more", "ClusterRole", "cluster-admin", user("wanda"))));
  });

  it("lets only administrators use aggregation rules", async () => {
    const body = role("cluster-maker", rule(["create"], ["clusterroles"], ["rbac.authorization.k8s.io"]));
    await must(call(cluster, "POST", `${RBAC}/clusterroles`, { body }));
    const maker = binding("cluster-maker", "ClusterRole", "cluster-maker", user("mona"));
    await must(call(cluster, "POST", `${RBAC}/clusterrolebindings`, { body: maker }));
    const answer = await as(cluster, "mona")("POST", `${RBAC}/clusterroles`, {
      metadata: { name: "greedier" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
    });
    expect(answer.body.message).toBe(
      'clusterroles.rbac.authorization.k8s.io "greedier" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
  });

  it("wants the right to create from those whose update creates", async () => {
    await must(call(cluster, "POST", ROLES, { body: role("patcher", rule(["patch"], ["configmaps"])) }));
    await must(call(cluster, "POST", BINDINGS, { body: binding("patcher", "Role", "patcher", user("pat")) }));
    const apply = () =>
      call(cluster, "PATCH", `${CONFIG_MAPS}/applied?fieldManager=pat`, {
        type: APPLY,
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" } },
        headers: { "impersonate-user": "pat" },
      });
    expect((await apply()).body.message).toBe(
      'configmaps "applied" is forbidden: User "pat" cannot create resource "configmaps" in API group "" in the namespace "default"',
    );
    await must(call(cluster, "POST", CONFIG_MAPS, { body: { metadata: { name: "applied" } } }));
    await must(apply());
  });

  it("answers reviews by the same rules", async () => {
    const resourceAttributes = { verb: "list", resource: "pods", namespace: "default" };
    await must(call(cluster, "POST", BINDINGS, { body: binding("vic", "ClusterRole", "view", user("vic")) }));
    const reviews = "/apis/authorization.k8s.io/v1";
    const own = await as(cluster, "vic")("POST", `${reviews}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes },
    });
    expect(own.body.status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "vic/default" of ClusterRole "view" to User "vic"',
    });
    const spec = { user: "vic", resourceAttributes: { ...resourceAttributes, verb: "create" } };
    const other = await call(cluster, "POST", `${reviews}/subjectaccessreviews`, { body: { spec } });
    expect(other.body.status).toEqual({ allowed: false });
    const local = await call(cluster, "POST", `${reviews}/namespaces/default/localsubjectaccessreviews`, {
      body: { spec: { user: "vic", resourceAttributes } },
    });
    expect(local.body.status.allowed).toBe(true);
    const rules = await as(cluster, "vic")("POST", `${reviews}/selfsubjectrulesreviews`, {
      spec: { namespace: "default" },
    });
    const { resourceRules, nonResourceRules, incomplete } = rules.body.status;
    expect(incomplete).toBe(false);
    expect(resourceRules.some(({ resources }: { resources: string[] }) => resources.includes("pods"))).toBe(true);
    expect(
      nonResourceRules.some((one: { nonResourceURLs: string[] }) => one.nonResourceURLs.includes("/version")),
    ).toBe(true);
  });

  it("lets those impersonate who may, and logs both", async () => {
    const body = role("actor", rule(["impersonate"], ["users"]));
    await must(call(cluster, "POST", `${RBAC}/clusterroles`, { body }));
    const bound = binding("actor", "ClusterRole", "actor", user("act"));
    await must(call(cluster, "POST", `${RBAC}/clusterrolebindings`, { body: bound }));
    const client = await cluster.connect({ kubeconfig: withAs(cluster.kubeconfigFor({ user: "act" }), "vera") });
    await expect(client.get(ConfigMap, "x")).rejects.toThrow('User "vera" cannot get resource "configmaps"');
    await client.close();
    const [entry] = cluster.requests.filter({ impersonatedUser: "vera" });
    expect(entry).toMatchObject({ user: "act", verb: "get", status: 403 });
  });
});

function withAs(kubeconfig: Kubeconfig, name: string): Kubeconfig {
  for (const entry of kubeconfig.users ?? []) entry.user.as = name;
  return kubeconfig;
}

describe("identities", () => {
  it("are client certificates with groups", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    const kubeconfig = cluster.kubeconfigFor({ user: "jane", groups: ["developers", "testers"] });
    await using client = await cluster.connect({ kubeconfig });
    const who = await client.whoami();
    expect(who).toMatchObject({ username: "jane", groups: ["developers", "testers", "system:authenticated"] });
    await expect(client.get(ConfigMap, "x")).rejects.toBeInstanceOf(ForbiddenError);
  });

  it("that another authority certified are refused", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    const stranger = new CertificateAuthority("strange-ca", Date.now());
    const { certPem, keyPem } = stranger.issue({
      commonName: "jane",
      organizations: ["system:masters"],
      usage: "client",
    });
    const status = await new Promise((resolve, reject) => {
      const options = { ca: cluster.caPem, cert: certPem, key: keyPem, agent: false };
      const request = httpsRequest(`${cluster.url}/version`, options, (response) => resolve(response.statusCode));
      request.on("error", reject);
      request.end();
    });
    expect(status).toBe(401);
  });

  it("are tokens over plain HTTP", async () => {
    await using cluster = await Cluster.start({ rbac: true, tls: false });
    await using client = await cluster.connect({ kubeconfig: cluster.kubeconfigFor({ user: "jane" }) });
    await expect(client.get(ConfigMap, "x")).rejects.toThrow('User "jane" cannot get resource "configmaps"');
  });

  it("can be service accounts that exist", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    const kubeconfig = cluster.kubeconfigFor({ serviceAccount: "kube-system/default" });
    await using client = await cluster.connect({ kubeconfig });
    expect(client.namespace).toBe("kube-system");
    await expect(client.get(ConfigMap, "x")).rejects.toThrow('User "system:serviceaccount:kube-system:default"');
    expect(() => cluster.kubeconfigFor({ serviceAccount: "default/nobody" })).toThrow(
      'There is no service account "default/nobody".',
    );
  });

  it("may do everything in a cluster without roles", async () => {
    await using cluster = await Cluster.start();
    await using client = await cluster.connect({ kubeconfig: cluster.kubeconfigFor({ user: "jane" }) });
    await client.create(ConfigMap.gen({ name: "by-jane" }));
    const read = (headers: Record<string, string>) => call(cluster, "GET", CONFIG_MAPS, { headers });
    expect((await read({ "impersonate-user": "joe" })).status).toBe(200);
    // A client without credentials is not trusted, nor the administrator who acts as one.
    expect((await read({ authorization: "" })).status).toBe(403);
    expect((await read({ "impersonate-user": "system:anonymous" })).status).toBe(403);
    const { body } = await call(cluster, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      body: {},
      headers: { "impersonate-user": "joe" },
    });
    expect(body.status.userInfo).toEqual({ username: "joe", groups: ["system:authenticated"] });
  });
});

describe("tokens by request", () => {
  it("last as long as they say by the cluster's clock", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ clock });
    await must(call(cluster, "POST", ACCOUNTS, { body: { metadata: { name: "robot" } } }));
    const short = await call(cluster, "POST", `${ACCOUNTS}/robot/token`, {
      body: { spec: { expirationSeconds: 599 } },
    });
    expect(short.body.message).toBe(
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    );
    const answer = await must(
      call(cluster, "POST", `${ACCOUNTS}/robot/token`, { body: { spec: { expirationSeconds: 600 } } }),
    );
    expect(answer.body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "robot", namespace: "default" },
      spec: { expirationSeconds: 600 },
      status: { expirationTimestamp: "2026-01-01T00:10:00Z" },
    });
    const send = by(cluster, answer.body.status.token);
    expect((await send("GET", CONFIG_MAPS)).status).toBe(200);
    await clock.advance(661_000);
    expect((await send("GET", CONFIG_MAPS)).status).toBe(401);
    const review = await call(cluster, "POST", TOKEN_REVIEWS, { body: { spec: { token: answer.body.status.token } } });
    expect(review.body.status).toEqual({
      user: {},
      error: "[invalid bearer token, service account token has expired]",
    });
  });

  it("are known again by reviews, with their audiences", async () => {
    await using cluster = await Cluster.start();
    const token = await makeAccount(cluster, "robot");
    const { body } = await call(cluster, "POST", TOKEN_REVIEWS, { body: { spec: { token } } });
    expect(body.status).toMatchObject({
      authenticated: true,
      audiences: ["https://kubernetes.default.svc.cluster.local"],
      user: { username: "system:serviceaccount:default:robot" },
    });
    const other = await call(cluster, "POST", TOKEN_REVIEWS, { body: { spec: { token, audiences: ["vault"] } } });
    expect(other.body.status.authenticated).toBeUndefined();
  });

  it("are bound to pods that run as the account", async () => {
    await using cluster = await Cluster.start();
    await using client = await cluster.connect();
    await client.create(Pod.gen({ name: "p", image: "x" }));
    await client.create(new ServiceAccount({ metadata: { name: "robot" } }));
    const ask = (account: string) =>
      call(cluster, "POST", `${ACCOUNTS}/${account}/token`, {
        body: { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } } },
      });
    expect((await ask("robot")).body.message).toBe(
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    );
    const { token } = (await must(ask("default"))).body.status;
    expect((await by(cluster, token)("GET", CONFIG_MAPS)).status).toBe(200);
    await client.delete(Pod, "p");
    expect((await by(cluster, token)("GET", CONFIG_MAPS)).status).toBe(401);
  });

  it("survive a restart of a cluster that is kept", async () => {
    const data = await mkdtemp(join(tmpdir(), "lotse-access-"));
    try {
      const first = await Cluster.start({ data, rbac: true });
      const token = await makeAccount(first, "robot");
      await first.stop();
      await using second = await Cluster.start({ data, rbac: true });
      expect((await by(second, token)("GET", "/apis")).status).toBe(200);
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  });

  it("can be checked by programs that know the issuer", async () => {
    await using cluster = await Cluster.start();
    const config = await call(cluster, "GET", "/.well-known/openid-configuration");
    expect(config.body.jwks_uri).toBe(`${cluster.url}/openid/v1/jwks`);
    const keys = await call(cluster, "GET", "/openid/v1/jwks", { headers: { accept: "*/*" } });
    expect(keys.headers["content-type"]).toBe("application/jwk-set+json");
    expect(keys.body.keys[0]).toMatchObject({ use: "sig", kty: "EC", alg: "ES256" });
  });
});

describe("secrets of service accounts", () => {
  const SECRETS = "/api/v1/namespaces/default/secrets";
  const secret = (name: string, account: string) => ({
    metadata: { name, annotations: { "kubernetes.io/service-account.name": account } },
    type: "kubernetes.io/service-account-token",
  });

  it("get a token that lasts as long as they do", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    await must(call(cluster, "POST", SECRETS, { body: secret("lasting", "default") }));
    await cluster.settle();
    const { body } = await must(call(cluster, "GET", `${SECRETS}/lasting`));
    const data = (key: string) => Buffer.from(body.data[key], "base64").toString();
    expect(data("namespace")).toBe("default");
    expect(data("ca.crt")).toBe(cluster.caPem);
    expect(body.metadata.annotations["kubernetes.io/service-account.uid"]).toMatch(/^[0-9a-f-]{36}$/);
    const send = by(cluster, data("token"));
    expect((await send("GET", CONFIG_MAPS)).body.message).toContain("system:serviceaccount:default:default");
    await must(call(cluster, "DELETE", `${SECRETS}/lasting`));
    expect((await send("GET", CONFIG_MAPS)).status).toBe(401);
  });

  it("go with their account, and when there is none", async () => {
    await using cluster = await Cluster.start();
    await must(call(cluster, "POST", ACCOUNTS, { body: { metadata: { name: "robot" } } }));
    await must(call(cluster, "POST", SECRETS, { body: secret("robots", "robot") }));
    await must(call(cluster, "POST", SECRETS, { body: secret("nobodys", "nobody") }));
    await cluster.settle();
    expect((await call(cluster, "GET", `${SECRETS}/nobodys`)).status).toBe(404);
    expect((await call(cluster, "GET", `${SECRETS}/robots`)).status).toBe(200);
    await must(call(cluster, "DELETE", `${ACCOUNTS}/robot`));
    await cluster.settle();
    expect((await call(cluster, "GET", `${SECRETS}/robots`)).status).toBe(404);
  });

  it("stay empty where nobody fills them", async () => {
    await using cluster = await Cluster.start({ controllers: { serviceAccountTokens: false } });
    await must(call(cluster, "POST", SECRETS, { body: secret("empty", "default") }));
    await cluster.settle();
    expect((await call(cluster, "GET", `${SECRETS}/empty`)).body.data).toBeUndefined();
  });
});

describe("pods", () => {
  it("run as a service account, whose token they mount", async () => {
    await using cluster = await Cluster.start();
    await using client = await cluster.connect();
    const { spec } = (await client.create(Pod.gen({ name: "p", image: "x" }))).raw;
    const [volume] = spec?.volumes ?? [];
    expect(spec?.serviceAccountName).toBe("default");
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(volume?.projected?.sources).toHaveLength(3);
    expect(spec?.containers[0]?.volumeMounts).toEqual([
      { name: volume?.name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ]);
  });

  it("mount none where nobody wants it", async () => {
    await using cluster = await Cluster.start();
    await using client = await cluster.connect();
    const account = {
      metadata: { name: "quiet" },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: "s" }],
    };
    await client.create(new ServiceAccount(account));
    const make = async (name: string, more: object) => {
      const body = { metadata: { name }, spec: { containers: [{ name: "c", image: "x" }], ...more } };
      return (await client.create(new Pod(body))).raw.spec;
    };
    const quiet = await make("a", { serviceAccountName: "quiet" });
    expect(quiet?.volumes).toBeUndefined();
    expect(quiet?.imagePullSecrets).toEqual([{ name: "s" }]);
    expect((await make("b", { automountServiceAccountToken: false }))?.volumes).toBeUndefined();
    await expect(make("c", { serviceAccountName: "nobody" })).rejects.toThrow(
      'pods "c" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
    );
  });
});
