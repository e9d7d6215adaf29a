/** Each promise that every test checks: a planted breach is found, and its error says what to do. */
import { type Client, ConfigMap, Secret } from "@lotse/client";
import { Operator, resource } from "lotse";
import { expect, test } from "vitest";
import { z } from "zod";
import { type HarnessOptions, OracleError, type OracleName, startHarness, VirtualClock } from "./index.ts";

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number() }),
  status: z.object({
    size: z.number().optional(),
    seen: z.string().optional(),
    observedGeneration: z.number().optional(),
  }),
});

const thing = (name = "one", size = 1) => new Thing({ metadata: { name, namespace: "default" }, spec: { size } });

type Harness = Awaited<ReturnType<typeof startHarness>>;

/** What the oracles say of an operator after a test. */
async function verdict(
  operator: Operator | Operator[],
  play: (harness: Harness) => Promise<void>,
  options: HarnessOptions = {},
): Promise<OracleError | undefined> {
  const harness = await startHarness(operator, { clock: new VirtualClock(), ...options });
  try {
    await play(harness);
  } catch (error) {
    await harness.stop().catch(() => {});
    throw error;
  }
  try {
    await harness.stop();
    return undefined;
  } catch (error) {
    if (error instanceof OracleError) return error;
    throw error;
  }
}

async function createAndSettle(harness: Harness): Promise<void> {
  await harness.client.create(thing());
  await harness.settle();
}

const names = (error: OracleError | undefined): OracleName[] => [
  ...new Set((error?.violations ?? []).map(({ oracle }) => oracle)),
];

test("a reconciler that writes something else each time breaks idempotence", async () => {
  let calls = 0;
  const operator = new Operator({ name: "restless" });
  operator.reconcile(Thing, async function note({ name, client, adopt }) {
    await client.apply(adopt(ConfigMap.gen({ name, data: { calls: String(++calls) } }), { strict: true }));
  });
  const error = await verdict(operator, createAndSettle);
  expect(names(error)).toEqual(["idempotence"]);
  expect(error?.message).toContain(
    "after a restart handler note changes ConfigMap default/one although nothing has happened",
  );
  expect(error?.message).toContain('- data.calls: "1"');
  expect(error?.message).toContain('{ oracles: { idempotence: "off: <why>" } }');
  calls = 0;
  const oracles = { idempotence: "off: it counts its calls on purpose" } as const;
  expect(await verdict(operator, createAndSettle, { oracles })).toBeUndefined();
});

test("a handler of resumes that writes anew breaks idempotence, and a timer does not", async () => {
  const operator = new Operator({ name: "greeter" });
  operator.on(["create", "resume"], Thing, function greet({ patch }) {
    patch.status.seen = String(Math.random());
  });
  expect(names(await verdict(operator, createAndSettle))).toEqual(["idempotence"]);
  const timed = new Operator({ name: "timed" });
  timed.timer(Thing, { interval: "1h" }, function tick({ patch }) {
    patch.status.seen = String(Math.random());
  });
  timed.reconcile(Thing, function look({ spec, patch }) {
    patch.status.size = spec.size;
  });
  expect(await verdict(timed, createAndSettle)).toBeUndefined();
});

