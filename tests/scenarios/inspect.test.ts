/** What a running operator can be asked, and what is left of it when it is uninstalled. */
import { type Client, ConfigMap } from "@lotse/client";
import { Operator, resource, TemporaryError, uninstallOperator } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Lamp = resource({
  group: "inspect.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ on: z.boolean() }),
  status: z.object({ seen: z.boolean().optional() }),
});

describeOn(clustersUnderTest(), "a running operator", (cluster) => {
  const stage = useStage(cluster, "inspect");
  const { start, eventually, quiet } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const put = (name: string) => client.create(new Lamp({ metadata: { name }, spec: { on: true } }));

  it("tells what woke an object, what ran for it, what was written and what it waits for", async () => {
    const operator = new Operator({ name: "inspected" });
    operator.on.create(Lamp, { retries: 3, backoff: "1h" }, function light({ patch, retry }) {
      patch.status.seen = true;
      if (retry === 0) throw new TemporaryError("no bulb", { delay: "1h" });
    });
    const running = await start(operator);
    await put("desk");
    await quiet();
    const question = { kind: "lamps", namespace: stage.namespace, name: "desk" };
    await eventually(() => expect(running.explain(question)?.state).toBe("waits"));
    const explained = running.explain(question);
    expect(explained).toMatchObject({
      operator: "inspected",
      object: { apiVersion: "inspect.example.com/v1", kind: "Lamp", name: "desk", deleting: false },
      open: [{ handler: "light", reason: "create", attempts: 1, message: "no bulb" }],
    });
    expect(explained?.nextAt).toBeGreaterThan(Date.now() + 3_000_000);
    expect(explained?.turns[0]).toMatchObject({
      woke: [{ by: "added" }],
      ran: [{ handler: "light", reason: "create", outcome: "waits", message: "no bulb" }],
      wrote: [{ what: expect.stringMatching(/status.*record/) }],
    });
    expect(running.explain({ ...question, name: "nobody" })).toBeUndefined();
    expect(running.explain({ ...question, kind: "chairs" })).toBeUndefined();
  });

  it("does not say that an object waits whose next turn follows at once", async () => {
    const operator = new Operator({ name: "followed" });
    // What was written may be what the filter waits for, so the object is looked at once more.
    operator.on.create(Lamp, { when: ({ spec }) => spec.on }, function light({ patch }) {
      patch.status.seen = true;
    });
    const running = await start(operator);
    await put("wall");
    await eventually(async () => expect((await client.get(Lamp, "wall")).body.status?.seen).toBe(true));
    await quiet();
    const { state, turns = [] } = running.explain({ kind: "lamp", namespace: stage.namespace, name: "wall" }) ?? {};
    expect(state).toBe("waits");
    expect(turns.map(({ after }) => after)).toEqual(["goes on", "waits"]);
    expect(turns[1]?.woke).toContainEqual({ by: "again" });
  });

  it("says how its streams are, and counts under the names that dashboards know", async () => {
    const operator = new Operator({ name: "counted" });
    operator.on.create(Lamp, function light({ patch }) {
      patch.status.seen = true;
    });
    const running = await start(operator);
    expect(running.health()).toMatchObject({
      operator: "counted",
      phase: "ready",
      missing: [],
      streams: [{ kind: "Lamp", namespace: stage.namespace, phase: expect.stringMatching(/watching|listing/) }],
    });
    await put("floor");
    await eventually(async () => expect((await client.get(Lamp, "floor")).body.status?.seen).toBe(true));
    await quiet();
    const metrics = running.metrics();
    expect(metrics).toMatch(/controller_runtime_reconcile_total\{controller="lamp",result="success"\} \d/);
    expect(metrics).toMatch(/workqueue_adds_total\{name="lamp",controller="lamp"\} [1-9]/);
    expect(metrics).toContain('lotse_handler_runs_total{kind="Lamp",handler="light",outcome="succeeded"} 1\n');
    expect(metrics).toContain('lotse_writes_total{kind="Lamp"} 1\n');
    expect(metrics).toContain('workqueue_depth{name="lamp",controller="lamp"} 0\n');
    await running.stop();
    expect(running.health().phase).toBe("stopped");
  });

  it("names a kind that it waits for", async () => {
    const operator = new Operator({ name: "waiting" });
    const Missing = resource({ group: "missing.example.com", version: "v1", kind: "Missing", spec: z.object({}) });
    operator.on.create(Missing, function never() {});
    const running = operator.start({ client, crds: "wait", namespaces: [stage.namespace], log: () => {} });
    stage.running.push(running);
    await eventually(() =>
      expect(running.health()).toMatchObject({ phase: "starting", missing: ["missings.missing.example.com"] }),
    );
  });

  it("leaves nothing on objects after it is uninstalled, and others' finalizers stay", async () => {
    const operator = new Operator({ name: "leaving" });
    operator.on.create(Lamp, function light() {});
    operator.on.delete(Lamp, function unplug() {});
    operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function note() {});
    const running = await start(operator);
    const other = "example.com/keep";
    await client.create(new Lamp({ metadata: { name: "wall", finalizers: [other] }, spec: { on: true } }));
    await client.create(ConfigMap.gen({ name: "note", labels: { mine: "yes" } }));
    await eventually(async () => {
      expect((await client.get(Lamp, "wall")).metadata.finalizers).toEqual([other, "leaving.lotse.dev/finalizer"]);
      expect((await client.get(ConfigMap, "note")).annotations).toHaveProperty(["leaving.lotse.dev/state"]);
    });
    await quiet();
    await running.stop();

    const where = { namespaces: [stage.namespace] };
    const planned = [];
    for await (const one of uninstallOperator(operator, client, { ...where, dryRun: true })) planned.push(one);
    expect(planned.map(({ name, marks }) => [name, marks])).toEqual([
      ["wall", ["finalizer", "record"]],
      ["note", ["record"]],
    ]);
    expect((await client.get(Lamp, "wall")).metadata.finalizers).toContain("leaving.lotse.dev/finalizer");

    const done = [];
    for await (const one of uninstallOperator(operator, client, where)) done.push(one);
    expect(done).toHaveLength(2);
    const lamp = await client.get(Lamp, "wall");
    expect(lamp.metadata.finalizers).toEqual([other]);
    expect(JSON.stringify(lamp.body)).not.toContain("leaving.lotse.dev/");
    expect(JSON.stringify(lamp.body.status ?? {})).not.toContain("leaving");
    expect((await client.get(ConfigMap, "note")).annotations).toEqual({});
    const again = [];
    for await (const one of uninstallOperator(operator, client, where)) again.push(one);
    expect(again).toEqual([]);
    await lamp.patch({ metadata: { finalizers: null } });
  });
});
