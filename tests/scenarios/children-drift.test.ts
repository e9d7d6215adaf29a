/** What is done to children is told, and what others do to them can be answered. */
import { ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { type ChildrenOptions, type Drift, Operator, resource } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { gate } from "./sample.ts";
import { useStage } from "./stage.ts";

const Site = resource({
  group: "drift.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ pages: z.array(z.string()).default([]), text: z.string().default("hi") }),
  status: z.object({ drifted: z.array(z.string()).optional() }),
});
type SiteBody = InstanceType<typeof Site>["body"];

const site = (name: string, ...pages: string[]) => new Site({ metadata: { name }, spec: { pages, text: "hi" } });

describeOn(clustersUnderTest(), "children", (cluster) => {
  const stage = useStage(cluster, "drift");

  function pages(options: ChildrenOptions<SiteBody> = {}, operator = new Operator({ name: "sites" })): Operator {
    operator.children(Site, { id: "pages", owns: [ConfigMap], ...options }, ({ name, spec, patch }) => {
      patch.status.drifted = null;
      const { pages: all = [], text } = spec;
      return all.map((at) => ConfigMap.gen({ name: `${name}-${at}`, data: { text, at }, labels: { at } }));
    });
    return operator;
  }
  const text = async (name: string) => (await stage.client.get(ConfigMap, name)).data?.text;
  const shows = (name: string, wanted: string) =>
    stage.eventually(async () => expect(await text(name).catch(() => undefined)).toBe(wanted));
  /** Somebody changes a page by hand. */
  const scribble = (name: string, data: Record<string, string | null>, fieldManager = "vandal") =>
    stage.client.patch(ConfigMap, name, { data }, { fieldManager });
  /** What was told of children, in the log. */
  const told = () =>
    stage.logs
      .filter(({ message }) => message.startsWith("the child was"))
      .map(({ message, fields = {} }) => {
        const { child, fields: changed, by, why } = fields;
        return [message.replace("the child was ", ""), child, changed, by, why].filter(Boolean).join(" | ");
      });

  it("that are created, changed, repaired and deleted are told in the log, with the fields and who it was", async () => {
    await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await shows("a-x", "ho");
    await scribble("a-x", { text: "mine", at: null });
    await shows("a-x", "ho");
    await client.patch(Site, "a", { spec: { pages: [] } });
    await stage.eventually(() =>
      expect(told()).toEqual([
        "created | ConfigMap a-x",
        "changed | ConfigMap a-x | data.text",
        "repaired | ConfigMap a-x | data.text, data.at | vandal",
        "deleted | ConfigMap a-x | it is no longer wanted",
      ]),
    );
    expect(stage.logs.filter(({ message }) => message.startsWith("the child was")).map(({ level }) => level)).toEqual(
      Array.from({ length: 4 }, () => "info"),
    );
  });

  it("that are created, changed, repaired and deleted are Events of their parent for those who want all", async () => {
    const operator = new Operator({ name: "sites", settings: { posting: { events: "all" } } });
    await stage.start(pages({}, operator));
    const { client } = stage;
    const events = async () => {
      const all = await client.list("events").toArray();
      return all.map(({ body }) => body as { reason?: string; note?: string; message?: string });
    };
    const seen = (reason: string) =>
      stage.eventually(async () => expect((await events()).map((one) => one.reason)).toContain(reason));
    await client.create(site("a", "x"));
    await seen("ChildCreated");
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await seen("ChildChanged");
    await scribble("a-x", { text: "mine" });
    await seen("ChildRepaired");
    await client.patch(Site, "a", { spec: { pages: [] } });
    await seen("ChildDeleted");
    const repaired = (await events()).find(({ reason }) => reason === "ChildRepaired");
    expect(repaired?.message ?? repaired?.note).toBe("ConfigMap a-x was repaired: data.text, changed by vandal");
  });

  it("that are created, changed, repaired and deleted are in the explanation of their parent", async () => {
    const running = await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    await scribble("a-x", { text: "mine" });
    await shows("a-x", "hi");
    await client.patch(Site, "a", { spec: { pages: [] } });
    const explained = () =>
      running
        .explain({ kind: "Site", namespace: stage.namespace, name: "a" })
        ?.turns.flatMap(({ children = [] }) => children);
    await stage.eventually(() =>
      expect(explained()).toEqual([
        "ConfigMap a-x was created",
        "ConfigMap a-x was repaired: data.text, changed by vandal",
        "ConfigMap a-x was deleted, because it is no longer wanted",
      ]),
    );
  });

  it("that go with their parent, in reverse, are told as well", async () => {
    await stage.start(pages({ deletion: "reverse" }));
    await stage.client.create(site("a", "x"));
    await shows("a-x", "hi");
    await stage.client.delete(Site, "a");
    await stage.client.wait(Site, "a", "delete", { timeout: "170s" });
    expect(told().at(-1)).toBe("deleted | ConfigMap a-x | its parent goes");
  });

  it("tell a function of the declaration what somebody has changed, which decides and may report it", async () => {
    const drifts: Drift[] = [];
    const onDrift: ChildrenOptions<SiteBody>["onDrift"] = async (drift, { patch }) => {
      drifts.push(drift);
      if (drift.fields.some(({ path }) => path === "data.at")) return "repair";
      patch.status.drifted = drift.fields.map(({ path }) => path);
      return "keep";
    };
    await stage.start(pages({ onDrift }));
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    await stage.quiet();
    await scribble("a-x", { text: "theirs" });
    await stage.eventually(async () => expect((await client.get(Site, "a")).status?.drifted).toEqual(["data.text"]));
    await stage.quiet();
    expect(await text("a-x")).toBe("theirs");
    expect(drifts[0]).toMatchObject({
      key: "configmap/a-x",
      by: ["vandal"],
      fields: [{ path: "data.text", live: "theirs", wanted: "hi", by: ["vandal"] }],
    });
    expect(drifts[0]?.child.name).toBe("a-x");
    expect(told().filter((one) => one.startsWith("changed by somebody else"))).toHaveLength(1);
    // Now something changes that this one does not put up with: all of it is repaired.
    await scribble("a-x", { at: "elsewhere" }, "second");
    await shows("a-x", "hi");
    expect(drifts.at(-1)?.by).toEqual(["vandal", "second"]);
    await stage.eventually(async () => expect((await client.get(Site, "a")).status?.drifted).toBeUndefined());
  });

  it("that are to be kept as others change them stay so, until something else is wanted of them", async () => {
    await stage.start(pages({ onDrift: "keep" }));
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    await scribble("a-x", { text: "theirs" });
    await stage.eventually(() =>
      expect(told().at(-1)).toBe("changed by somebody else, it is kept as it is | ConfigMap a-x | data.text | vandal"),
    );
    await client.patch(Site, "a", { metadata: { labels: { look: "again" } } });
    await stage.quiet();
    expect(await text("a-x")).toBe("theirs");
    expect(told()).toHaveLength(2);
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await shows("a-x", "ho");
  });

  it("whose drift is answered with nonsense say what can be answered", async () => {
    await stage.start(pages({ onDrift: (() => "ignore") as never }));
    await stage.client.create(site("a", "x"));
    await shows("a-x", "hi");
    await scribble("a-x", { text: "theirs" });
    const problem = 'onDrift answered "ignore": return "repair", "keep" or nothing';
    await stage.eventually(() => expect(stage.logs.map(({ fields }) => fields?.error)).toContain(problem));
  });

  it("that somebody else changes back again and again are repaired ever more slowly, and it is said why", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "sites", settings: { queueing: { hotLoop: 5 } } });
    await stage.start(pages({ conditions: true }, operator), { clock });
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    const repairs = () => told().filter((one) => one.startsWith("repaired")).length;
    for (let fight = 1; fight <= 6; fight++) {
      await scribble("a-x", { text: `mine ${fight}` });
      await stage.eventually(() => expect(repairs()).toBe(fight));
    }
    await scribble("a-x", { text: "mine again" });
    await stage.eventually(async () => {
      const { conditions = [] } = (await client.get(Site, "a")).status as { conditions?: { reason: string }[] };
      expect(conditions.map(({ reason }) => reason)).toContain("Contested");
    });
    await stage.quiet();
    expect([repairs(), await text("a-x")]).toEqual([6, "mine again"]);
    const said = "a child is changed by somebody else again and again, its repair is slowed down";
    expect(stage.logs.find(({ message }) => message === said)?.fields).toMatchObject({
      child: "ConfigMap a-x",
      fields: "data.text",
      by: "vandal",
    });
    await stage.inTime(clock, async () => expect(await text("a-x")).toBe("hi"));
    // It is told when the server has answered.
    await stage.eventually(() => expect(repairs()).toBe(7));
  });

  it("outside of the cluster are told in the same way", async () => {
    const records = new Map<string, string>();
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "dns", external: true }, ({ name, spec }) => ({
      key: "dns",
      desired: { host: spec.text },
      read: () => (records.has(name) ? { host: records.get(name) } : undefined),
      create: () => records.set(name, spec.text),
      update: () => records.set(name, spec.text),
      delete: () => records.delete(name),
    }));
    await stage.start(operator);
    const { client } = stage;
    await client.create(site("a"));
    await stage.eventually(() => expect(records.get("a")).toBe("hi"));
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(() => expect(records.get("a")).toBe("ho"));
    await client.delete(Site, "a");
    await client.wait(Site, "a", "delete", { timeout: "170s" });
    expect(told()).toEqual(["created | dns", "changed | dns", "deleted | dns | its parent goes"]);
  });

  /** An operator that also handles the kind of its children. */
  function minding(update: (name: string, was: unknown, is: unknown) => unknown, options: ChildrenOptions<SiteBody>) {
    const operator = new Operator({ name: "sites", settings: { queueing: { concurrency: 1 } } });
    operator.on.update(ConfigMap, { id: "mind" }, async ({ name, old, new: now }) => {
      await update(name, (old as ConfigMap["body"]).data?.text, (now as ConfigMap["body"]).data?.text);
    });
    return pages(options, operator);
  }

  it("that are repaired before their own handlers had a turn call none of them", async () => {
    const door = gate();
    const calls: string[] = [];
    const mind = async (name: string) => {
      calls.push(name);
      if (name === "busy") await door.passed;
    };
    await stage.start(minding(mind, {}));
    const { client } = stage;
    await client.create(site("a", "x"));
    await client.create(ConfigMap.gen({ name: "busy", data: { text: "1" } }));
    await shows("a-x", "hi");
    await stage.quiet();
    // One handler at a time: this one holds up all of its kind.
    await client.patch(ConfigMap, "busy", { data: { text: "2" } });
    await stage.eventually(() => expect(calls).toEqual(["busy"]));
    await scribble("a-x", { text: "mine" });
    await stage.eventually(() => expect(told().some((one) => one.startsWith("repaired"))).toBe(true));
    door.open();
    await stage.quiet();
    expect(calls).toEqual(["busy"]);
  });

  it("call a handler that has been told of a drift once more when they are repaired, and not again", async () => {
    const calls: string[] = [];
    const door = gate();
    const mind = (name: string, was: unknown, is: unknown) => {
      calls.push(`${name}: ${was} → ${is}`);
      if (is === "mine") door.open();
    };
    const onDrift = async () => {
      await door.passed;
      return "repair" as const;
    };
    await stage.start(minding(mind, { onDrift }));
    const { client } = stage;
    await client.create(site("a", "x"));
    await shows("a-x", "hi");
    await stage.quiet();
    await scribble("a-x", { text: "mine" });
    await shows("a-x", "hi");
    await stage.eventually(() => expect(calls).toEqual(["a-x: hi → mine", "a-x: mine → hi"]));
    await stage.quiet();
    expect(calls).toHaveLength(2);
    // What the parent wants is a change like any other: told once.
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(() => expect(calls.at(-1)).toBe("a-x: hi → ho"));
    await stage.quiet();
    expect(calls).toHaveLength(3);
  });
});
