import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { COMMAND_HEADER, type EndpointsAddress, type Observed, openEndpoints } from "./endpoints.ts";
import type { Explanation } from "./explain.ts";
import type { OperatorHealth } from "./health.ts";
import type { Endpoints } from "./http.ts";

const open: Endpoints[] = [];

afterEach(async () => {
  for (const endpoints of open.splice(0)) await endpoints.close();
});

const WELL: OperatorHealth = { operator: "shop", phase: "ready", streams: [], missing: [] };
const KNOWN: Explanation = {
  operator: "shop",
  object: { apiVersion: "v1", kind: "Pod", namespace: "a", name: "p", deleting: false },
  state: "waits",
  open: [],
  turns: [],
};

function observed(parts: Partial<Observed> & { phase?: OperatorHealth["phase"] } = {}): Observed {
  return {
    health: () => ({ ...WELL, phase: parts.phase ?? "ready" }),
    metrics: () => "a_total 1\n",
    probe: async () => ({ pool: 3 }),
    explain: ({ kind, namespace, name }) => (kind === "pods" && namespace === "a" && name === "p" ? KNOWN : undefined),
    ...parts,
  };
}

/** Where only this machine gets to, and where everybody does. */
const INSIDE: EndpointsAddress = { host: "127.0.0.1", port: 0, questions: true };
const PROBES: EndpointsAddress = { host: "127.0.0.1", port: 0 };

async function serve(operators: readonly Observed[], address: EndpointsAddress = INSIDE) {
  const endpoints = await openEndpoints(address, () => operators);
  open.push(endpoints);
  return async (where: string, init?: RequestInit) => {
    const response = await fetch(`http://127.0.0.1:${endpoints.port}${where}`, init);
    return { status: response.status, text: await response.text() };
  };
}

