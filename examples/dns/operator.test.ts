import { startHarness, VirtualClock } from "@lotse/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import operator, { DnsRecord } from "./operator.ts";
import { flaky, type Provider, randomNumbers, startProvider } from "./provider.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("whatever goes wrong at the provider", () => {
  let provider: Provider;

  beforeEach(async () => {
    provider = await startProvider();
    process.env.DNS_URL = provider.url;
    process.env.DNS_TIMEOUT_MS = "300";
  });

  afterEach(async () => {
    delete process.env.DNS_URL;
    delete process.env.DNS_TIMEOUT_MS;
    await provider.stop();
  });

  it("the role that it is deployed with suffices for a whole life", { timeout: 300_000 }, async () => {
    await using harness = await startHarness(operator, { rbac: true, clock: new VirtualClock() });
    const www = new DnsRecord({ metadata: { name: "www" }, spec: { name: "www.example.com", values: ["192.0.2.1"] } });
    await harness.client.create(www);
    await harness.settle();
    provider.faults = flaky(0.5);
    await www.patch({ spec: { name: "web.example.com" } });
    await harness.advance("1m");
    provider.faults = () => undefined;
    await harness.advance("12m");
    const [record] = provider.records;
    provider.change(record?.id ?? "", { ttl: 60 });
    await harness.advance("6m");
    expect(provider.records).toMatchObject([{ name: "web.example.com", ttl: 300 }]);
    expect((await www.refresh()).status?.drift).toHaveLength(1);
    await www.patch({ spec: { values: ["nowhere"] } });
    await harness.settle();
    await www.delete({ wait: true });
    expect(provider.records).toEqual([]);
    expect(harness.refusals()).toEqual([]);
  });

  it.each([1, 2])("exactly the wanted records are there in the end (seed %i)", { timeout: 170_000 }, async (seed) => {
    const random = randomNumbers(seed);
    const one = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    const faults = flaky(0.4, seed);
    const wanted = new Map<string, { name: string; ttl: number }>();
    provider.add({ name: "theirs.example.com", values: ["198.51.100.1"], owner: "ada" });
    await using harness = await startHarness(operator, { clock: new VirtualClock() });

    for (let round = 0; round < 4; round++) {
      provider.faults = faults;
      for (const object of ["a", "b", "c"]) {
        const spec = { name: one(`${object}.example.com`, `${object}2.example.com`), ttl: one(60, 300) };
        if (!wanted.has(object)) {
          await harness.client.create(
            new DnsRecord({ metadata: { name: object }, spec: { ...spec, values: ["192.0.2.1"] } }),
          );
          wanted.set(object, spec);
        } else if (random() < 0.3) {
          await harness.client.delete(DnsRecord, object);
          wanted.delete(object);
        } else {
          await harness.client.patch(DnsRecord, object, { spec });
          wanted.set(object, spec);
        }
        if (random() < 0.5) await harness.settle({ timeout: "60s" });
      }
      if (random() < 0.5) await harness.restart();
      await harness.advance(one("5s", "1m"));
      // A calm day: whatever waits for its retry gets it.
      provider.faults = () => undefined;
      await harness.advance("12m");
      const kept = provider.records.filter(({ owner }) => owner !== "ada");
      const told = kept.map(({ name, ttl, owner }) => `${owner} ${name} ${ttl}`).sort();
      expect(told).toEqual(
        [...wanted].map(([object, { name, ttl }]) => `lotse:default/${object} ${name} ${ttl}`).sort(),
      );
      expect(provider.records).toHaveLength(wanted.size + 1);
      const objects = await harness.client.list(DnsRecord).toArray();
      expect(objects.map(({ name }) => name)).toEqual([...wanted.keys()].sort());
      for (const { status } of objects) {
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
      }
    }
  });
});
