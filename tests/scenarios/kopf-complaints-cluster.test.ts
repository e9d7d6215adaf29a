/** What Kopf's users complain about, each with what they get here instead: streams, permissions, namespaces. */
import { type Client, ConfigMap, Namespace, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { gate, installSample, Sample, sample } from "./sample.ts";
import { useStage } from "./stage.ts";
import { type Call, Wire, type WireFault } from "./wire.ts";

const MINUTE = 60_000;

describeOn(clustersUnderTest(), "complaints about Kopf's streams", (cluster) => {
  const stage = useStage(cluster, "kopf-complaints-cluster");
  const { start, eventually, inTime, quiet, running, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  /** An operator that notes what it is told of samples. */
  const observer = () => {
    const seen: string[] = [];
    const operator = new Operator({ name: "op" });
    operator.on(["create", "update"], Sample, function changed({ reason, name, spec }) {
      seen.push(`${reason} ${name} ${spec.size}`);
    });
    operator.on.delete(Sample, { optional: true }, function deleted({ name }) {
      seen.push(`delete ${name}`);
    });
    return { operator, seen };
  };

  it("complaint 1: a connection that is half dead is found out and replaced, though it never breaks", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const { operator, seen } = observer();
    await start(operator, { client: wire.client, clock });
    const object = await sample(client, "one");
    await eventually(() => expect(seen).toEqual(["create one 1"]));
    await quiet();
    wire.stall();
    await object.patch({ spec: { size: 2 } });
    await sample(client, "two");
    await clock.advance(MINUTE);
    await quiet();
    // The wire is dead indeed. Servers send a bookmark about every minute, so this silence may still be innocent.
    expect(seen).toHaveLength(1);
    await clock.advance(MINUTE / 2);
    await inTime(clock, () => expect(seen.slice(1).sort()).toEqual(["create two 1", "update one 2"]));
  });

  it.each<[string, WireFault]>([
    ["403", { type: "answer", status: 403 }],
    ["404", { type: "answer", status: 404 }],
    ["500", { type: "answer", status: 500 }],
    ["503", { type: "answer", status: 503 }],
    ["a connection reset", { type: "reset" }],
  ])("complaint 2: a stream that fails with %s says so, goes on trying, and misses nothing", async (_, fault) => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const { operator, seen } = observer();
    const one = await start(operator, { client: wire.client, clock });
    let stopped = false;
    void one.stopped.finally(() => {
      stopped = true;
    });
    const object = await sample(client, "one");
    await eventually(() => expect(seen).toEqual(["create one 1"]));
    await quiet();

    let failed = 0;
    wire.fault = ({ verb, path }: Call) => {
      if (!path.includes("samples") || (verb !== "list" && verb !== "watch")) return undefined;
      failed++;
      return fault;
    };
    wire.cut();
    await object.delete();
    await sample(client, "two");
    // Half an hour: long after any number of tries has been used up.
    for (let minute = 0; minute < 30; minute++) {
      await clock.advance(MINUTE);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(failed).toBeGreaterThan(10);
    expect(failed).toBeLessThan(30 * 10);
    expect(logs.some(({ level, fields }) => level === "warn" && String(fields.error).includes("a fault"))).toBe(true);
    expect(seen).toHaveLength(1);
    expect(stopped).toBe(false);
    wire.fault = () => undefined;
    await inTime(clock, () => expect(seen.slice(1).sort()).toEqual(["create two 1", "delete one"]));
  });

  it("complaint 4: an operator never acts on a state that is older than its own writes", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const work = gate();
    operator.on.create(Sample, async function build({ object, patch }) {
      seen.push("create");
      await work.passed;
      await object.label({ built: "yes" });
      patch.status.count = 1;
    });
    operator.on.update(Sample, function follow({ labels }) {
      seen.push(`update ${labels.built}`);
    });
    operator.timer(Sample, { interval: "1m", initialDelay: "1m" }, function tick({ labels, status }) {
      seen.push(`tick ${labels.built} ${status.count}`);
    });
    await start(operator, { client: wire.client, clock });
    const object = await sample(client, "one");
    await eventually(() => expect(seen).toEqual(["create"]));
    // From here on the operator is behind: the stream shows it neither its own writes nor anybody else's.
    wire.hold();
    work.open();
    await eventually(async () => expect((await client.get(Sample, "one")).status?.count).toBe(1));
    await quiet();
    expect(seen).toEqual(["create", "update yes"]);
    for (const round of [1, 2]) {
      await clock.advance(MINUTE);
      await eventually(() => expect(seen.slice(2)).toHaveLength(round));
      await quiet();
    }
    expect(seen.slice(2)).toEqual(["tick yes 1", "tick yes 1"]);
    await object.patchStatus({ size: 5 });
    // Now it is shown everything at once, old states first.
    wire.release();
    await quiet();
    expect(seen).toHaveLength(4);
    await clock.advance(MINUTE);
    await eventually(() => expect(seen.slice(4)).toEqual(["tick yes 1"]));
  });

  it("complaint 6: a namespace that is deleted with guarded objects in it is served to its end", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const doomed = `${stage.namespace}-doomed`;
    operator.on.delete(Sample, function farewell({ name }) {
      seen.push(`delete ${name}`);
    });
    await client.create(Namespace.gen({ name: doomed }));
    await start(operator, { namespaces: [`${stage.namespace}-*`] });
    await sample(client.inNamespace(doomed), "one");
    const inside = client.inNamespace(doomed);
    await eventually(async () =>
      expect((await inside.get(Sample, "one")).metadata.finalizers).toEqual(["op.lotse.dev/finalizer"]),
    );
    await client.delete(Namespace, doomed);
    await eventually(() => expect(client.get(Namespace, doomed)).rejects.toThrow(NotFoundError));
    expect(seen).toEqual(["delete one"]);
  });

  it("complaint 12: a listing after a gap is compared with what is known: no ghosts, no missed change", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const { operator, seen } = observer();
    operator.index(Sample, { id: "sizes" }, ({ name, spec }) => ({ [name]: spec.size }));
    const known: unknown[] = [];
    operator.timer(ConfigMap, { interval: "1s", labels: { ask: "yes" } }, function ask({ indexes }) {
      known.splice(0, known.length, ...(indexes.sizes ?? []));
    });
    await client.create(ConfigMap.gen({ name: "ask", labels: { ask: "yes" } }));
    await start(operator, { client: wire.client, clock });
    for (const name of ["gone", "reborn", "changed", "same"]) await sample(client, name);
    await eventually(() => expect(seen).toHaveLength(4));
    await quiet();

    let refusals = 1;
    wire.fault = ({ verb, path }) =>
      verb === "watch" && path.includes("samples") && refusals-- > 0 ? { type: "answer", status: 410 } : undefined;
    wire.hold();
    for (const name of ["gone", "reborn"]) await client.delete(Sample, name);
    await sample(client, "reborn", { size: 5 });
    await client.patch(Sample, "changed", { spec: { size: 6 } });
    await sample(client, "new", { size: 7 });
    await quiet();
    wire.cut();
    await inTime(clock, () => expect(seen).toHaveLength(9));
    await quiet();
    expect(seen.slice(4).sort()).toEqual([
      "create new 7",
      "create reborn 5",
      "delete gone",
      "delete reborn",
      "update changed 6",
    ]);
    const sizes = { changed: 6, new: 7, reborn: 5, same: 1 };
    await inTime(clock, () =>
      expect([...known].sort()).toEqual(Object.entries(sizes).map(([name, size]) => [name, [size]])),
    );
  });

  it("complaint 13: an operator with few permissions starts at once, beside an API that is broken", async () => {
    await installSample(client);
    // Time stands still: whoever waits for something to be allowed in the end waits for ever.
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const seen: string[] = [];
    const operator = new Operator({ name: "op" });
    operator.on.create("samples.kopf.example.com", function byName({ name }) {
      seen.push(`by name: ${name}`);
    });
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function byClass({ name }) {
      seen.push(`by class: ${name}`);
    });
    wire.fault = ({ path }) => {
      if (path.includes("customresourcedefinitions") || path.endsWith("/namespaces"))
        return { type: "answer", status: 403 };
      return path === "/apis" ? { type: "change", json: withBrokenApi } : undefined;
    };
    await start(operator, { client: wire.client, clock, crds: "wait" });
    await sample(client, "one");
    await client.create(ConfigMap.gen({ name: "two", labels: { mine: "yes" } }));
    await eventually(() => expect([...seen].sort()).toEqual(["by class: two", "by name: one"]));
    expect(clock.monotonic()).toBe(0);
    expect(wire.calls.some(({ path }) => path === "/apis")).toBe(true);
    // A refusal is one request, not a minute of them.
    expect(wire.count("list", "customresourcedefinitions")).toBeLessThanOrEqual(1);
  });

  it("complaint 13: a permission that is missing is named, and needs no restart once it is there", async () => {
    await installSample(client);
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const { operator, seen } = observer();
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function allowed({ name }) {
      seen.push(`allowed ${name}`);
    });
    wire.fault = ({ verb, path }) =>
      path.includes("samples") && verb === "list" ? { type: "answer", status: 403 } : undefined;
    const log = (record: (typeof logs)[number]) => void logs.push(record);
    const options = { client: wire.client, clock, crds: "wait", namespaces: [stage.namespace], log } as const;
    running.push(operator.start(options));
    await sample(client, "one");
    await client.create(ConfigMap.gen({ name: "two", labels: { mine: "yes" } }));
    // One kind that is not allowed keeps nobody else waiting.
    await eventually(() => expect(seen).toEqual(["allowed two"]));
    const isNamed = ({ level, fields }: (typeof logs)[number]) =>
      level === "warn" && fields.kind === "Sample" && fields.error !== undefined;
    await eventually(() => expect(logs.some(isNamed)).toBe(true));
    wire.fault = () => undefined;
    await inTime(clock, () => expect(seen).toEqual(["allowed two", "create one 1"]));
    await running[0]?.ready;
  });
});

/** The list of API groups as a server gives it whose aggregated API does not answer. */
function withBrokenApi(answer: unknown): unknown {
  const { items, groups, ...rest } = answer as { items?: unknown[]; groups?: unknown[] };
  if (!items) return { ...rest, groups: [...(groups ?? []), legacyBroken] };
  const versions = [{ version: "v1beta1", freshness: "Stale", resources: [] }];
  return { ...rest, items: [...items, { metadata: { name: "metrics.example.com" }, versions }] };
}

const legacyBroken = {
  name: "metrics.example.com",
  versions: [{ groupVersion: "metrics.example.com/v1beta1", version: "v1beta1" }],
};
