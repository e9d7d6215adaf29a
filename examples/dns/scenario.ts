/** The life of DnsRecords with a provider that is not always there, on any cluster. */
import { VirtualClock } from "@lotse/testing";
import { Event } from "lotse/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bench, StartBench } from "../bench.ts";
import { DnsRecord } from "./operator.ts";
import { type Fault, type Provider, startProvider } from "./provider.ts";

const WWW = { name: "www.example.com", values: ["192.0.2.10"] };

type Spec = ConstructorParameters<typeof DnsRecord>[0]["spec"];

const create = ({ client }: Bench, spec: Partial<Spec> = {}, name = "www") =>
  client.create(new DnsRecord({ metadata: { name }, spec: { ...WWW, ...spec } }));

const conditionOf = async (record: InstanceType<typeof DnsRecord>, type: string) => {
  const { conditions = [] } = (await record.refresh()).status ?? {};
  return conditions.find((one) => one.type === type);
};

/** All Events of the namespace with this reason, once the operator has posted them. */
const eventsOf = async (bench: Bench, reason: string) => {
  await bench.settle();
  const all = await bench.client.list(Event).toArray();
  return all.filter((event) => event.body.reason === reason).map((event) => event.body.message);
};

/** Declares the tests. */
export function scenario(start: StartBench): void {
  let provider: Provider;

  beforeEach(async () => {
    provider = await startProvider();
    process.env.DNS_URL = provider.url;
    process.env.DNS_TIMEOUT_MS = "2000";
  });

  afterEach(async () => {
    delete process.env.DNS_URL;
    delete process.env.DNS_TIMEOUT_MS;
    await provider.stop();
  });

  /** Who has which name, in the order in which they were made. */
  const names = () => provider.records.map(({ name, owner }) => `${name} ${owner.replace(/^.*:.*\//, "")}`);
  const changes = () => provider.requests.filter((request) => !request.startsWith("GET"));
  /** The first request of this kind goes wrong. */
  const failOnce = (which: string, fault: Fault) => {
    let left = 1;
    provider.faults = (request) => (request.startsWith(which) && left-- > 0 ? fault : undefined);
  };

  describe("a DnsRecord", () => {
    it("is kept as one record under its mark, and tells so in its status", async () => {
      await using bench = await start();
      const www = await create(bench);
      await www.wait("condition=Ready");
      const [record, ...others] = provider.records;
      expect(others).toEqual([]);
      expect(record).toMatchObject({ ...WWW, type: "A", ttl: 300, owner: `lotse:${www.namespace}/www` });
      expect(www.status).toMatchObject({
        record: { ...WWW, id: record?.id, type: "A", ttl: 300 },
        observedGeneration: 1,
      });
      expect(www.status?.drift).toBeUndefined();
    });

    it("is changed in place when its ttl or values change, and nothing is written when the operator starts again", async () => {
      await using bench = await start();
      const www = await create(bench);
      await bench.settle();
      await www.patch({ spec: { ttl: 600, values: ["192.0.2.11", "192.0.2.12"] } });
      await bench.settle();
      expect(provider.records).toMatchObject([{ id: "1", ttl: 600, values: ["192.0.2.11", "192.0.2.12"] }]);
      expect(changes()).toEqual(["POST /records", "PATCH /records/1"]);
      const before = (await bench.writes()).length;
      await bench.restart();
      const written = (await bench.writes()).slice(before).map(({ resource }) => resource);
      expect(written.filter((resource) => !resource?.startsWith("customresourcedefinitions"))).toEqual([]);
      expect(changes()).toHaveLength(2);
      expect((await www.refresh()).status?.drift).toBeUndefined();
    });

    it("goes from the provider when it is deleted, also when somebody was faster", async () => {
      await using bench = await start();
      const [www, api] = [await create(bench), await create(bench, { name: "api.example.com" }, "api")];
      await bench.settle();
      provider.remove("2");
      await www.delete({ wait: true });
      await api.delete({ wait: true });
      expect(provider.records).toEqual([]);
    });

    it("stays until the provider has let go of it", async () => {
      await using bench = await start(new VirtualClock());
      const www = await create(bench);
      await bench.settle();
      provider.faults = () => ({ kind: "broken" });
      await www.delete();
      await bench.settle();
      await bench.advance("1m");
      expect((await www.refresh()).metadata.deletionTimestamp).toBeDefined();
      provider.faults = () => undefined;
      await bench.advance("6m");
      await www.wait("delete");
      expect(provider.records).toEqual([]);
    });

    it("tells what the provider does not accept, and is kept when that is corrected", async () => {
      await using bench = await start();
      const www = await create(bench, { values: ["10.0.0.256"] });
      await www.wait("condition=Stalled");
      const message = "10.0.0.256 is no address for a record of type A";
      expect(await conditionOf(www, "Stalled")).toMatchObject({ message: expect.stringContaining(message) });
      expect(await conditionOf(www, "Ready")).toMatchObject({ status: "False" });
      expect(changes()).toEqual(["POST /records"]);
      await www.patch({ spec: { values: ["10.0.0.25"] } });
      await www.wait("condition=Ready");
      expect(provider.records).toMatchObject([{ values: ["10.0.0.25"] }]);
      expect(await conditionOf(www, "Stalled")).toBeUndefined();
    });
  });

  describe("a record that somebody else has changed", () => {
    it("is repaired within six minutes, and the DnsRecord tells of it", async () => {
      await using bench = await start(new VirtualClock());
      const www = await create(bench);
      await bench.settle();
      provider.change("1", { ttl: 60, values: ["198.51.100.66"] });
      await bench.advance("6m");
      expect(provider.records).toMatchObject([{ id: "1", ttl: 300, values: WWW.values }]);
      const what = ["ttl was 60, not 300", "values was 198.51.100.66, not 192.0.2.10"];
      const { drift = [] } = (await www.refresh()).status ?? {};
      expect(drift.map((one) => one.what)).toEqual(what);
      expect(Date.parse(drift[0]?.at ?? "")).toBeGreaterThan(0);
      expect(await eventsOf(bench, "Drift")).toEqual([`undone: ${what.join("; ")}`]);
      await bench.advance("30m");
      expect((await www.refresh()).status?.drift).toEqual(drift);
    });

    it("is made again when it is gone, and marked again when its mark is", async () => {
      await using bench = await start(new VirtualClock());
      const www = await create(bench);
      await bench.settle();
      provider.remove("1");
      await bench.advance("6m");
      provider.change("2", { owner: "" });
      await bench.advance("6m");
      expect(names()).toEqual(["www.example.com www"]);
      const { drift = [] } = (await www.refresh()).status ?? {};
      expect(drift.map(({ what }) => what)).toEqual(["the record was gone", "its mark was gone"]);
      expect(await conditionOf(www, "Ready")).toMatchObject({ status: "True" });
    });
  });

  describe("a record that is there already", () => {
    it("is not touched, and the DnsRecord says why; with spec.adopt it is taken over", async () => {
      await using bench = await start();
      const theirs = provider.add({ ...WWW, values: ["198.51.100.1"], owner: "ada" });
      const www = await create(bench);
      await www.wait("condition=Stalled");
      expect(await conditionOf(www, "Stalled")).toMatchObject({
        message: expect.stringContaining("A www.example.com is there already, made by ada: spec.adopt takes it over"),
      });
      expect(provider.records).toEqual([theirs]);
      await www.patch({ spec: { adopt: true } });
      await www.wait("condition=Ready");
      expect(provider.records).toMatchObject([{ id: theirs.id, values: WWW.values }]);
      expect(names()).toEqual(["www.example.com www"]);
      expect(www.status?.drift).toBeUndefined();
    });

    it("stands in nobody's way any more when whoever made it has removed it", async () => {
      await using bench = await start(new VirtualClock());
      const theirs = provider.add({ ...WWW, owner: "ada" });
      const www = await create(bench);
      await bench.settle();
      expect(await conditionOf(www, "Stalled")).toMatchObject({ status: "True" });
      provider.remove(theirs.id);
      await bench.advance("6m");
      expect(await conditionOf(www, "Ready")).toMatchObject({ status: "True" });
      expect(names()).toEqual(["www.example.com www"]);
    });

    it("is taken over without a word when it carries the mark: the DnsRecord was there before", async () => {
      await using bench = await start();
      provider.add({ ...WWW, owner: `lotse:${bench.client.namespace}/www` });
      await (await create(bench)).wait("condition=Ready");
      expect(changes()).toEqual([]);
    });

    it("is never taken from another DnsRecord", async () => {
      await using bench = await start();
      await (await create(bench)).wait("condition=Ready");
      const second = await create(bench, { adopt: true }, "second");
      await second.wait("condition=Stalled");
      expect(await conditionOf(second, "Stalled")).toMatchObject({
        message: expect.stringMatching(/A www\.example\.com belongs to lotse:.*\/www/),
      });
      await second.delete({ wait: true });
      expect(names()).toEqual(["www.example.com www"]);
    });
  });

  describe("a new name", () => {
    it("is there before the old one goes, though the operator starts again in between", async () => {
      await using bench = await start();
      const www = await create(bench);
      await bench.settle();
      provider.faults = (request) => (request.startsWith("DELETE") ? { kind: "broken" } : undefined);
      await www.patch({ spec: { name: "web.example.com" } });
      await bench.settle();
      expect(names()).toEqual(["www.example.com www", "web.example.com www"]);
      await bench.stopOperator();
      provider.faults = () => undefined;
      await bench.startOperator();
      await bench.settle();
      expect(names()).toEqual(["web.example.com www"]);
      expect((await www.refresh()).status).toMatchObject({ record: { name: "web.example.com" } });
      expect(www.status?.drift).toBeUndefined();
      expect(changes().filter((request) => request.startsWith("POST"))).toHaveLength(2);
    });

    it("that changes again while the operator is away leaves only the last one", async () => {
      await using bench = await start();
      const www = await create(bench);
      await bench.settle();
      failOnce("POST", { kind: "lost" });
      await www.patch({ spec: { name: "web.example.com" } });
      await bench.settle();
      await bench.stopOperator();
      await www.patch({ spec: { name: "home.example.com" } });
      await bench.startOperator();
      await bench.settle();
      expect(names()).toEqual(["home.example.com www"]);
    });

    it("that is taken leaves the old one in place", async () => {
      await using bench = await start();
      provider.add({ name: "web.example.com", values: ["198.51.100.1"], owner: "ada" });
      const www = await create(bench);
      await bench.settle();
      await www.patch({ spec: { name: "web.example.com" } });
      await www.wait("condition=Stalled");
      expect(names()).toEqual(["web.example.com ada", "www.example.com www"]);
    });
  });

  describe("a provider", () => {
    it("that asks for patience is not asked before the time that it names, which is no failure", async () => {
      await using bench = await start(new VirtualClock());
      failOnce("POST", { kind: "busy", retryAfter: 70 });
      const www = await create(bench);
      await bench.settle();
      const asked = provider.requests.length;
      expect(await conditionOf(www, "Reconciling")).toMatchObject({ reason: "Waiting" });
      await bench.advance("65s");
      expect(provider.requests).toHaveLength(asked);
      await bench.advance("10s");
      expect(names()).toEqual(["www.example.com www"]);
      expect(await conditionOf(www, "Ready")).toMatchObject({ status: "True" });
      expect(bench.logs.messages({ level: "warn" })).toEqual([]);
    });

    it.each<Fault["kind"]>(["broken", "silent", "lost", "late"])(
      "whose answer to a new record is %s has exactly one in the end",
      async (kind) => {
        await using bench = await start(new VirtualClock());
        failOnce("POST", { kind } as Fault);
        const www = await create(bench);
        await bench.settle();
        expect(await conditionOf(www, "Reconciling")).toMatchObject({ status: "True" });
        await bench.advance("10s");
        expect(names()).toEqual(["www.example.com www"]);
        expect(await conditionOf(www, "Ready")).toMatchObject({ status: "True" });
        expect((await www.refresh()).status?.drift).toBeUndefined();
        // Who is late makes a second one, and nobody can help it; it does not stay.
        const acts = { broken: 2, silent: 2, lost: 1, late: 3, busy: 2 };
        expect(changes()).toHaveLength(acts[kind]);
      },
    );

    it.each<Fault["kind"]>(["broken", "silent", "lost", "late"])(
      "whose answer to a change is %s has the change in the end",
      async (kind) => {
        await using bench = await start(new VirtualClock());
        const www = await create(bench);
        await bench.settle();
        failOnce("PATCH", { kind } as Fault);
        await www.patch({ spec: { ttl: 900 } });
        await bench.settle();
        await bench.advance("10s");
        expect(provider.records).toMatchObject([{ id: "1", ttl: 900 }]);
        expect((await www.refresh()).status).toMatchObject({ record: { ttl: 900 } });
      },
    );
  });
}
