/** The exchange-rates example, whole: the same on the embedded and on a real cluster, with the writes that it promises. */
import { type Client, ConfigMap } from "@lotse/client";
import type { RunningOperator } from "lotse";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import operator, { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import { type RateService, startRateService } from "../../examples/exchange-rates/rates.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";

describeOn(clustersUnderTest(), "the exchange-rates operator", (cluster) => {
  let client: Client;
  let service: RateService;
  let running: RunningOperator;
  let seen = 0;

  beforeAll(async () => {
    client = await cluster().connect();
    service = await startRateService();
    process.env.RATES_URL = service.url;
    running = operator.start({ client, log: () => {} });
    await running.ready;
    seen = (await cluster().writes()).length;
  });

  afterAll(async () => {
    await running.stop();
    await service.stop();
    delete process.env.RATES_URL;
  });

  /** The writes since the last question, once nothing happens any more. */
  async function writes(): Promise<string[]> {
    for (let round = 0; round < 5; round++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      await running.idle();
    }
    const all = await cluster().writes();
    const news = all.slice(seen).map(({ verb, resource, subresource }) => {
      return [verb, subresource ? `${resource}/${subresource}` : resource].join(" ");
    });
    seen = all.length;
    return news;
  }

  const rate = () => client.get(ExchangeRate, "money", { namespace: "default" });
  const configMaps = () => client.list(ConfigMap, { labelSelector: "rates.example.com/exchange-rate" }).toArray();

  it("publishes a rate with one PATCH", async () => {
    await client.create(
      new ExchangeRate({ metadata: { name: "money", namespace: "default" }, spec: { currency: "EUR" } }),
    );
    await (await rate()).wait(({ status }) => status?.rate === 0.92);
    expect((await configMaps()).map(({ data }) => data)).toEqual([{ currency: "EUR", rate: "0.92" }]);
    expect(await writes()).toEqual([
      "create exchangerates.rates.example.com",
      "create configmaps",
      "patch exchangerates.rates.example.com/status",
    ]);
  });

  it("follows a changed currency with one PATCH", async () => {
    await (await rate()).patch({ spec: { currency: "JPY" } });
    await (await rate()).wait(({ status }) => status?.rate === 151.6);
    expect((await configMaps()).map(({ data }) => data)).toEqual([{ currency: "JPY", rate: "151.6" }]);
    expect(await writes()).toEqual([
      "patch exchangerates.rates.example.com",
      "patch configmaps",
      "patch exchangerates.rates.example.com/status",
    ]);
  });

  it("writes nothing when idle", async () => {
    expect(await writes()).toEqual([]);
  });

  it("writes nothing when it is started again", async () => {
    await running.stop();
    running = operator.start({ client, log: () => {} });
    await running.ready;
    expect(await writes()).toEqual([]);
  });

  it("lets the ConfigMap go with its owner, without a write of its own", async () => {
    await (await rate()).delete({ wait: "20s" });
    await vi.waitFor(async () => expect(await configMaps()).toEqual([]), { timeout: 170_000, interval: 50 });
    expect(await writes()).toEqual(["delete exchangerates.rates.example.com"]);
  });
});
