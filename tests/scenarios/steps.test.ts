import type { Client } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Plan = resource({
  group: "steps.example.com",
  version: "v1",
  kind: "Plan",
  spec: z.object({}),
  status: z.object({ done: z.unknown().optional() }),
});

describeOn(clustersUnderTest(), "steps", (cluster) => {
  const stage = useStage(cluster, "steps");
  const { start, eventually, running } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const plan = () => client.create(new Plan({ metadata: { name: "one" }, spec: {} }));
  const done = async () => (await client.get(Plan, "one")).status?.done;

  it("run once for a change, and give back what they returned", async () => {
    const seen: string[] = [];
    const operator = new Operator({ name: "op" });
    operator.on.create(Plan, async function work({ step, patch, retry }) {
      const disk = await step("disk", () => {
        seen.push("disk");
        return { id: 7 };
      });
      if (retry === 0) throw new TemporaryError("once more", { delay: 0 });
      patch.status.done = disk;
    });
    await start(operator);
    await plan();
    await eventually(async () => expect(await done()).toEqual({ id: 7 }));
    expect(seen).toEqual(["disk"]);
    expect((await client.get(Plan, "one")).status).not.toHaveProperty("lotse.op.runs");
  });

  it("are on the object before the next one begins", async () => {
    const operator = new Operator({ name: "op" });
    let remembered: unknown;
    operator.on.create(Plan, async function work({ step, client: own, name, patch }) {
      await step("first", () => "a");
      await step("second", async () => {
        remembered = (await own.get(Plan, name)).status;
      });
      patch.status.done = true;
    });
    await start(operator);
    await plan();
    await eventually(async () => expect(await done()).toBe(true));
    expect(remembered).toMatchObject({
      lotse: { op: { runs: { work: { steps: { first: { outcome: "done", result: "a" } } } } } },
    });
  });

  it("go on after the last finished one when the operator is started again", async () => {
    const seen: string[] = [];
    const declare = (stuck: boolean) => {
      const operator = new Operator({ name: "op" });
      operator.on.create(Plan, async function work({ step, patch, signal }) {
        await step("first", () => void seen.push("first"));
        await step("second", async () => {
          seen.push("second");
          if (stuck) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        });
        patch.status.done = true;
      });
      return operator;
    };
    const one = await start(declare(true));
    await plan();
    await eventually(() => expect(seen).toEqual(["first", "second"]));
    await one.stop();
    await start(declare(false));
    await eventually(async () => expect(await done()).toBe(true));
    expect(seen).toEqual(["first", "second", "second"]);
  });

  it("are tried again by themselves, without using up the handler's attempts", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Plan, { retries: 1 }, async function work({ step, patch, retry }) {
      await step("flaky", () => {
        seen.push(`flaky after ${retry}`);
        if (seen.length < 3) throw new TemporaryError("not yet", { delay: "10s" });
      });
      patch.status.done = true;
    });
    await start(operator, { clock });
    await plan();
    for (const count of [1, 2, 3]) {
      await eventually(() => expect(seen).toHaveLength(count));
      await eventually(async () => expect((await client.get(Plan, "one")).status).toBeDefined());
      await running[0]?.idle();
      await clock.advance(10_000);
    }
    await eventually(async () => expect(await done()).toBe(true));
    expect(seen).toEqual(["flaky after 0", "flaky after 0", "flaky after 0"]);
  });

  it("run side by side, each remembered by itself", async () => {
    const operator = new Operator({ name: "op" });
    const calls = { a: 0, b: 0 };
    operator.on.create(Plan, async function work({ step, patch }) {
      patch.status.done = await step.all({
        a: () => ++calls.a,
        b: async () => {
          calls.b++;
          if (calls.b === 1) throw new TemporaryError("b is late", { delay: 0 });
          return "b";
        },
      });
    });
    await start(operator);
    await plan();
    await eventually(async () => expect(await done()).toEqual({ a: 1, b: "b" }));
    expect(calls).toEqual({ a: 1, b: 2 });
  });

  it("fail their handler when they fail for good, unless it catches that", async () => {
    const operator = new Operator({ name: "op" });
    let calls = 0;
    operator.on.create(Plan, async function work({ step, patch }) {
      try {
        await step("never", () => {
          calls++;
          throw new PermanentError("no way");
        });
      } catch (error) {
        patch.status.done = (error as Error).message;
      }
    });
    await start(operator);
    await plan();
    await eventually(async () => expect(await done()).toBe("no way"));
    expect(calls).toBe(1);
  });

  it("need names of their own", async () => {
    const operator = new Operator({ name: "op" });
    const errors: unknown[] = [];
    operator.on.create(Plan, async function work({ step }) {
      await step("same", () => 1);
      await step("same", () => 2).catch((error: unknown) => errors.push((error as Error).message));
    });
    await start(operator);
    await plan();
    await eventually(() => expect(errors).toEqual(['the step name "same" is used twice in one handler']));
  });
});
