import { type Client, ConfigMap, Deployment } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Site = resource({
  group: "conditions.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ page: z.string().default("hello"), broken: z.string().optional() }),
  status: z.object({ seen: z.string().optional() }),
});

describeOn(clustersUnderTest(), "the conditions of an object", (cluster) => {
  const stage = useStage(cluster, "conditions");
  const { start, eventually, quiet } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const site = (name: string, spec: { page?: string; broken?: string } = {}) =>
    client.create(new Site({ metadata: { name }, spec }));
  /** `Ready=True ChildrenReady @1`, children aside, with the generation that they speak of. */
  const conditions = async (name: string) => {
    const { status } = await client.get(Site, name);
    return (status?.conditions ?? [])
      .filter(({ type }) => !type.includes("/"))
      .map(({ type, status: is, reason, observedGeneration: at }) => `${type}=${is} ${reason} @${at}`)
      .sort();
  };

  /** Keeps a page, and fails in the way that `spec.broken` says. */
  function keeper(): Operator {
    const operator = new Operator({ name: "op" });
    operator.children(Site, { owns: [ConfigMap], backoff: "10s" }, function page({ name, spec }) {
      if (spec.broken === "throws") throw new Error("no paper");
      if (spec.broken === "for good") throw new PermanentError("no printer");
      if (spec.broken === "waits") throw new TemporaryError("no ink", { delay: "10s" });
      const labels = spec.broken === "refused" ? { "not a key": "x" } : {};
      return ConfigMap.gen({ name, labels, data: { page: spec.page } });
    });
    return operator;
  }

  it.each([
    ["throws", "ReconcileRetrying", "Reconciling"],
    ["waits", "Waiting", "Reconciling"],
    ["for good", "ReconcileFailed", "Stalled"],
    ["refused", "ChildFailed", "Stalled"],
  ])(
    "are not Ready after a change that broke it: children that are to be made of a spec that %s",
    async (broken, reason, type) => {
      await start(keeper(), { clock: new VirtualClock() });
      const one = await site("one");
      await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True ChildrenReady @1"]));
      await one.patch({ spec: { broken } });
      const expected = [`Ready=False ${reason} @2`, `${type}=True ${reason} @2`].sort();
      await eventually(async () => expect(await conditions("one")).toEqual(expected));
      expect((await client.get(Site, "one")).status?.observedGeneration).toBe(2);
      // And a new one says it too.
      await site("two", { broken });
      await eventually(async () =>
        expect((await conditions("two")).map((text) => text.replace("@1", "@2"))).toEqual(expected),
      );
      await one.patch({ spec: { broken: null } });
      await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True ChildrenReady @3"]));
    },
  );

  it("are not Ready while a handler has failed for good, whatever the children say, and are again when it is mended", async () => {
    const operator = keeper();
    operator.on.create(Site, function publish({ spec, patch }) {
      if (spec.page === "secret") throw new PermanentError("it must not be published");
      patch.status.seen = spec.page;
    });
    await start(operator);
    const one = await site("one", { page: "secret" });
    await eventually(async () =>
      expect(await conditions("one")).toEqual(["Ready=False HandlerFailed @1", "Stalled=True HandlerFailed @1"]),
    );
    await quiet();
    expect((await client.get(ConfigMap, "one")).body.data).toEqual({ page: "secret" });
    await one.patch({ spec: { page: "public" } });
    await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True ChildrenReady @2"]));
    expect((await client.get(Site, "one")).status?.seen).toBe("public");
  });

  it("speak for several reconcilers together", async () => {
    const operator = new Operator({ name: "op" });
    operator.reconcile(Site, { conditions: true }, async function good() {});
    operator.reconcile(Site, { conditions: true }, async function bad({ spec }) {
      if (spec.page === "bad") throw new PermanentError("bad page");
    });
    operator.reconcile(Site, { conditions: true }, async function alsoGood() {});
    await start(operator);
    const one = await site("one", { page: "bad" });
    await eventually(async () =>
      expect(await conditions("one")).toEqual(["Ready=False ReconcileFailed @1", "Stalled=True ReconcileFailed @1"]),
    );
    await one.patch({ spec: { page: "good" } });
    await eventually(async () => expect(await conditions("one")).toEqual(["Ready=True Reconciled @2"]));
  });

  it("are left to others on kinds that are not the operator's own", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.create(Deployment, { labels: { app: "mine" } }, function fail() {
      throw new PermanentError("never");
    });
    await start(operator);
    const labels = { app: "mine" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
    await client.create(
      new Deployment({
        metadata: { name: "one", labels },
        spec: { replicas: 0, selector: { matchLabels: labels }, template },
      }),
    );
    await eventually(() => expect(stage.logs.map(({ message }) => message)).toContain("handler failed for good"));
    await quiet();
    const { status } = await client.get(Deployment, "one");
    expect((status?.conditions ?? []).map(({ type }) => type)).not.toContain("Stalled");
  });
});
