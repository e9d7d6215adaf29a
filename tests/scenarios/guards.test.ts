import { type Client, Event, NotFoundError } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Vault = resource({
  group: "vaults.example.com",
  version: "v1",
  kind: "Vault",
  spec: z.object({ size: z.number().default(1), key: z.string().optional() }),
  status: z.object({ seen: z.number().optional() }),
});

describeOn(clustersUnderTest(), "guards against operators that go wrong", (cluster) => {
  const stage = useStage(cluster, "guards");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const vault = (name: string, spec: { size?: number; key?: string } = {}) =>
    client.create(new Vault({ metadata: { name }, spec } as never));
  const conditionOf = async (name: string, type: string) => {
    const { status } = await client.get(Vault, name);
    const { conditions = [] } = status as { conditions?: { type: string; status: string; message: string }[] };
    return conditions.find((condition) => condition.type === type);
  };

  /** Gives up on every vault that has no key. */
  function closing(seen: string[]): Operator {
    const operator = new Operator({ name: "op" });
    operator.on.delete(Vault, { onGiveUp: "keep" }, function closeVault({ name, spec }) {
      seen.push(name);
      if (!spec.key) throw new PermanentError("the key is lost");
    });
    return operator;
  }

  it("keep an object whose deletion cannot be handled, until somebody changes it", async () => {
    const seen: string[] = [];
    await start(closing(seen));
    const one = await vault("one");
    await eventually(async () => expect((await client.get(Vault, "one")).metadata.finalizers).toHaveLength(1));
    await one.delete();
    await eventually(async () =>
      expect(await conditionOf("one", "DeletionFailed")).toMatchObject({
        status: "True",
        message: expect.stringContaining("closeVault failed for good: the key is lost"),
      }),
    );
    await quiet();
    expect(seen).toEqual(["one"]);
    expect(logs.map(({ message }) => message)).toContain(
      "the object is kept, because its deletion could not be handled",
    );
    await eventually(async () => {
      const events = await client.list(Event).toArray();
      expect(events.map(({ body }) => body.reason)).toContain("DeletionFailed");
    });
    await client.patch(Vault, "one", { spec: { key: "found again" } });
    await eventually(() => expect(client.get(Vault, "one")).rejects.toBeInstanceOf(NotFoundError));
    expect(seen).toEqual(["one", "one"]);
  });

  it("try a deletion that was given up on again when the operator starts anew, and only once", async () => {
    const seen: string[] = [];
    const first = await start(closing(seen));
    const one = await vault("one");
    await eventually(async () => expect((await client.get(Vault, "one")).metadata.finalizers).toHaveLength(1));
    await one.delete();
    await eventually(() => expect(seen).toEqual(["one"]));
    await quiet();
    await first.stop();
    await start(closing(seen));
    await eventually(() => expect(seen).toEqual(["one", "one"]));
    await quiet();
    expect(seen).toHaveLength(2);
    await client.patch(Vault, "one", { metadata: { finalizers: null } });
  });

  it("let an object go by default when its deletion has failed for good", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.delete(Vault, function closeVault() {
      throw new PermanentError("the key is lost");
    });
    await start(operator);
    const one = await vault("one");
    await eventually(async () => expect((await client.get(Vault, "one")).metadata.finalizers).toHaveLength(1));
    await one.delete();
    await eventually(() => expect(client.get(Vault, "one")).rejects.toBeInstanceOf(NotFoundError));
  });

  it("slow a handler down that is called by its own changes, and say which fields flip", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 5 } } });
    let calls = 0;
    operator.on.update(Vault, function grow({ spec, patch }) {
      calls++;
      patch.spec.size = spec.size + 1;
    });
    const running = await start(operator, { clock });
    await vault("one");
    await quiet();
    await client.patch(Vault, "one", { spec: { size: 10 } });
    await eventually(async () =>
      expect(await conditionOf("one", "HotLoop")).toMatchObject({
        status: "True",
        message: expect.stringMatching(/grow .*spec\.size/),
      }),
    );
    await quiet();
    // One for the foreign change, five that are allowed, and one that was too many.
    expect(calls).toBe(7);
    expect(running.metrics()).toContain('lotse_hot_loops_total{operator="op",kind="Vault"} 1');
    const { fields } = logs.find(({ message }) => message.includes("by its own changes")) ?? {};
    expect(fields).toMatchObject({ handlers: "grow", fields: "spec.size", pause: "1s" });
    await clock.advance(1_000);
    await eventually(() => expect(calls).toBe(8));
    await quiet();
    expect(calls).toBe(8);
  });

  it("forget a hot loop as soon as somebody else changes the object", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op", settings: { queueing: { hotLoop: 2 } } });
    let calls = 0;
    operator.on.update(Vault, { when: ({ spec }) => spec.key === undefined }, function grow({ spec, patch }) {
      calls++;
      patch.spec.size = spec.size + 1;
    });
    await start(operator, { clock });
    await vault("one");
    await quiet();
    await client.patch(Vault, "one", { spec: { size: 10 } });
    await eventually(async () => expect(await conditionOf("one", "HotLoop")).toMatchObject({ status: "True" }));
    const before = calls;
    await client.patch(Vault, "one", { spec: { size: 100 } });
    // At once, with no time having passed.
    await eventually(() => expect(calls).toBeGreaterThan(before));
    await client.patch(Vault, "one", { spec: { key: "enough" } });
    await quiet();
    await client.delete(Vault, "one");
  });
});
