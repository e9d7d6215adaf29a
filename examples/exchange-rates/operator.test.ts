import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import type { LogRecord, RunningOperator, StartOptions } from "lotse";
import { type Client, ConfigMap } from "lotse/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import operator, { ExchangeRate, rates } from "./operator.ts";
import { type RateService, startRateService } from "./rates.ts";

const NAMESPACE = "default";
const HOUR_MS = 3_600_000;

let cluster: Cluster;
let client: Client;
let service: RateService;
let running: RunningOperator | undefined;

beforeEach(async () => {
  cluster = await Cluster.start();
  client = await cluster.connect();
  service = await startRateService();
  process.env.RATES_URL = service.url;
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  delete process.env.RATES_URL;
  await service.stop();
  await client.close();
  await cluster.stop();
});

async function start(options: StartOptions = {}): Promise<void> {
  running = operator.start({ client, log: () => {}, ...options });
  await running.ready;
}

async function stop(): Promise<void> {
  await running?.stop();
  running = undefined;
}

const create = (currency: string, name = "money") =>
  client.create(new ExchangeRate({ metadata: { name, namespace: NAMESPACE }, spec: { currency } }, client));

const published = (rate: Awaited<ReturnType<typeof create>>, value: number) =>
  rate.wait(({ status }) => status?.rate === value);

const configMaps = () =>
  client.list(ConfigMap, { namespace: NAMESPACE, labelSelector: "rates.example.com/exchange-rate" }).toArray();

/** The successful writes since `cluster.requests.clear()`, as the cluster saw them. */
const writes = () =>
  cluster.requests
    .filter(({ verb, status }) => ["create", "update", "patch", "delete"].includes(verb) && status < 400)
    .filter(({ user }) => !user.startsWith("system:"))
    .map(({ verb, resource = "", subresource }) => {
      const plural = resource.split(".", 1)[0];
      return `${verb} ${subresource ? `${plural}/${subresource}` : plural}`;
    });

describe("an ExchangeRate", () => {
  it("gets a ConfigMap of its own with the rate, and tells both in its status", async () => {
    await start();
    const money = await published(await create("EUR"), 0.92);
    const [configMap, ...others] = await configMaps();
    expect(others).toEqual([]);
    expect(configMap?.data).toEqual({ currency: "EUR", rate: "0.92" });
    expect(configMap?.name).toMatch(/^money-.+/);
    expect(configMap?.metadata.ownerReferences).toMatchObject([
      { kind: "ExchangeRate", uid: money.uid, controller: true },
    ]);
    expect(money.status).toMatchObject({ rate: 0.92, configMap: configMap?.name });
    expect(money.metadata.finalizers).toBeUndefined();
  });

  it("costs one PATCH of its own for each handled change", async () => {
    await start();
    cluster.requests.clear();
    const money = await published(await create("EUR"), 0.92);
    await running?.idle();
    expect(writes()).toEqual(["create exchangerates", "create configmaps", "patch exchangerates/status"]);

    cluster.requests.clear();
    await money.patch({ spec: { currency: "JPY" } });
    await published(money, 151.6);
    await running?.idle();
    expect(writes()).toEqual(["patch exchangerates", "patch configmaps", "patch exchangerates/status"]);
  });

  it("has its ConfigMap follow when the currency changes", async () => {
    await start();
    const money = await published(await create("EUR"), 0.92);
    const [before] = await configMaps();
    await money.patch({ spec: { currency: "JPY" } });
    await published(money, 151.6);
    const after = await configMaps();
    expect(after.map(({ name, data }) => ({ name, data }))).toEqual([
      { name: before?.name, data: { currency: "JPY", rate: "151.6" } },
    ]);
  });

  it("takes its ConfigMap along when it is deleted", async () => {
    await start();
    const money = await published(await create("EUR"), 0.92);
    const [configMap] = await configMaps();
    await money.delete({ wait: true });
    await configMap?.wait("delete");
    expect(await configMaps()).toEqual([]);
  });

  it("is left alone by an operator that starts again", async () => {
    await start();
    await published(await create("EUR"), 0.92);
    await running?.idle();
    await stop();
    cluster.requests.clear();
    await start();
    await running?.idle();
    expect(writes()).toEqual([]);
  });

  it("gets no second ConfigMap when the first attempt ended before it was written down", async () => {
    await start();
    const money = await published(await create("EUR"), 0.92);
    await stop();
    // As if the operator had died after creating the ConfigMap: nothing of its work is in the status.
    await client.patch(ExchangeRate, "money", { status: null }, { namespace: NAMESPACE, subresource: "status" });
    await start();
    await published(money, 0.92);
    expect(await configMaps()).toHaveLength(1);
  });

  it("gets the new rate every hour, and no write when the rate is the same", async () => {
    const clock = new VirtualClock();
    await start({ clock });
    const money = await published(await create("EUR"), 0.92);
    await running?.idle();
    cluster.requests.clear();
    await clock.advance(HOUR_MS);
    await running?.idle();
    expect(cluster.requests.filter({ verb: "list", resource: "configmaps" })).toHaveLength(1);
    expect(writes()).toEqual([]);

    service.set("EUR", 0.95);
    await clock.advance(HOUR_MS);
    await published(money, 0.95);
    expect(writes()).toEqual(["patch configmaps", "patch exchangerates/status"]);
    expect((await configMaps()).map(({ data }) => data.rate)).toEqual(["0.95"]);
  });

  it("waits for a rate service that is down, and says why in the log", async () => {
    const lines: LogRecord[] = [];
    await start({ log: (record) => lines.push(record) });
    await service.stop();
    await create("EUR");
    await vi.waitFor(
      () => expect(lines.map(({ fields }) => fields.error)).toContain("the rate service does not answer"),
      { timeout: 10_000 },
    );
    expect(await configMaps()).toEqual([]);
  });

  it("says in its status that nobody knows the currency, and recovers when it is corrected", async () => {
    await start();
    const money = await create("XXX");
    await money.wait(({ status }) => status?.message !== undefined);
    expect(money.status).toMatchObject({ message: "nobody knows a rate for XXX" });
    expect(await configMaps()).toEqual([]);
    await money.patch({ spec: { currency: "CHF" } });
    await published(money, 0.88);
    expect(money.status?.message).toBeUndefined();
  });

  it("is refused by the cluster when its currency has no three capital letters", async () => {
    await start();
    await expect(create("euro")).rejects.toMatchObject({ status: 422 });
  });
});

describe("the operator's own rate service", () => {
  it("is started when there is no other, and stopped with the operator", async () => {
    delete process.env.RATES_URL;
    await start();
    await published(await create("GBP"), 0.79);
    const url = await rates.open();
    await stop();
    await expect(fetch(`${url}/rates/GBP`)).rejects.toThrow();
  });
});
