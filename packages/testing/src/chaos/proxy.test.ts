import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as http from "node:http";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Client, ConfigMap, ConflictError, Pod } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { EventReader } from "./events.ts";
import { expiredEvent } from "./faults.ts";
import { type ChaosEvent, ChaosProxy } from "./proxy.ts";

async function stage(options: Parameters<typeof Cluster.start>[0] = { tls: false }) {
  const cluster = await Cluster.start(options);
  onTestFinished(() => cluster.stop());
  const events: ChaosEvent[] = [];
  const proxy = await ChaosProxy.open({ kubeconfig: cluster.kubeconfig }, { onEvent: (event) => events.push(event) });
  onTestFinished(() => proxy.close());
  // No credentials: the proxy has those of the kubeconfig.
  const client = await Client.connect({ url: proxy.url });
  onTestFinished(() => client.close());
  return { cluster, proxy, client, events };
}

/** A server that answers as it is told. */
async function server(listener: http.RequestListener): Promise<string> {
  const own = http.createServer(listener);
  own.listen(0, "127.0.0.1");
  await once(own, "listening");
  onTestFinished(() => {
    own.closeAllConnections();
    own.close();
  });
  return `http://127.0.0.1:${(own.address() as { port: number }).port}`;
}

describe("a chaos proxy", () => {
  it("passes everything on while no rule says otherwise, over TLS and with a client certificate", async () => {
    const { client, events, cluster } = await stage({ rbac: true });
    expect(cluster.url).toMatch(/^https:/);
    await client.create(ConfigMap.gen({ name: "one", data: { a: "1" } }));
    expect((await client.get(ConfigMap, "one")).body.data).toEqual({ a: "1" });
    const told = events.flatMap((event) => (event.type === "answer" ? [`${event.request.label} ${event.status}`] : []));
    expect(told).toContain("create configmaps/one 201");
  });

  it("gets another token from the plugin of the kubeconfig when the server refuses the first", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-chaos-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const program = path.join(folder, "plugin.mjs");
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from "node:fs";
       const token = existsSync("${folder}/asked") ? "new" : "old";
       writeFileSync("${folder}/asked", "");
       console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } }));`,
    );
    const seen: (string | undefined)[] = [];
    const url = await server((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(request.headers.authorization === "Bearer new" ? 200 : 401).end("{}");
    });
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [program],
      interactiveMode: "Never",
    };
    const kubeconfig = {
      clusters: [{ name: "c", cluster: { server: url } }],
      users: [{ name: "u", user: { exec } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await using proxy = await ChaosProxy.open({ kubeconfig });
    const answer = await fetch(`${proxy.url}/version`, { headers: { authorization: "Bearer of-the-operator" } });
    expect(answer.status).toBe(200);
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
  });

  it("speaks TLS with a certificate of its own when it is asked to", async () => {
    const url = await server((_, response) => void response.end("{}"));
    await using proxy = await ChaosProxy.open(url, { tls: true });
    await using client = await Client.connect({ url: proxy.url, ca: proxy.ca });
    expect((await client.raw({ method: "GET", path: "/version" })).status).toBe(200);
    await using stranger = await Client.connect({ url: proxy.url });
    await expect(stranger.raw({ method: "GET", path: "/version" })).rejects.toThrow();
  });

  it("sends the operator's own credentials on where it has none, and serves only who knows its token", async () => {
    const url = await server((request, response) => void response.end(request.headers.authorization ?? "nobody"));
    await using open = await ChaosProxy.open(url);
    const asked = await fetch(`${open.url}/version`, { headers: { authorization: "Bearer mine" } });
    expect(await asked.text()).toBe("Bearer mine");
    await using closed = await ChaosProxy.open(url, { token: "secret" });
    expect((await fetch(`${closed.url}/version`)).status).toBe(401);
    const known = await fetch(`${closed.url}/version`, { headers: { authorization: "Bearer secret" } });
    expect(known.status).toBe(200);
    expect(closed.requests).toHaveLength(1);
  });

  it("passes compressed and binary bodies as they are", async () => {
    const binary = Buffer.from([0x6b, 0x38, 0x73, 0, 0xff, 0xfe, 0x0a, 0x00]);
    const bodies: Buffer[] = [];
    const url = await server(async (request, response) => {
      for await (const chunk of request) bodies.push(chunk as Buffer);
      response.writeHead(200, { "content-type": "application/vnd.kubernetes.protobuf", "content-encoding": "gzip" });
      response.end(gzipSync(binary));
    });
    await using proxy = await ChaosProxy.open(url);
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    const answer = await fetch(`${proxy.url}/api/v1/namespaces/a/pods`, { method: "POST", headers, body: binary });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(binary);
    expect(Buffer.concat(bodies)).toEqual(binary);
  });

  it("refuses, loses and halves what it is told to", async () => {
    const { proxy, client } = await stage();
    const data = { a: "1" };
    proxy.rule = ({ verb, index }) => (verb === "create" && index < 2 ? { type: "answer", status: 409 } : undefined);
    await expect(client.create(ConfigMap.gen({ name: "refused", data }))).rejects.toBeInstanceOf(ConflictError);
    proxy.rule = ({ verb }) => (verb === "create" ? { type: "lose" } : undefined);
    await expect(client.create(ConfigMap.gen({ name: "lost", data }), { retry: false })).rejects.toThrow();
    proxy.rule = ({ verb }) => (verb === "get" ? { type: "halve" } : undefined);
    await expect(client.get(ConfigMap, "lost", { retry: false })).rejects.toThrow();
    proxy.rule = () => undefined;
    expect((await client.get(ConfigMap, "lost")).body.data).toEqual(data);
    expect(proxy.injected).toBe(3);
  });

  it("breaks watches after a while, and says so", async () => {
    const { proxy, client, events } = await stage();
    proxy.rule = ({ verb, index }) => (verb === "watch" && index === 0 ? { type: "cut", afterMs: 1 } : undefined);
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { object } of client.watch(ConfigMap, { signal: stop.signal })) seen.push(object.name);
    })().catch(() => {});
    const faults = () => events.flatMap((event) => (event.type === "fault" ? [event.fault] : []));
    await vi.waitFor(() => expect(faults()).toEqual(["cut"]), { timeout: 30_000 });
    await client.create(ConfigMap.gen({ name: "later" }));
    await vi.waitFor(() => expect(seen).toContain("later"), { timeout: 30_000 });
    stop.abort();
    await following;
    await vi.waitFor(() => expect(events.some(({ type }) => type === "watch ended")).toBe(true), { timeout: 30_000 });
  });

  it("does the same to watches in protobuf", async () => {
    const { proxy, client } = await stage();
    const watch = async (fault: "twice" | "expire") => {
      proxy.rule = ({ verb }) => (verb === "watch" ? { type: "lines", each: () => fault } : undefined);
      const list = (await (await fetch(`${proxy.url}/api/v1/namespaces/default/configmaps`)).json()) as {
        metadata: { resourceVersion: string };
      };
      const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}`;
      const headers = { accept: "application/vnd.kubernetes.protobuf;stream=watch" };
      const answer = await fetch(`${proxy.url}/api/v1/namespaces/default/configmaps?${query}`, { headers });
      await client.create(ConfigMap.gen({ name: `by-${fault}` }));
      const found: Buffer[] = [];
      const reader = new EventReader("frames", (event) => found.push(Buffer.from(event)));
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        reader.push(Buffer.from(chunk));
        if (found.length >= (fault === "twice" ? 2 : 1)) break;
      }
      return found;
    };
    const [first, second] = await watch("twice");
    expect(first).toEqual(second);
    expect(first?.toString("latin1")).toContain("by-twice");
    const [expired] = await watch("expire");
    expect(expired).toEqual(expiredEvent("frames"));
    expect(expired?.toString("latin1")).toContain("Expired");
  });

  it("kills whoever it was told, before or after the cluster has heard of it", async () => {
    const { proxy, client, cluster } = await stage();
    let deaths = 0;
    proxy.kill = async () => void deaths++;
    for (const when of ["before", "after"] as const) {
      proxy.rule = ({ write }) => (write ? { type: "kill", when } : undefined);
      await expect(client.create(ConfigMap.gen({ name: when }), { retry: false })).rejects.toThrow();
    }
    expect(deaths).toBe(2);
    const direct = await cluster.connect();
    onTestFinished(() => direct.close());
    const names = (await direct.list(ConfigMap, { namespace: "default" }).toArray()).map(({ name }) => name);
    expect(names).toContain("after");
    expect(names).not.toContain("before");
  });

  it("lets streams into pods through, and can refuse them", async () => {
    const { proxy, client, cluster } = await stage({ tls: false, kubelet: "simulate" });
    cluster.pods.program({}, { exec: () => ({ stdout: "hello", exitCode: 0 }) });
    const pod = await client.create(Pod.gen({ name: "web", image: "web:1" }));
    await pod.wait("condition=Ready");
    expect((await pod.exec(["greet"])).stdout).toBe("hello");
    expect(proxy.requests.at(-1)).toMatchObject({ verb: "connect", label: "connect pods/web/exec", write: false });
    proxy.rule = ({ verb }) => (verb === "connect" ? { type: "answer", status: 503 } : undefined);
    await expect(pod.exec(["greet"], { retry: false } as object)).rejects.toThrow();
  });

  it("says when the cluster cannot be reached, and breaks off", async () => {
    const events: ChaosEvent[] = [];
    await using proxy = await ChaosProxy.open("http://127.0.0.1:9", { onEvent: (event) => events.push(event) });
    await expect(fetch(`${proxy.url}/version`)).rejects.toThrow();
    expect(events.map(({ type }) => type)).toEqual(["request", "unreachable"]);
  });

  it("breaks off what a rule stumbles over, plain or upgraded, and tells whoever closes it", async () => {
    const proxy = await ChaosProxy.open("http://127.0.0.1:9");
    proxy.rule = () => {
      throw new Error("the rule is wrong");
    };
    await expect(fetch(`${proxy.url}/version`)).rejects.toThrow();
    const asking = http.request(`${proxy.url}/api/v1/namespaces/a/pods/b/exec`, {
      headers: { connection: "upgrade", upgrade: "websocket" },
    });
    const broken = once(asking, "error");
    asking.end();
    await broken;
    await expect(proxy.close()).rejects.toThrow("the rule is wrong");
  });
});
