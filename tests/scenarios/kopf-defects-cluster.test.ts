/** Where Kopf does something else than it says, each with what is right: streams, requests, Events, children. */
import { Client, ConfigMap, ForbiddenError, type KubeBody, type Login } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { ChaosProxy } from "@lotse/testing";
import { harmonizeNaming, label, Operator, PermanentError, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { aborted, installSample, Sample, sample } from "./sample.ts";
import { useStage } from "./stage.ts";
import { Wire } from "./wire.ts";

/** A kind that is not there when the operator starts. */
const Gauge = resource({ group: "gauges.example.com", version: "v1", kind: "Gauge", spec: z.object({}) });

describeOn(clustersUnderTest(), "Kopf's defects of streams and requests", (cluster) => {
  const stage = useStage(cluster, "kopf-defects-cluster");
  const { start, eventually, inTime, quiet, running, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  it("defect 11: an operator that cannot log in fails, and one whose credentials are refused says so", async () => {
    const broken = new Operator({ name: "op" });
    let asked = 0;
    broken.on.login(function account() {
      asked++;
      throw new PermanentError("the account is closed");
    });
    broken.on.create(Sample, function never() {});
    const one = broken.start({ log: () => {} });
    await expect(one.ready).rejects.toThrow("the account is closed");
    await expect(one.stopped).rejects.toThrow("the account is closed");
    expect(asked).toBe(1);

    await using plain = await Cluster.start({ tls: false });
    const refused = new Operator({ name: "op" });
    refused.on.login(() => ({ server: plain.url, token: "forged" }));
    refused.on.create(Sample, function never() {});
    const two = refused.start({ crds: "install", log: (record) => logs.push(record) });
    running.push(two);
    const complaints = () => logs.filter(({ level, fields }) => level === "warn" && fields.error !== undefined);
    await eventually(() => expect(complaints()).not.toEqual([]));
    expect(complaints()[0]?.fields).toMatchObject({ error: expect.stringMatching(/unauthorized|credentials/i) });
    await two.stop();
  });

  it("defect 16: an error that nothing can heal stops the whole operator, and it says why", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    // Two names, one kind: nobody can know before the kind is there.
    operator.on.create("gauges", function same() {});
    operator.on.update("gauges.gauges.example.com", function same() {});
    const ended: unknown[] = [];
    const why: string[] = [];
    operator.daemon(Sample, async function beside({ signal }) {
      why.push("begun");
      why.push(await aborted(signal));
    });
    operator.on.cleanup(function tidy() {
      why.push("cleanup");
    });
    const one = await start(operator, { clock });
    one.stopped.catch((error: unknown) => ended.push(error));
    await sample(client, "one");
    await eventually(() => expect(why).toEqual(["begun"]));
    await client.create(Gauge.crd() as KubeBody);
    await inTime(clock, () => expect(ended).toHaveLength(1));
    expect((ended[0] as Error).message).toMatch(/"same" is used twice for Gauge/);
    expect(why).toEqual(["begun", "shutdown", "cleanup"]);
    running.length = 0;
  });

  it("defect 17: an operator that posts no Events posts none, warnings of its handlers included", async () => {
    for (const [name, events] of [
      ["silent", "none"],
      ["loud", "warnings"],
    ] as const) {
      const operator = new Operator({ name, events });
      operator.on.create(Sample, function complain({ warn, info }) {
        info("Fine", "all is well");
        warn("Worried", "this looks bad");
        throw new PermanentError("it was bad");
      });
      await start(operator);
    }
    await sample(client, "one");
    const reasons = async () =>
      (await client.list("events").toArray()).map(({ body }) => `${body.reportingComponent} ${body.reason}`).sort();
    await eventually(async () => expect(await reasons()).toEqual(["loud HandlerFailed", "loud Worried"]));
    // Whatever is still on its way is flushed when an operator stops.
    await Promise.all(running.splice(0).map((one) => one.stop()));
    expect(await reasons()).toEqual(["loud HandlerFailed", "loud Worried"]);
  });

  it("defect 18: of several credentials the one of the highest priority is used, and among equals the first", async () => {
    await using plain = await Cluster.start({ tls: false });
    const right = { server: plain.url, token: plain.token };
    const wrong = (priority?: number) => ({
      server: plain.url,
      token: `forged-${priority}`,
      ...(priority && { priority }),
    });
    const refusals = async (logins: readonly Login[]) => {
      plain.requests.clear();
      const operator = new Operator({ name: "op" });
      logins.forEach((login, index) => {
        operator.on.login({ id: `login-${index}` }, () => login);
      });
      operator.on.create(Sample, function idle() {});
      const one = operator.start({ crds: "install", log: () => {} });
      await one.ready;
      await one.stop();
      return plain.requests.filter({ status: 401 }).length;
    };
    // Several times: an order that is left to chance would be right now and then.
    for (let round = 0; round < 3; round++) {
      expect(await refusals([wrong(1), wrong(5), { ...right, priority: 9 }, wrong()])).toBe(0);
      expect(await refusals([right, wrong(), wrong()])).toBe(0);
    }
    // What is refused is not used again, and the next best takes over.
    expect(await refusals([right, wrong(5), wrong(9)])).toBe(2);
  });

  it("defect 19: what the server refuses is told at once; only what it asks to repeat is repeated", async () => {
    // Tries of the client are below the scenarios' wire: they are counted by a proxy in front of a cluster of its own.
    await using plain = await Cluster.start({ tls: false });
    const proxy = await ChaosProxy.open(plain.url);
    // In real time: a clock that runs faster also hurries the deadlines of requests, which a busy machine then misses.
    const own = await Client.connect({ url: proxy.url, token: plain.token });
    try {
      await installSample(own);
      const operator = new Operator({ name: "op" });
      const errors: unknown[] = [];
      operator.on.create(Sample, async function publish({ client: mine, patch }) {
        const children = ["refused", "later"].map((name) => ConfigMap.gen({ name }));
        for (const child of children) await mine.create(child).catch((error: unknown) => errors.push(error));
        patch.status.done = true;
      });
      proxy.rule = ({ name, verb, index }) => {
        if (verb !== "create") return undefined;
        if (name === "refused") return { type: "answer", status: 403 };
        return name === "later" && index < 2 ? { type: "answer", status: 429, retryAfter: 1 } : undefined;
      };
      await start(operator, { client: own, namespaces: ["default"], crds: "wait" });
      await sample(own, "one");
      await eventually(async () => expect((await own.get(Sample, "one")).status?.done).toBe(true));
      expect(errors).toEqual([expect.any(ForbiddenError)]);
      const creates = proxy.requests.filter(({ verb }) => verb === "create").map(({ name }) => name);
      expect(creates).toEqual(["one", "refused", "later", "later", "later"]);
      await Promise.all(running.splice(0).map((one) => one.stop()));
    } finally {
      await own.close();
      await proxy.close();
    }
  });

  it("defect 20: labels and names of children that are left open are the owner's", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Sample, async function publish({ body, resource: kind, client: own, patch }) {
      const owner = { body, kind };
      const strict = ConfigMap.gen({ labels: { tier: "own" } });
      harmonizeNaming(strict, { owner, name: null, strict: true });
      label(strict, { owner, labels: null });
      const loose = harmonizeNaming(label(ConfigMap.gen({}), { owner }), { owner });
      await own.create(strict);
      await own.create(loose);
      patch.status.done = true;
    });
    await start(operator);
    await sample(client, "parent", {}, { labels: { app: "shop", tier: "theirs" } });
    await eventually(async () => expect((await client.get(Sample, "parent")).status?.done).toBe(true));
    expect((await client.get(ConfigMap, "parent")).labels).toEqual({ app: "shop", tier: "own" });
    const children = await client.list(ConfigMap, { labelSelector: { app: "shop", tier: "theirs" } }).toArray();
    expect(children.map(({ name }) => name)).toEqual([expect.stringMatching(/^parent-.+/)]);
  });

  it("defect 22: a server that ends each watch at once is asked again with growing pauses", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Sample, function found({ name }) {
      seen.push(name);
    });
    wire.fault = ({ verb, path }) => (verb === "watch" && path.includes("samples") ? { type: "end" } : undefined);
    await start(operator, { client: wire.client, clock });
    await quiet();
    expect(wire.count("watch", "samples")).toBe(1);
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(wire.count("watch", "samples")).toBeGreaterThan(3);
    expect(wire.count("watch", "samples")).toBeLessThan(15);
    wire.fault = () => undefined;
    await sample(client, "one");
    await inTime(clock, () => expect(seen).toEqual(["one"]));
  });

  it("defect 23: a watch that is refused because its version is too old is listed anew, and nothing is missed", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on(["create", "update"], Sample, function changed({ name, reason, spec }) {
      seen.push(`${reason} ${name} ${spec.size}`);
    });
    operator.on.delete(Sample, { optional: true }, function deleted({ name }) {
      seen.push(`delete ${name}`);
    });
    await start(operator, { client: wire.client, clock });
    const [gone, changed] = [await sample(client, "gone"), await sample(client, "changed")];
    await eventually(() => expect(seen).toHaveLength(2));
    await quiet();
    const lists = wire.count("list", "samples");

    let refusals = 2;
    wire.fault = ({ verb, path }) =>
      verb === "watch" && path.includes("samples") && refusals-- > 0 ? { type: "answer", status: 410 } : undefined;
    wire.hold();
    await gone.delete();
    await changed.patch({ spec: { size: 2 } });
    await sample(client, "new");
    await quiet();
    expect(seen).toHaveLength(2);
    wire.cut();
    await inTime(clock, () =>
      expect(seen.slice(2).sort()).toEqual(["create new 1", "delete gone", "update changed 2"]),
    );
    await inTime(clock, () => expect(refusals).toBeLessThan(0));
    expect(wire.count("list", "samples")).toBe(lists + 2);
    expect(running).toHaveLength(1);
  });

  it("defect 25: a re-list notices what has disappeared: daemons, indexes and delete handlers hear of it", async () => {
    const clock = new VirtualClock();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.index(Sample, { id: "byName" }, ({ name }) => ({ [name]: true }));
    operator.daemon(Sample, async function watch({ name, signal }) {
      const why = await aborted(signal);
      seen.push(`${name} ends: ${why}`);
    });
    operator.on.delete(Sample, { optional: true }, function farewell({ name }) {
      seen.push(`${name} is deleted`);
    });
    const names: unknown[] = [];
    operator.timer(ConfigMap, { interval: "1s", labels: { ask: "yes" } }, function ask({ indexes }) {
      names.splice(0, names.length, ...(indexes.byName?.keys() ?? []));
    });
    await client.create(ConfigMap.gen({ name: "ask", labels: { ask: "yes" } }));
    await start(operator, { client: wire.client, clock });
    const object = await sample(client, "one");
    await sample(client, "two");
    await inTime(clock, () => expect([...names].sort()).toEqual(["one", "two"]));

    let refusals = 1;
    wire.fault = ({ verb, path }) =>
      verb === "watch" && path.includes("samples") && refusals-- > 0 ? { type: "answer", status: 410 } : undefined;
    wire.hold();
    await object.delete();
    await quiet();
    expect(seen).toEqual([]);
    wire.cut();
    await inTime(clock, () => expect([...seen].sort()).toEqual(["one ends: deletion", "one is deleted"]));
    await inTime(clock, () => expect(names).toEqual(["two"]));
  });

  it("defect 26: a daemon ends with an object that vanishes without a mark, and none begins for one that nobody knew", async () => {
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.daemon(Sample, async function watch({ name, signal }) {
      seen.push(`${name} begins`);
      seen.push(`${name} ends: ${await aborted(signal)}`);
    });
    wire.drops = ({ type, object }) => type !== "DELETED" && object.metadata?.name === "ghost";
    let deletions = 0;
    operator.on.event(Sample, function raw({ type, meta }) {
      if (type === "DELETED" && meta.deletionTimestamp === undefined) deletions++;
    });
    await start(operator, { client: wire.client });
    const object = await sample(client, "one");
    await eventually(() => expect(seen).toEqual(["one begins"]));
    await object.delete();
    await eventually(() => expect(seen).toEqual(["one begins", "one ends: deletion"]));
    expect(deletions).toBe(1);
    const ghost = await sample(client, "ghost");
    await ghost.delete();
    await sample(client, "two");
    await eventually(() => expect(seen[2]).toBe("two begins"));
    await quiet();
    expect(seen).toHaveLength(3);
    expect(logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});
