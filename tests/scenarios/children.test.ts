import { ConfigMap, type KubeBody, Secret } from "@lotse/client";
import { type DesiredChildren, Operator, resource } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Site = resource({
  group: "children.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({
    pages: z.array(z.string()).default([]),
    text: z.string().default("hi"),
    secret: z.boolean().optional(),
  }),
  status: z.object({}),
});
type SiteSpec = { readonly pages: readonly string[]; readonly text: string; readonly secret?: boolean | undefined };

const site = (name: string, pages: string[], more: { text?: string; secret?: boolean } = {}) =>
  new Site({ metadata: { name }, spec: { pages, text: "hi", ...more } });
const page = (name: string, at: string, text: string) => ConfigMap.gen({ name: `${name}-${at}`, data: { text } });

interface Written {
  readonly verb: string;
  readonly name: string;
}

describeOn(clustersUnderTest(), "children", (cluster) => {
  const stage = useStage(cluster, "children");

  function pages(): Operator {
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "pages", owns: [ConfigMap, Secret] }, ({ name, spec }) => {
      const { pages: all, text, secret } = spec as SiteSpec;
      return [
        ...all.map((at) => page(name, at, text)),
        secret && Secret.gen({ name: `${name}-key`, stringData: { key: text } }),
      ];
    });
    return operator;
  }

  const maps = async () =>
    (await stage.client.list(ConfigMap).toArray()).filter(({ name }) => name !== "kube-root-ca.crt");
  const names = async () => (await maps()).map(({ name }) => name).sort();
  const settled = (...wanted: string[]) => stage.eventually(async () => expect(await names()).toEqual(wanted));
  const versions = async () => (await maps()).map(({ metadata }) => metadata.resourceVersion);

  it("are made, changed where they differ, and deleted when they are no longer wanted", async () => {
    await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", ["x", "y"]));
    await settled("a-x", "a-y");
    const before = await client.get(ConfigMap, "a-x");
    expect(before.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Site", name: "a", controller: true });
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(async () => expect((await maps()).map(({ data }) => data?.text)).toEqual(["ho", "ho"]));
    await client.patch(Site, "a", { spec: { pages: ["y", "z"] } });
    await settled("a-y", "a-z");
    await client.delete(Site, "a");
    if (cluster().kind === "embedded") await settled();
  });

  it("come back when they are deleted, and are repaired when somebody changes them", async () => {
    await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", ["x"]));
    await settled("a-x");
    const { uid } = await client.get(ConfigMap, "a-x");
    await client.delete(ConfigMap, "a-x");
    await stage.eventually(async () => expect((await client.get(ConfigMap, "a-x")).uid).not.toBe(uid));
    await client.patch(ConfigMap, "a-x", { data: { text: "mine" } });
    await stage.eventually(async () => expect((await client.get(ConfigMap, "a-x")).data).toEqual({ text: "hi" }));
  });

  it("keep what others add to them", async () => {
    await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", ["x"]));
    await settled("a-x");
    await client.patch(ConfigMap, "a-x", { data: { more: "theirs" }, metadata: { labels: { seen: "yes" } } });
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(async () =>
      expect((await client.get(ConfigMap, "a-x")).data).toEqual({ text: "ho", more: "theirs" }),
    );
    expect((await client.get(ConfigMap, "a-x")).labels.seen).toBe("yes");
  });

  it("cost one run and the writes that differ", async () => {
    let runs = 0;
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "pages", owns: [ConfigMap], conditions: false }, ({ name, spec }) => {
      runs++;
      return spec.pages.map((at) => page(name, at, at === "x" ? spec.text : "same"));
    });
    await stage.start(operator);
    const { client } = stage;
    await client.create(site("a", ["x", "y", "z"]));
    await settled("a-x", "a-y", "a-z");
    await stage.quiet();
    expect(runs).toBe(1);
    const before = await versions();
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(async () => expect((await client.get(ConfigMap, "a-x")).data?.text).toBe("ho"));
    await stage.quiet();
    expect(runs).toBe(2);
    const after = await versions();
    expect(after.map((version, at) => version === before[at])).toEqual([false, true, true]);
  });

  it("are not written at a restart, also where the server made something else of them", async () => {
    const first = await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", ["x"], { secret: true }));
    await stage.eventually(async () => expect(await client.get(Secret, "a-key")).toBeDefined());
    await stage.quiet();
    const state = async () => [
      (await client.get(Site, "a")).metadata.resourceVersion,
      (await client.get(ConfigMap, "a-x")).metadata.resourceVersion,
      (await client.get(Secret, "a-key")).metadata.resourceVersion,
    ];
    const before = await state();
    await first.stop();
    await stage.start(pages());
    await stage.quiet();
    expect(await state()).toEqual(before);
  });

  it("leave objects of others alone, and say whose name is taken", async () => {
    const { client } = stage;
    await client.create(ConfigMap.gen({ name: "a-x", data: { text: "theirs" } }));
    const { resourceVersion } = (await client.get(ConfigMap, "a-x")).metadata;
    await stage.start(pages());
    await client.create(site("a", ["x", "y"]));
    await settled("a-x", "a-y");
    await stage.eventually(async () =>
      expect(await conditions("a")).toContain(
        "child.lotse.dev/configmap.a-x=False NameTaken ConfigMap a-x is there already and was not made by this operator: rename the child, or delete that object",
      ),
    );
    expect((await client.get(ConfigMap, "a-x")).metadata.resourceVersion).toBe(resourceVersion);
    await client.patch(Site, "a", { spec: { pages: [] } });
    await settled("a-x");
    await client.patch(Site, "a", { spec: { pages: ["x"] } });
    await client.delete(ConfigMap, "a-x");
    await stage.eventually(async () => expect((await client.get(ConfigMap, "a-x")).data?.text).toBe("hi"));
  });

  async function conditions(name: string): Promise<string[]> {
    const { status } = (await stage.client.get(Site, name)).body as KubeBody & {
      status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
    };
    return (status?.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason} ${one.message}`.trim());
  }

  it("are reported one by one and as a whole", async () => {
    await stage.start(pages());
    const { client } = stage;
    await client.create(site("a", ["x"]));
    await stage.eventually(async () =>
      expect(await conditions("a")).toEqual([
        "child.lotse.dev/configmap.a-x=True Ready it is there",
        "Ready=True ChildrenReady 1 of 1 are ready",
      ]),
    );
    const { status, metadata } = (await client.get(Site, "a")).body as unknown as KubeBody & {
      status: { observedGeneration: number };
    };
    expect(status.observedGeneration).toBe(metadata?.generation);
    await client.patch(Site, "a", { spec: { pages: ["y"] } });
    await stage.eventually(async () =>
      expect(await conditions("a")).toEqual([
        "Ready=True ChildrenReady 1 of 1 are ready",
        "child.lotse.dev/configmap.a-y=True Ready it is there",
      ]),
    );
  });

  it("come in order, and go in reverse", async () => {
    const written: Written[] = [];
    const operator = new Operator({ name: "sites" });
    operator.on.event(ConfigMap, ({ type, name }) => {
      if (type === "ADDED" || type === "DELETED") written.push({ verb: type, name });
    });
    operator.children(Site, { id: "pages", owns: [ConfigMap], deletion: "reverse" }, ({ name, spec }) => {
      const open = (live: { body: KubeBody }) => live.body.metadata?.labels?.ready === "yes";
      return [
        { key: "third", after: "second", child: page(name, "third", "3") },
        { key: "second", after: ["first"], readyWhen: open, child: page(name, "second", "2") },
        { key: "first", child: page(name, "first", spec.text), readyWhen: open },
      ];
    });
    await stage.start(operator);
    const { client } = stage;
    await client.create(site("a", []));
    await settled("a-first");
    await stage.eventually(async () =>
      expect(await conditions("a")).toContain("child.lotse.dev/second=False Waiting waits for first"),
    );
    await client.patch(ConfigMap, "a-first", { metadata: { labels: { ready: "yes" } } });
    await settled("a-first", "a-second");
    await client.patch(ConfigMap, "a-second", { metadata: { labels: { ready: "yes" } } });
    await settled("a-first", "a-second", "a-third");
    await client.delete(Site, "a");
    await client.wait(Site, "a", "delete", { timeout: "170s" });
    await stage.eventually(() =>
      expect(written.filter(({ verb }) => verb === "DELETED").map(({ name }) => name)).toEqual([
        "a-third",
        "a-second",
        "a-first",
      ]),
    );
  });

  it("of kinds that were not named are found and deleted all the same, also after a restart", async () => {
    const make = () => {
      const operator = new Operator({ name: "sites" });
      operator.children(
        Site,
        { id: "pages" },
        ({ name, spec }): DesiredChildren => spec.pages.map((at) => page(name, at, spec.text)),
      );
      return operator;
    };
    const first = await stage.start(make());
    const { client } = stage;
    await client.create(site("a", ["x"]));
    await settled("a-x");
    await stage.quiet();
    await first.stop();
    await client.patch(Site, "a", { spec: { pages: [] } });
    await stage.start(make());
    await settled();
  });

  it("outside of the cluster are created, updated and deleted by their functions", async () => {
    const records = new Map<string, { target: string }>();
    const calls: string[] = [];
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "dns", external: true }, ({ name, spec }) => [
      {
        key: "dns",
        wanted: !spec.pages.includes("none"),
        desired: { target: spec.text },
        read: () => records.get(name),
        create: () => {
          calls.push("create");
          records.set(name, { target: spec.text });
        },
        update: () => {
          calls.push("update");
          records.set(name, { target: spec.text });
        },
        delete: () => {
          calls.push("delete");
          records.delete(name);
        },
      },
    ]);
    await stage.start(operator);
    const { client } = stage;
    await client.create(site("a", []));
    await stage.eventually(() => expect(records.get("a")).toEqual({ target: "hi" }));
    await client.patch(Site, "a", { spec: { text: "ho" } });
    await stage.eventually(() => expect(records.get("a")).toEqual({ target: "ho" }));
    await client.patch(Site, "a", { spec: { pages: ["none"] } });
    await stage.eventually(() => expect(records.size).toBe(0));
    await client.patch(Site, "a", { spec: { pages: [] } });
    await stage.eventually(() => expect(records.size).toBe(1));
    await client.delete(Site, "a");
    await client.wait(Site, "a", "delete", { timeout: "170s" });
    expect(records.size).toBe(0);
    expect(calls).toEqual(["create", "update", "delete", "create", "delete"]);
  });

  it("that cannot be are refused with a sentence in the condition", async () => {
    const operator = new Operator({ name: "sites" });
    operator.children(Site, { id: "pages" }, ({ spec }) => [
      ConfigMap.gen({ name: spec.text }),
      ConfigMap.gen({ name: spec.text }),
    ]);
    await stage.start(operator);
    await stage.client.create(site("a", []));
    await stage.eventually(() =>
      expect(stage.logs.map(({ message, fields }) => `${message}: ${fields?.error}`)).toContain(
        'reconciling failed for good, until something changes: two children are called "configmap/hi": give one of them another name or key',
      ),
    );
  });
});
