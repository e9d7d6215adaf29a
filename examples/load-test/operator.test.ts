import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Harness, startHarness } from "@lotse/testing";
import { type Client, Pod, Service } from "lotse/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import operator, { LoadTest } from "./operator.ts";
import { summary } from "./runner.ts";
import { createSample, scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("a load test whose pods really run", { timeout: 300_000 }, () => {
  let harness: Harness;
  let client: Client;
  let server: Server;
  let asked: string[];
  /** Nobody is answered before. */
  let opened: Promise<void>;

  beforeEach(async () => {
    asked = [];
    opened = Promise.resolve();
    server = createServer(async (request, response) => {
      await opened;
      asked.push(`${request.method} ${request.headers.host} ${request.url}`);
      response.statusCode = request.url === "/" ? 200 : 404;
      response.end("moin");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    harness = await startHarness(operator, { kubelet: "process" });
    ({ client } = harness);
  }, 300_000);

  afterEach(async () => {
    await harness.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** The server of this test under the name that the sample has: behind it a pod that does nothing by itself. */
  async function serveNginx(): Promise<void> {
    const labels = { app: "nginx" };
    const { port: targetPort } = server.address() as AddressInfo;
    const spec = { selector: labels, ports: [{ port: 80, targetPort }] };
    await client.create(new Service({ metadata: { name: "nginx" }, spec }));
    const pod = await client.create(Pod.gen({ name: "nginx", labels, image: "nginx" }));
    await pod.waitReady({ timeout: "60s" });
  }

  const reaches = async (
    test: InstanceType<typeof LoadTest>,
    state: "executing" | "finished" | "failed",
    tested = 1,
  ) => {
    await harness.until(LoadTest, test.name, { status: { state, tested } }, { timeout: "170s" });
    await test.refresh();
  };

  it("sends the sample's requests to the Service nginx, and tells what came of them", async () => {
    await serveNginx();
    let open = () => {};
    opened = new Promise((resolve) => {
      open = resolve;
    });
    const test = await createSample(client);
    await reaches(test, "executing");
    open();
    await reaches(test, "finished");
    expect(asked).toEqual(Array.from({ length: 50 }, () => "GET nginx /"));
    expect(test.status).toMatchObject({ requests: 50, failures: 0, p50: expect.stringMatching(/^[\d.]+ ms$/) });
    const states = harness.cluster.history("LoadTest", "default", "example-02").map(({ object }) => {
      return (object.status as { state?: string } | undefined)?.state;
    });
    expect([...new Set(states)].filter(Boolean)).toEqual(["pending", "executing", "finished"]);
  });

  it("begins again when it is changed, and counts what was answered with an error", async () => {
    await serveNginx();
    const test = await createSample(client);
    await reaches(test, "finished");
    await test.patch({ spec: { replicas: 1, test: { path: "/missing" } } });
    await reaches(test, "finished", 2);
    expect(test.status).toMatchObject({ requests: 10, failures: 10, children: ["example-02-2-0"] });
    const left = await client.list(Pod, { labelSelector: { app: "loadtest" } }).toArray();
    expect(left.map(({ name }) => name)).toEqual(["example-02-2-0"]);
  });

  it("fails when nobody answers, and its pods tell why", async () => {
    const test = await createSample(client);
    await reaches(test, "failed");
    const [pod = ""] = /^\S+/.exec(test.status?.message ?? "") ?? [];
    const text = await (await client.get(Pod, pod)).logs().text();
    expect(text).toMatch(/^http:\/\/nginx\/ does not answer: getaddrinfo \w+ nginx\n$/);
  });

  it("ends its pods when it is deleted in the middle", async () => {
    await serveNginx();
    opened = new Promise(() => {});
    const test = await createSample(client);
    await test.patch({ spec: { test: { repeat: 100_000 } } });
    await reaches(test, "executing", 2);
    await test.delete({ wait: true });
    const left = () => client.list(Pod, { labelSelector: { app: "loadtest" } }).toArray();
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 170_000 });
  });
});

describe("samples", () => {
  it("amount to requests, failures and percentiles of those that succeeded", () => {
    const samples = [...Array.from({ length: 99 }, (_, i) => i + 1), null, 250.04];
    expect(summary(samples)).toEqual({ requests: 101, failures: 1, p50: "51 ms", p99: "250 ms" });
    expect(summary([null])).toEqual({ requests: 1, failures: 1, p50: "0 ms", p99: "0 ms" });
  });
});
