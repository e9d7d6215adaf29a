import { request } from "node:https";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Logger, type LogRecord, type Observed } from "../../report/index.ts";
import { metricsAddress, serveMetrics } from "./metrics.ts";

const OBSERVED: Observed = {
  health: () => ({ operator: "shop", phase: "ready", streams: [], missing: [] }),
  metrics: () => "a_total 1\n",
  probe: async () => ({}),
  explain: () => undefined,
};

describe("--metrics-auth", () => {
  it.each([
    ["https://0.0.0.0:8443", { host: "0.0.0.0", port: 8443, secure: true }],
    ["https://[::]", { host: "::", port: 443, secure: true }],
    ["http://127.0.0.1:9090/metrics", { host: "127.0.0.1", port: 9090, secure: false }],
  ])("%s is an address", (url, address) => {
    expect(metricsAddress(url)).toEqual(address);
  });

  it.each([
    ["8443", "--metrics-auth 8443 is no address to listen on"],
    ["ftp://0.0.0.0:1", "--metrics-auth ftp://0.0.0.0:1 is no address to listen on"],
    ["https://0.0.0.0:8443/all", "--metrics-auth https://0.0.0.0:8443/all has a path"],
  ])("%s is none, and what is is said", (url, message) => {
    expect(() => metricsAddress(url)).toThrow(message);
  });

  it("is refused where lotse run has no credentials to ask with", async () => {
    const logger = new Logger(
      () => {},
      () => 0,
    );
    await expect(serveMetrics("https://127.0.0.1:0", undefined, logger, () => [])).rejects.toMatchObject({
      message: "--metrics-auth needs credentials to ask the cluster with",
    });
  });
});

describe("metrics on a cluster where roles decide", () => {
  let cluster: Cluster;
  const lines: LogRecord[] = [];
  const logger = new Logger(
    (line) => lines.push(line),
    () => 0,
  );

  beforeAll(async () => {
    cluster = await Cluster.start({ rbac: true });
    const admin = await cluster.connect();
    const binding = (name: string, role: string, account: string) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: "default" }],
    });
    const role = (name: string, rules: object[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name },
      rules,
    });
    const reviews = [
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
    ];
    const account = (name: string) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
    for (const manifest of [
      ...["operator", "prometheus", "stranger", "powerless"].map(account),
      role("asks", reviews),
      role("reader", [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }]),
      binding("asks", "asks", "operator"),
      binding("reader", "reader", "prometheus"),
    ]) {
      await admin.create(manifest);
    }
    await admin.close();
  });

  afterAll(() => cluster?.stop());

  async function served(account: string) {
    const { Client } = await import("@lotse/client");
    const client = await Client.connect({
      kubeconfig: cluster.kubeconfigFor({ serviceAccount: `default/${account}` }),
    });
    const endpoints = await serveMetrics("https://127.0.0.1:0", client, logger, () => [OBSERVED]);
    const get = (path: string, token?: string) =>
      new Promise<{ status: number; text: string; challenge: string | undefined }>((resolve, reject) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        // As Prometheus does with pods.
        const options = { host: "127.0.0.1", port: endpoints.port, path, headers, rejectUnauthorized: false };
        request(options, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => {
            text += part;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, text, challenge: response.headers["www-authenticate"] }),
          );
        })
          .on("error", reject)
          .end();
      });
    return {
      get,
      async [Symbol.asyncDispose]() {
        await endpoints.close();
        await client.close();
      },
    };
  }

  const tokenOf = (account: string) => {
    const { users } = cluster.kubeconfigFor({ serviceAccount: `default/${account}` }) as {
      users: { user: { token: string } }[];
    };
    return users[0]?.user.token ?? "";
  };

  it("are shown by https to whom the cluster lets get /metrics, and to nobody else", async () => {
    await using metrics = await served("operator");
    expect(await metrics.get("/metrics", tokenOf("prometheus"))).toMatchObject({ status: 200, text: "a_total 1\n" });
    expect(await metrics.get("/metrics", tokenOf("stranger"))).toMatchObject({
      status: 403,
      text: "system:serviceaccount:default:stranger may not get the URL /metrics\n",
    });
    expect(await metrics.get("/metrics", "made-up")).toMatchObject({ status: 401, challenge: "Bearer" });
    expect(await metrics.get("/metrics")).toMatchObject({ status: 401, challenge: "Bearer" });
    expect(await metrics.get("/healthz")).toMatchObject({ status: 404 });
  });

  it("are shown to nobody by an operator that may not ask, which says so", async () => {
    await using metrics = await served("powerless");
    expect(await metrics.get("/metrics", tokenOf("prometheus"))).toMatchObject({ status: 503 });
    expect(lines.at(-1)).toMatchObject({
      level: "warn",
      fields: {
        error: expect.stringMatching(/tokenreviews.* is forbidden/),
        hint: expect.stringContaining("--metrics-auth"),
      },
    });
  });
});
