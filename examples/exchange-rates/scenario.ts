/** The life of ExchangeRates, on any cluster. */
import { VirtualClock } from "@lotse/testing";
import { ConfigMap } from "lotse/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { ExchangeRate } from "./operator.ts";
import { type RateService, startRateService } from "./rates.ts";

const create = ({ client }: Bench, currency: string, name = "money") =>
  client.create(new ExchangeRate({ metadata: { name }, spec: { currency } }));

const published = (rate: Awaited<ReturnType<typeof create>>, value: number) =>
  rate.wait(({ status }) => status?.rate === value);

const configMaps = ({ client }: Bench) =>
  client.list(ConfigMap, { labelSelector: "rates.example.com/exchange-rate" }).toArray();

/** What the operator has written since the last question: `patch exchangerates/status`. */
async function newWrites(bench: Bench, seen: { count: number }): Promise<string[]> {
  await bench.settle();
  const all = await bench.writes();
  const news = all.slice(seen.count).map(({ verb, resource = "", subresource }) => {
    return `${verb} ${[resource.split(".", 1)[0], subresource].filter(Boolean).join("/")}`;
  });
  seen.count = all.length;
  return news;
}

/** Declares the tests. */
export function scenario(start: StartBench): void {
  let service: RateService;

  beforeEach(async () => {
    service = await startRateService();
    process.env.RATES_URL = service.url;
  });

  afterEach(async () => {
    delete process.env.RATES_URL;
    await service.stop();
  });

  describe("an ExchangeRate", () => {
    it("gets a ConfigMap of its own with the rate, and tells both in its status", async () => {
      await using bench = await start();
      const money = await published(await create(bench, "EUR"), 0.92);
      const [configMap, ...others] = await configMaps(bench);
      expect(others).toEqual([]);
      expect(configMap?.data).toEqual({ currency: "EUR", rate: "0.92" });
      expect(configMap?.name).toMatch(/^money-.+/);
      expect(configMap?.metadata.ownerReferences).toMatchObject([
        { kind: "ExchangeRate", uid: money.uid, controller: true },
      ]);
      expect(money.status).toMatchObject({ rate: 0.92, configMap: configMap?.name });
      expect(money.metadata.finalizers).toBeUndefined();
    });

    it("costs one PATCH of its own for each handled change, and none when the operator starts again", async () => {
      await using bench = await start();
      const seen = { count: (await bench.writes()).length };
      const money = await published(await create(bench, "EUR"), 0.92);
      expect(await newWrites(bench, seen)).toEqual(["create configmaps", "patch exchangerates/status"]);
      await money.patch({ spec: { currency: "JPY" } });
      await published(money, 151.6);
      expect(await newWrites(bench, seen)).toEqual(["patch configmaps", "patch exchangerates/status"]);
      await bench.restart();
      expect((await newWrites(bench, seen)).filter((write) => !write.includes("customresourcedefinitions"))).toEqual(
        [],
      );
    });

    it("has its ConfigMap follow when the currency changes", async () => {
      await using bench = await start();
      const money = await published(await create(bench, "EUR"), 0.92);
      const [before] = await configMaps(bench);
      await money.patch({ spec: { currency: "JPY" } });
      await published(money, 151.6);
      const after = await configMaps(bench);
      expect(after.map(({ name, data }) => ({ name, data }))).toEqual([
        { name: before?.name, data: { currency: "JPY", rate: "151.6" } },
      ]);
    });

    it("takes its ConfigMap along when it is deleted", async () => {
      await using bench = await start();
      const money = await published(await create(bench, "EUR"), 0.92);
      const [configMap] = await configMaps(bench);
      await money.delete({ wait: true });
      await configMap?.wait("delete", { timeout: PATIENCE });
      expect(await configMaps(bench)).toEqual([]);
    });

    it("gets no second ConfigMap when the first attempt ended before it was written down", async () => {
      await using bench = await start();
      const money = await published(await create(bench, "EUR"), 0.92);
      await bench.stopOperator();
      // As if the operator had died after creating the ConfigMap: nothing of its work is in the status.
      await bench.client.patch(ExchangeRate, "money", { status: null }, { subresource: "status" });
      await bench.startOperator();
      await published(money, 0.92);
      expect(await configMaps(bench)).toHaveLength(1);
    });

    it("gets the new rate every hour, and no write when the rate is the same", async () => {
      await using bench = await start(new VirtualClock());
      const money = await published(await create(bench, "EUR"), 0.92);
      await bench.settle();
      const seen = { count: (await bench.writes()).length };
      await bench.advance("1h");
      expect(await newWrites(bench, seen)).toEqual([]);
      service.set("EUR", 0.95);
      await bench.advance("1h");
      await published(money, 0.95);
      expect(await newWrites(bench, seen)).toEqual(["patch configmaps", "patch exchangerates/status"]);
      expect((await configMaps(bench)).map(({ data }) => data.rate)).toEqual(["0.95"]);
    });

    it("waits for a rate service that is down, and says why in the log", async () => {
      await using bench = await start();
      await service.stop();
      await create(bench, "EUR");
      await vi.waitFor(() => expect(JSON.stringify(bench.logs.records)).toContain("the rate service does not answer"), {
        timeout: 170_000,
      });
      expect(await configMaps(bench)).toEqual([]);
    });

    it("says in its status that nobody knows the currency, and recovers when it is corrected", async () => {
      await using bench = await start();
      const money = await create(bench, "XXX");
      await money.wait(({ status }) => status?.message !== undefined);
      expect(money.status).toMatchObject({ message: "nobody knows a rate for XXX" });
      expect(await configMaps(bench)).toEqual([]);
      await money.patch({ spec: { currency: "CHF" } });
      await published(money, 0.88);
      expect(money.status?.message).toBeUndefined();
    });

    it("is refused by the cluster when its currency has no three capital letters", async () => {
      await using bench = await start();
      await expect(create(bench, "euro")).rejects.toMatchObject({ status: 422 });
    });
  });
}
