import { Operator, resource } from "lotse";
import { expect, test } from "vitest";
import { z } from "zod";
import { openHarness } from "./harness.ts";
import { external, startHarness, VirtualClock } from "./index.ts";
import type { ExternalCall } from "./world/index.ts";

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number() }),
  status: z.object({ id: z.string().optional() }),
});

const thing = (name: string) => new Thing({ metadata: { name }, spec: { size: 1 } });

/** Makes something outside, and waits for it. */
function maker(create: (name: string) => Promise<string>) {
  const operator = new Operator({ name: "maker" });
  operator.on.create(Thing, async function make({ name, patch }) {
    patch.status.id = await create(name);
  });
  return operator;
}

test("without a harness a call is passed on as it is, with its type", async () => {
  const double = external((n: number) => n * 2);
  const fail = external(async () => Promise.reject(new Error("no")));
  const four: number = double(2);
  expect(four).toBe(4);
  await expect(fail()).rejects.toThrow("no");
});

test("a harness hears of each call, with its arguments, its handler's object and its answer", async () => {
  const create = external(async function createBucket(name: string) {
    return `bucket-${name}`;
  });
  const calls: ExternalCall[] = [];
  const internals = { interference: {}, onExternal: (call: ExternalCall) => calls.push(call) };
  await using harness = await openHarness(maker(create), { clock: new VirtualClock() }, internals);
  await harness.client.create(thing("one"));
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.id).toBe("bucket-one");
  expect(calls).toMatchObject([
    { name: "createBucket", args: ["one"], life: 1, answer: { value: "bucket-one" }, once: false, idempotent: false },
  ]);
  expect(calls[0]?.actor).toMatchObject({
    handlers: ["make"],
    type: "change",
    reason: "create",
    object: { name: "one" },
  });
});

test("two harnesses at once do not hear of each other's calls", async () => {
  const create = external(async (name: string) => name);
  const start = async (name: string) => {
    const calls: string[] = [];
    const internals = { onExternal: ({ args }: ExternalCall) => calls.push(String(args[0])) };
    await using harness = await openHarness(maker(create), {}, internals);
    await harness.client.create(thing(name));
    await harness.settle();
    return calls;
  };
  expect(await Promise.all(["one", "two"].map(start))).toEqual([["one"], ["two"]]);
});

test("a call of a crashed operator never returns, and what it calls afterwards is not done", async () => {
  const notes: string[] = [];
  let answer = () => {};
  const slow = external(
    (name: string) =>
      new Promise<string>((resolve) => {
        notes.push(`asked for ${name}`);
        answer = () => resolve(name);
      }),
  );
  const after = external(() => notes.push("done after its death"));
  const operator = new Operator({ name: "slow" });
  operator.on.create(Thing, async function make({ name }) {
    const real = new Promise((resolve) => setTimeout(resolve, 20));
    void slow(name).finally(() => notes.push("returned"));
    await real;
    after();
  });
  await using harness = await startHarness(operator, { clock: new VirtualClock() });
  await harness.client.create(thing("one"));
  while (notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await harness.crash();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(notes).toEqual(["asked for one"]);
});
