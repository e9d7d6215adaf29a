import { type Client, ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Tug = resource({
  group: "tugs.example.com",
  version: "v1",
  kind: "Tug",
  spec: z.object({ power: z.number().optional() }),
  status: z.object({ pulled: z.number().optional() }),
});

describeOn(clustersUnderTest(), "a handler that fails", (cluster) => {
  const stage = useStage(cluster, "errors");
  const { start, eventually, quiet, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const tug = (name: string) => client.create(new Tug({ metadata: { name }, spec: {} }));
  const said = (message: string) => logs.filter((line) => line.message === message);

  it("for an event is told once and not called again for it, whatever it throws", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    const errors = [new Error("boom"), new TemporaryError("wait", { delay: 0 }), new PermanentError("never")];
    operator.on.event(ConfigMap, { id: "broken", labels: { mine: "yes" } }, ({ type }) => {
      seen.push(`broken ${type}`);
      throw errors[seen.filter((one) => one.startsWith("broken")).length - 1];
    });
    operator.on.event(ConfigMap, { id: "next", labels: { mine: "yes" } }, ({ type }) => void seen.push(`next ${type}`));
    await start(operator);
    const object = await client.create(ConfigMap.gen({ name: "one", labels: { mine: "yes" } }));
    await object.patch({ data: { a: "b" } });
    await object.delete();
    await eventually(() => expect(seen).toHaveLength(6));
    await quiet();
    expect(seen).toEqual(["ADDED", "MODIFIED", "DELETED"].flatMap((type) => [`broken ${type}`, `next ${type}`]));
    expect(said("event handler failed").map(({ fields }) => [fields.handler, fields.error])).toEqual([
      ["broken", "boom"],
      ["broken", "wait"],
      ["broken", "never"],
    ]);
  });

  it("is called as often as its retries say, with its own pause between, and the log names the limit", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: number[] = [];
    operator.on.create(Tug, { id: "pull", retries: 3, backoff: "10s" }, ({ runtime }) => {
      seen.push(runtime);
      throw new Error("too heavy");
    });
    await start(operator, { clock });
    await tug("one");
    for (const calls of [1, 2]) {
      await eventually(() => expect(said("handler failed, will be tried again")).toHaveLength(calls));
      await quiet();
      await clock.advance(10_000);
    }
    await eventually(() => expect(said("handler failed for good")).toHaveLength(1));
    expect(seen).toEqual([0, 10_000, 20_000]);
    expect(said("handler failed for good")[0]?.fields).toMatchObject({ handler: "pull", attempt: 3, limit: "retries" });
    // With its stack the first time, in one line after that.
    expect(said("handler failed, will be tried again").map(({ fields }) => "stack" in fields)).toEqual([true, false]);
  });

  it("to end in time is told so by its signal, and is given up", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(Tug, { id: "pull", timeout: "1m" }, async ({ signal }) => {
      seen.push("begins");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen.push((signal.reason as { why: string }).why);
      throw signal.reason;
    });
    await start(operator, { clock });
    await tug("one");
    await eventually(() => expect(seen).toEqual(["begins"]));
    await clock.advance(60_000);
    await eventually(() => expect(said("handler failed for good")).toHaveLength(1));
    await quiet();
    expect(seen).toEqual(["begins", "timeout"]);
    expect(said("handler failed for good")[0]?.fields).toMatchObject({ handler: "pull", error: "timed out" });
  });

  it("is not tried again when the next attempt would come too late", async () => {
    const operator = new Operator({ name: "op" });
    let calls = 0;
    operator.on.create(Tug, { id: "pull", timeout: "1m" }, () => {
      calls++;
      throw new TemporaryError("low tide", { delay: "6h" });
    });
    await start(operator);
    await tug("one");
    await eventually(() => expect(said("handler failed for good")[0]?.fields).toMatchObject({ limit: "timeout" }));
    expect(calls).toBe(1);
  });

  it("has succeeded all the same where its errors are ignored, and has failed for good where they are permanent", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    for (const errors of ["ignored", "permanent"] as const) {
      operator.on.create(Tug, { id: errors, errors }, () => {
        seen.push(errors);
        throw new Error("too heavy");
      });
    }
    await start(operator);
    await tug("one");
    await eventually(async () =>
      expect((await client.get(Tug, "one")).status).toHaveProperty("lotse.op.handled", expect.any(String)),
    );
    await quiet();
    expect(seen).toEqual(["ignored", "permanent"]);
    expect(said("handler failed, which is ignored")).toMatchObject([{ level: "warn", fields: { handler: "ignored" } }]);
    expect(said("handler failed for good")).toMatchObject([{ level: "error", fields: { handler: "permanent" } }]);
  });

  it("is counted beside those that succeeded when all handlers of a change are done", async () => {
    const operator = new Operator({ name: "op" });
    for (const id of ["one", "two", "three"]) {
      operator.on.create(Tug, { id }, () => {
        if (id === "two") throw new PermanentError("too heavy");
      });
    }
    await start(operator);
    await tug("one");
    await eventually(() =>
      expect(said("all handlers are done")).toMatchObject([
        { level: "info", fields: { reason: "create", succeeded: 2, failed: 1 }, object: { name: "one" } },
      ]),
    );
  });
});
