/** Children of a parent that stops being one: its labels, its fields or a question say so. */
import { ConfigMap, type KubeBody } from "@lotse/client";
import { type ChildrenOptions, Operator, resource } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Site = resource({
  group: "mismatch.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ text: z.string().default("hi"), live: z.boolean().optional() }),
  status: z.object({}),
});
type SiteBody = InstanceType<typeof Site>["body"];

const site = (name: string, labels: Record<string, string> = { live: "yes" }) =>
  new Site({ metadata: { name, labels }, spec: { text: "hi" } });

describeOn(clustersUnderTest(), "children of a parent that no longer matches", (cluster) => {
  const stage = useStage(cluster, "mismatch");

  function pages(options: ChildrenOptions<SiteBody> = {}): Operator {
    const operator = new Operator({ name: "sites" });
    const how = { id: "pages", owns: [ConfigMap], labels: { live: "yes" }, ...options };
    operator.children(Site, how, ({ name, spec }) => [
      { key: "first", child: ConfigMap.gen({ name: `${name}-first`, data: { text: spec.text } }) },
      { key: "last", after: "first", child: ConfigMap.gen({ name: `${name}-last`, data: { text: spec.text } }) },
    ]);
    return operator;
  }
  const names = async () =>
    (await stage.client.list(ConfigMap).toArray()).map(({ name }) => name).filter((name) => name.startsWith("a-"));
  const there = (...wanted: string[]) => stage.eventually(async () => expect(await names()).toEqual(wanted));
  const live = (value: string | null) => stage.client.patch(Site, "a", { metadata: { labels: { live: value } } });
  const parent = async () =>
    (await stage.client.get(Site, "a")).body as KubeBody & { status?: { conditions?: unknown[] } };
  const deleted = () =>
    stage.logs.filter(({ message }) => message === "the child was deleted").map(({ fields = {} }) => fields);

  it("are deleted, those that come after others first, and come back when it matches again", async () => {
    await stage.start(pages());
    await stage.client.create(site("a"));
    await there("a-first", "a-last");
    await live("no");
    await there();
    await stage.eventually(() =>
      expect(deleted().map(({ child, why }) => `${child}: ${why}`)).toEqual([
        "ConfigMap a-last: its parent no longer matches",
        "ConfigMap a-first: its parent no longer matches",
      ]),
    );
    await stage.eventually(async () => expect((await parent()).status?.conditions ?? []).toEqual([]));
    await live("yes");
    await there("a-first", "a-last");
  });

  it("stay as they are with onMismatch: keep, and are looked after again when it matches again", async () => {
    await stage.start(pages({ onMismatch: "keep" }));
    await stage.client.create(site("a"));
    await there("a-first", "a-last");
    await live(null);
    await stage.quiet();
    await stage.client.patch(ConfigMap, "a-first", { data: { text: "mine" } });
    await stage.client.delete(ConfigMap, "a-last");
    await stage.quiet();
    expect(await names()).toEqual(["a-first"]);
    expect((await stage.client.get(ConfigMap, "a-first")).data?.text).toBe("mine");
    await live("yes");
    await there("a-first", "a-last");
    await stage.eventually(async () => expect((await stage.client.get(ConfigMap, "a-first")).data?.text).toBe("hi"));
  });

  it.each<[how: string, options: ChildrenOptions<SiteBody>, change: object]>([
    ["a field", { labels: {}, field: "spec.text", value: "hi" }, { spec: { text: "ho" } }],
    ["a question", { labels: {}, when: ({ spec }) => spec.text === "hi" }, { spec: { text: "ho" } }],
    [
      "an annotation",
      { labels: {}, annotations: { off: (value) => value !== "yes" } },
      { metadata: { annotations: { off: "yes" } } },
    ],
  ])("are deleted when %s says so", async (_, options, change) => {
    await stage.start(pages(options));
    await stage.client.create(site("a"));
    await there("a-first", "a-last");
    await stage.client.patch(Site, "a", change);
    await there();
  });

  it("are deleted at the next start when it stopped to match meanwhile, also those of kinds that were not named", async () => {
    for (const owns of [[ConfigMap], []]) {
      const first = await stage.start(pages({ owns }));
      await stage.client.create(site("a"));
      await there("a-first", "a-last");
      await stage.quiet();
      await first.stop();
      await live("no");
      const second = await stage.start(pages({ owns }));
      await there();
      await stage.quiet();
      // Nothing on the parent speaks of them any more.
      expect(Object.keys((await parent()).metadata?.annotations ?? {})).toEqual([]);
      const version = (await parent()).metadata?.resourceVersion;
      await second.stop();
      const third = await stage.start(pages({ owns }));
      await stage.quiet();
      expect((await parent()).metadata?.resourceVersion).toBe(version);
      await third.stop();
      await stage.client.delete(Site, "a");
    }
  });

  it("cost nothing for objects that never matched: they are not written", async () => {
    const { client } = stage;
    await client.create(site("a", {}));
    const version = (await parent()).metadata?.resourceVersion;
    await client.create(ConfigMap.gen({ name: "a-theirs", data: { text: "theirs" } }));
    await stage.start(pages({ deletion: "reverse" }));
    await stage.quiet();
    expect((await parent()).metadata?.resourceVersion).toBe(version);
    expect(await names()).toEqual(["a-theirs"]);
  });

  it("are deleted in reverse before the finalizer of their parent goes", async () => {
    await stage.start(pages({ deletion: "reverse" }));
    await stage.client.create(site("a"));
    await there("a-first", "a-last");
    expect((await parent()).metadata?.finalizers).toHaveLength(1);
    await live("no");
    await there();
    await stage.eventually(async () => expect((await parent()).metadata?.finalizers ?? []).toEqual([]));
    await stage.client.delete(Site, "a");
    await stage.client.wait(Site, "a", "delete", { timeout: "170s" });
  });

  it("that are kept are deleted in reverse when their parent goes all the same", async () => {
    await stage.start(pages({ deletion: "reverse", onMismatch: "keep" }));
    await stage.client.create(site("a"));
    await there("a-first", "a-last");
    await live("no");
    await stage.quiet();
    expect((await parent()).metadata?.finalizers).toHaveLength(1);
    await stage.client.delete(Site, "a");
    await stage.client.wait(Site, "a", "delete", { timeout: "170s" });
    await there();
    expect(deleted().map(({ child, why }) => `${child}: ${why}`)).toEqual([
      "ConfigMap a-last: its parent goes",
      "ConfigMap a-first: its parent goes",
    ]);
  });

  /** A name server that can be out of order. */
  function nameServer() {
    const records = new Set<string>();
    const state = { broken: false };
    const make = () => {
      const operator = new Operator({ name: "sites" });
      const how = {
        id: "dns",
        external: true,
        labels: { live: "yes" },
        backoff: { initial: "50ms", max: "50ms" },
      } as const;
      operator.children(Site, how, ({ name }) => ({
        key: "dns",
        read: () => (records.has(name) ? name : undefined),
        create: () => records.add(name),
        delete: () => {
          if (state.broken) throw new Error("the name server is out of order");
          records.delete(name);
        },
      }));
      return operator;
    };
    return { records, state, make };
  }

  it("outside of the cluster are deleted, and hold their parent until they are", async () => {
    const { records, state, make } = nameServer();
    await stage.start(make());
    await stage.client.create(site("a"));
    await stage.eventually(() => expect(records.size).toBe(1));
    state.broken = true;
    await live("no");
    await stage.eventually(() =>
      expect(stage.logs.map(({ fields }) => fields?.error)).toContain("the name server is out of order"),
    );
    expect((await parent()).metadata?.finalizers).toHaveLength(1);
    // It may even be deleted meanwhile: it waits.
    await stage.client.delete(Site, "a");
    await stage.quiet();
    expect((await parent()).metadata?.finalizers).toHaveLength(1);
    state.broken = false;
    await stage.client.wait(Site, "a", "delete", { timeout: "170s" });
    expect(records.size).toBe(0);
  });

  it("outside of the cluster are deleted at the next start, and their parent is let go", async () => {
    const { records, make } = nameServer();
    const first = await stage.start(make());
    await stage.client.create(site("a"));
    await stage.eventually(() => expect(records.size).toBe(1));
    await stage.quiet();
    await first.stop();
    await live("no");
    await stage.start(make());
    await stage.eventually(() => expect(records.size).toBe(0));
    await stage.eventually(async () => {
      const { finalizers = [], annotations = {} } = (await parent()).metadata ?? {};
      expect([finalizers, Object.keys(annotations)]).toEqual([[], []]);
    });
  });

  it("outside of the cluster that nobody knows how to delete are named", async () => {
    const records = new Set<string>();
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "dns", external: true, labels: { live: "yes" } }, ({ name, labels }) =>
      labels.live === "yes"
        ? [
            {
              key: "dns",
              read: () => (records.has(name) ? name : undefined),
              create: () => records.add(name),
              delete: () => records.delete(name),
            },
          ]
        : [],
    );
    await stage.start(operator);
    await stage.client.create(site("a"));
    await stage.eventually(() => expect(records.size).toBe(1));
    await live("no");
    const said = "things outside of the cluster are left behind, nobody says how to delete them";
    await stage.eventually(() =>
      expect(stage.logs.find(({ message }) => message === said)?.fields).toMatchObject({ things: "dns" }),
    );
    await stage.eventually(async () => expect((await parent()).metadata?.finalizers ?? []).toEqual([]));
  });
});