test("a handler that writes to the successor of its object is told with both uids", async () => {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let calls = 0;
  const clients: Client[] = [];
  const operator = new Operator({ name: "stale" });
  operator.daemon(Thing, { labels: { keeps: "yes" } }, async function keep({ client, signal }) {
    clients.push(client);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  // The client of a handler refuses when its object is gone; this one has kept another.
  operator.on.create(Thing, async function slow({ name, labels }) {
    if (labels.keeps !== undefined || calls++ > 0) return;
    await gate;
    await clients[0]?.patch(Thing, name, { metadata: { labels: { by: "stale" } } });
  });
  let uids: (string | undefined)[] = [];
  const error = await verdict(operator, async (harness) => {
    await harness.client.create(
      new Thing({ metadata: { name: "keeper", namespace: "default", labels: { keeps: "yes" } }, spec: { size: 1 } }),
    );
    await harness.settle();
    const first = await harness.client.create(thing());
    await expect.poll(() => calls).toBe(1);
    await first.delete();
    const second = await harness.client.create(thing());
    uids = [first.uid, second.uid];
    go();
    await harness.settle();
  });
  expect(names(error)).toEqual(["otherUid"]);
  expect(error?.message).toContain(
    `handler slow worked for Thing default/one (uid ${uids[0]}) and wrote (patch) to the one that has its name now (uid ${uids[1]})`,
  );
});

test("a handler that is called by its own writes is a hot loop", async () => {
  const operator = new Operator({ name: "loop" });
  operator.on(["create", "update"], Thing, function grow({ spec, patch }) {
    patch.spec.size = spec.size + 1;
  });
  const error = await verdict(operator, createAndSettle);
  expect(names(error)).toEqual(["hotLoop"]);
  expect(error?.message).toContain("Thing default/one");
  expect(error?.message).toContain("spec.size");
});

test("what was made for an object that is gone is an orphan, unless it has an owner, is shared, or is a last will", async () => {
  const made = (own: boolean) => {
    const operator = new Operator({ name: "maker" });
    operator.on.create(Thing, async function make({ name, client, adopt }) {
      const map = ConfigMap.gen({ name: `${name}-settings` });
      await client.create(own ? adopt(map) : map);
      await client.apply(ConfigMap.gen({ name: "shared" }));
    });
    operator.on.delete(Thing, { optional: true }, function forget() {});
    return operator;
  };
  const play = async (harness: Harness) => {
    await harness.client.create([thing("one"), thing("two")]);
    await harness.settle();
    await harness.client.delete(Thing, "one");
    await harness.settle();
  };
  const error = await verdict(made(false), play);
  expect(names(error)).toEqual(["orphans"]);
  expect(error?.violations.map(({ what }) => what)).toEqual([
    "handler make made ConfigMap default/one-settings for Thing default/one, which is gone, and nobody deletes it",
  ]);
  expect(await verdict(made(true), play)).toBeUndefined();
});

test("a handler that goes on when the operator stops is left running", async () => {
  const operator = new Operator({ name: "deaf" });
  operator.daemon(Thing, async function hum() {
    await new Promise(() => {});
  });
  const error = await verdict(operator, createAndSettle);
  expect(names(error)).toEqual(["leftRunning"]);
  expect(error?.message).toContain("daemon ignores its signal and was abandoned (handler hum");
});

test("a status that speaks of an old generation is told, and not while there is work left", async () => {
  const watcher = (fails: boolean) => {
    const operator = new Operator({ name: "watcher" });
    operator.on(["create", "update"], Thing, function observe({ reason, meta, patch }) {
      if (reason === "create") patch.status.observedGeneration = meta.generation ?? 0;
      else if (fails) throw new Error("not yet");
    });
    return operator;
  };
  const play = async (harness: Harness) => {
    const one = await harness.client.create(thing());
    await harness.settle();
    await one.patch({ spec: { size: 2 } });
    await harness.settle();
  };
  const error = await verdict(watcher(false), play);
  expect(names(error)).toEqual(["observedGeneration"]);
  expect(error?.message).toContain("Thing default/one is at generation 2, and status.observedGeneration speaks of 1");
  expect(await verdict(watcher(true), play)).toBeUndefined();
});

test("a handler that changes what it was given is told with its name", async () => {
  const operator = new Operator({ name: "vandal" });
  operator.on.create(Thing, { errors: "permanent" }, function spoil({ body }) {
    (body.spec as { size: number }).size = 7;
  });
  const error = await verdict(operator, createAndSettle);
  expect(names(error)).toEqual(["mutatedInput"]);
  expect(error?.message).toContain(
    "handler spoil tried to change what it was given: Cannot assign to read only property 'size'",
  );
});

test("a secret value in the log, an Event or a status is told without the value", async () => {
  const teller = (where: "log" | "event" | "status" | "nowhere") => {
    const operator = new Operator({ name: "teller" });
    operator.on.create(Thing, async function tell({ name, client, adopt, patch, logger, info }) {
      const password = "correct-horse-battery";
      await client.create(adopt(Secret.gen({ name: `${name}-password`, stringData: { password } })));
      if (where === "log") logger.info("made", { password });
      if (where === "event") info("Made", `with ${password}`);
      if (where === "status") patch.status.seen = password;
    });
    return operator;
  };
  for (const where of ["log", "event", "status"] as const) {
    const error = await verdict(teller(where), createAndSettle, { start: { events: "all" } });
    expect(names(error), where).toEqual(["secrets"]);
    expect(error?.message).toContain("the value of Secret default/one-password, key password is in the");
    expect(error?.message).not.toContain("correct-horse");
  }
  expect(await verdict(teller("nowhere"), createAndSettle)).toBeUndefined();
});

test("an oracle is switched off by its name and a reason, and by nothing else", async () => {
  const operator = new Operator({ name: "idle" });
  operator.on.create(Thing, function look() {});
  const start = (oracles: unknown) => startHarness(operator, { oracles } as HarnessOptions);
  await expect(start({ idempotence: false })).rejects.toThrow("oracles.idempotence is false, and a reason is missing");
  await expect(start({ orphans: "off:" })).rejects.toThrow("a reason is missing");
  await expect(start({ idempotency: "off: x" })).rejects.toThrow('there is no oracle "idempotency"');
  await using harness = await start("off: it is the harness that is tested");
  await harness.settle();
});

test("who stops a harness twice is told once", async () => {
  const operator = new Operator({ name: "deaf" });
  operator.daemon(Thing, async function hum() {
    await new Promise(() => {});
  });
  await using harness = await startHarness(operator, { clock: new VirtualClock() });
  await createAndSettle(harness);
  await expect(harness.stop()).rejects.toThrow("oracle leftRunning");
});