describe("the endpoints", () => {
  it("say that an operator is alive, with what its probes say", async () => {
    const get = await serve([observed()]);
    expect(await get("/healthz")).toEqual({ status: 200, text: '{"pool":3}\n' });
    expect(await get("/livez")).toMatchObject({ status: 200 });
    expect(JSON.parse((await get("/healthz?verbose")).text)).toEqual({ pool: 3, operators: [WELL] });
  });

  it("serve the liveness path that was asked for", async () => {
    const get = await serve([observed()], { host: "127.0.0.1", port: 0, path: "/alive" });
    expect(await get("/alive")).toMatchObject({ status: 200 });
  });

  it("say why an operator is not alive: it failed, or a probe did", async () => {
    expect(await (await serve([observed(), observed({ phase: "failed" })]))("/healthz")).toEqual({
      status: 503,
      text: "not alive\nshop has failed: for an unknown reason\n",
    });
    const failing = observed({ probe: () => Promise.reject(new Error("the pool is empty")) });
    expect(await (await serve([failing]))("/healthz")).toEqual({
      status: 500,
      text: "a probe failed: the pool is empty\n",
    });
  });

  it("ask no probes of an operator that is starting, because they would wait", async () => {
    const starting = observed({ phase: "starting", probe: () => new Promise(() => {}) });
    expect(await (await serve([starting]))("/healthz")).toEqual({ status: 200, text: "{}\n" });
    expect(await (await serve([starting]))("/readyz")).toEqual({ status: 503, text: "not ready\nshop is starting\n" });
  });

  it("serve the metrics of all operators", async () => {
    const one = await serve([observed()]);
    expect(await one("/metrics")).toEqual({ status: 200, text: "a_total 1\n" });
    const described = (value: number) => `# HELP a_total All.\n# TYPE a_total counter\na_total ${value}\n`;
    const bank = { health: () => ({ ...WELL, operator: "bank" }), metrics: () => described(2) };
    const both = await serve([observed({ metrics: () => described(1) }), observed(bank)]);
    expect((await both("/metrics")).text).toBe(
      '# HELP a_total All.\n# TYPE a_total counter\na_total{operator="shop"} 1\na_total{operator="bank"} 2\n',
    );
  });

  it("say where metrics are that are not for everybody", async () => {
    const get = await serve([observed()], { ...PROBES, metrics: false });
    expect(await get("/metrics")).toEqual({
      status: 404,
      text: "metrics are served where --metrics-auth says, to those who may read them\n",
    });
    expect((await get("/")).text).not.toContain("/metrics");
    expect(await get("/readyz")).toMatchObject({ status: 200 });
  });

  it("explain an object, or say what to ask for", async () => {
    const get = await serve([observed()]);
    const { status, text } = await get("/explain?kind=pods&namespace=a&name=p");
    expect({ status, answer: JSON.parse(text) }).toEqual({ status: 200, answer: { explanations: [KNOWN] } });
    expect(await get("/explain?kind=pods&name=q")).toEqual({ status: 404, text: '{"explanations":[]}\n' });
    expect(await get("/explain")).toMatchObject({ status: 400, text: expect.stringContaining("kind=KIND") });
  });

  it("have handlers tried again for whoever is on the same machine, by no other means than a command", async () => {
    const asked: unknown[] = [];
    const retry: Observed["retry"] = (question) => {
      asked.push(question);
      return question.name === "p" ? { operator: "shop", handlers: ["sell"] } : undefined;
    };
    const get = await serve([observed({ retry }), observed()]);
    const command = { method: "POST", headers: { [COMMAND_HEADER]: "lotse" } };
    const { status, text } = await get("/retry?kind=pods&namespace=a&name=p", command);
    expect({ status, answer: JSON.parse(text) }).toEqual({
      status: 200,
      answer: { retries: [{ operator: "shop", handlers: ["sell"] }] },
    });
    expect(asked).toEqual([{ kind: "pods", namespace: "a", name: "p" }]);
    expect(await get("/retry?kind=pods&name=q", command)).toEqual({ status: 404, text: '{"retries":[]}\n' });
    expect(await get("/retry", command)).toMatchObject({ status: 400, text: expect.stringContaining("kind=KIND") });
    expect(await get("/retry?kind=pods&name=p")).toMatchObject({ status: 405 });
    // A page in a browser can send this, and must not.
    expect(await get("/retry?kind=pods&name=p", { method: "POST" })).toMatchObject({ status: 403 });
    expect(asked).toHaveLength(2);
  });

  it("answer nothing else, and nobody who wants to change something", async () => {
    const get = await serve([observed()]);
    expect(await get("/")).toMatchObject({ status: 404, text: expect.stringContaining("/readyz") });
    expect(await get("/healthz", { method: "POST" })).toMatchObject({ status: 405 });
  });

  it("answer no questions where the kubelet's probes are answered: health and metrics, and no more", async () => {
    const retry = () => expect.unreachable();
    const get = await serve([observed({ retry, explain: retry })], PROBES);
    expect(await get("/status")).toEqual({
      status: 404,
      text: "there is nothing at /status; questions are answered on the operator's own machine alone; there is /healthz, /readyz, /metrics\n",
    });
    expect(await get("/explain?kind=pods&namespace=a&name=p")).toMatchObject({ status: 404 });
    const command = { method: "POST", headers: { [COMMAND_HEADER]: "lotse" } };
    expect(await get("/retry?kind=pods&namespace=a&name=p", command)).toMatchObject({ status: 405 });
    expect(await get("/retry?kind=pods&namespace=a&name=p")).toMatchObject({ status: 404 });
    // What /status tells is not told by another path either.
    expect(await get("/healthz?verbose")).toEqual({ status: 200, text: '{"pool":3}\n' });
    expect(await get("/readyz")).toMatchObject({ status: 200 });
    expect(await get("/metrics")).toMatchObject({ status: 200 });
  });

  it("answer no page in a browser of the same machine", async () => {
    await serve([observed()]);
    const { port } = open.at(-1) as Endpoints;
    const status = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        request({ port, host: "127.0.0.1", path: "/status", headers }, (answer) => resolve(answer.resume().statusCode))
          .on("error", reject)
          .end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ host: `localhost:${port}` })).toBe(200);
    expect(await status({ host: `[::1]:${port}` })).toBe(200);
    // By a name that leads here, as DNS rebinding makes one.
    expect(await status({ host: `page.example.com:${port}` })).toBe(403);
    expect(await status({ origin: "http://page.example.com" })).toBe(403);
    expect(await status({ "sec-fetch-site": "cross-site" })).toBe(403);
  });

  it("reject when the port is taken", async () => {
    const first = await openEndpoints({ host: "127.0.0.1", port: 0 }, () => []);
    open.push(first);
    await expect(openEndpoints({ host: "127.0.0.1", port: first.port }, () => [])).rejects.toThrow("EADDRINUSE");
  });

  it("listen on a socket too", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-socket-"));
    try {
      const socket = path.join(folder, "a.sock");
      open.push(await openEndpoints({ socket }, () => [observed()]));
      const status = await new Promise((resolve, reject) => {
        request({ socketPath: socket, path: "/readyz" }, (response) => resolve(response.resume().statusCode))
          .on("error", reject)
          .end();
      });
      expect(status).toBe(200);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
