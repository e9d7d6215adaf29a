import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Cluster } from "@lotse/cluster";
import { startHarness } from "@lotse/testing";
import type { RunningOperator } from "lotse";
import { type Client, Pod } from "lotse/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import operator, { LoadTest } from "./operator.ts";
import { summary } from "./runner.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("a load test whose pods really run", () => {
  let cluster: Cluster;
  let client: Client;
  let running: RunningOperator;
  let server: Server;
  let asked: string[];

  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.statusCode = request.url === "/broken" ? 500 : 200;
      response.end("moin");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cluster = await Cluster.start({ kubelet: "process" });
    client = await cluster.connect();
    running = operator.start({ client, log: () => {} });
    await running.ready;
  });

  afterEach(async () => {
    await running.stop();
    await client.close();
    await cluster.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function test(path: string, replicas = 2, repeat = 5) {
    const serviceName = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const spec = { replicas, test: { method: "GET" as const, serviceName, path, repeat } };
    return client.create(new LoadTest({ metadata: { name: "shop" }, spec }));
  }

  const finished = (one: InstanceType<typeof LoadTest>, run: string) =>
    vi.waitFor(async () => expect((await one.refresh()).status).toMatchObject({ state: "finished", run }), {
      timeout: 60_000,
      interval: 100,
    });

  it("has its pods really send the requests, and tells what they saw", { timeout: 90_000 }, async () => {
    const shop = await test("/hello");
    await finished(shop, "1");
    expect(asked).toHaveLength(10);
    expect(new Set(asked)).toEqual(new Set(["GET /hello"]));
    expect(shop.status).toMatchObject({ requests: 10, failures: 0, p50: expect.stringMatching(/^[\d.]+ ms$/) });
    for (const pod of await client.list(Pod).toArray()) {
      expect(pod.metadata.ownerReferences).toMatchObject([{ kind: "LoadTest", uid: shop.uid }]);
    }
  });

  it("starts anew when it is changed, without the pods of before", { timeout: 120_000 }, async () => {
    const shop = await test("/hello", 1);
    await finished(shop, "1");
    await shop.patch({ spec: { test: { path: "/broken" } } });
    await finished(shop, "2");
    expect(shop.status).toMatchObject({ requests: 5, failures: 5 });
    const pods = await client.list(Pod).toArray();
    expect(pods.map(({ name }) => name)).toEqual(["shop-2-0"]);
  });

  it("takes its pods along when it is deleted in the middle", { timeout: 60_000 }, async () => {
    const shop = await test("/hello", 2, 100_000);
    await vi.waitFor(async () => expect(await client.list(Pod).toArray()).toHaveLength(2), { timeout: 20_000 });
    await shop.delete({ wait: true });
    await vi.waitFor(async () => expect(await client.list(Pod).toArray()).toEqual([]), { timeout: 20_000 });
  });
});

describe("samples", () => {
  it("amount to requests, failures and percentiles of those that succeeded", () => {
    const samples = [...Array.from({ length: 99 }, (_, i) => i + 1), null, 250.04];
    expect(summary(samples)).toEqual({ requests: 101, failures: 1, p50: 51, p99: 250 });
    expect(summary([null])).toEqual({ requests: 1, failures: 1, p50: 0, p99: 0 });
  });
});
