/** What a harness does for a test besides running the operator: apply, until, snapshot, several operators, webhooks. */
import { ConfigMap, Secret } from "@lotse/client";
import { AdmissionError, Operator, resource, TemporaryError } from "lotse";
import { expect, test } from "vitest";
import { z } from "zod";
import { startHarness, VirtualClock } from "./index.ts";

const Shop = resource({
  group: "example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ size: z.int().min(0), color: z.string().optional() }),
  status: z.object({ size: z.int().optional() }),
});

const manifest = (name: string, spec: object) =>
  `apiVersion: example.com/v1\nkind: Shop\nmetadata:\n  name: ${name}\nspec: ${JSON.stringify(spec)}\n`;

function shops() {
  const operator = new Operator({ name: "shops" });
  operator.children(Shop, { owns: [ConfigMap] }, function parts({ name, spec }) {
    return [
      ConfigMap.gen({ name: `${name}-settings`, data: { size: String(spec.size), color: spec.color ?? "grey" } }),
    ];
  });
  operator.reconcile(Shop, function tell({ spec, patch, conditions }) {
    patch.status.size = spec.size;
    conditions.set("Open", true, "DoorsOpen");
  });
  return operator;
}

test("texts of several documents are applied, and applied again without what they no longer say", async () => {
  await using harness = await startHarness(shops());
  const text = `${manifest("one", { size: 1, color: "red" })}---\n${manifest("two", { size: 2 })}`;
  const applied = await harness.apply(text);
  expect(applied.map(({ name }) => name)).toEqual(["one", "two"]);
  await harness.settle();
  await harness.apply(manifest("one", { size: 3 }));
  await harness.settle();
  expect((await harness.client.get(Shop, "one")).spec).toEqual({ size: 3 });
  expect((await harness.client.get(ConfigMap, "one-settings")).data).toEqual({ size: "3", color: "grey" });
});

test("objects are applied as they are, alone or many", async () => {
  await using harness = await startHarness(shops());
  const one = await harness.apply(new Shop({ metadata: { name: "one" }, spec: { size: 1 } }));
  expect(one.spec.size).toBe(1);
  expect(one.uid).toBeDefined();
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "plain" } };
  expect((await harness.apply(body)).uid).toBeDefined();
  expect(await harness.apply([body, ConfigMap.gen({ name: "other" })])).toHaveLength(2);
});

test("what the server does not take is told with its document and its fields", async () => {
  await using harness = await startHarness(shops());
  const wrong = `${manifest("one", { size: 1 })}---\n${manifest("two", { size: -1 })}`;
  await expect(harness.apply(wrong)).rejects.toThrow(
    /^document 2 of 2 \(Shop two\) cannot be applied: spec\.size: .*greater than or equal to 0/,
  );
  await expect(harness.apply(manifest("one", { size: 1, colour: "red" }))).rejects.toThrow(
    /\.spec\.colour: field not declared in schema/,
  );
  await expect(harness.apply("shops.yaml")).rejects.toThrow("is no manifest");
  await expect(harness.apply("# nothing\n")).rejects.toThrow("there is no document");
  await expect(harness.apply("kind: Shop\n")).rejects.toThrow("has no apiVersion");
});

test("until() waits for a part of an object or a predicate, and moves a virtual clock as far as it takes", async () => {
  const clock = new VirtualClock();
  const operator = new Operator({ name: "slow" });
  operator.on.create(Shop, function open({ retry, patch, spec }) {
    if (retry < 3) throw new TemporaryError("not yet", { delay: "10m" });
    patch.status.size = spec.size;
  });
  await using harness = await startHarness(operator, { clock });
  const begin = clock.now();
  await harness.apply(manifest("one", { size: 5 }));
  const one = await harness.until(Shop, "one", { status: { size: 5 } });
  expect(one.status?.size).toBe(5);
  expect(clock.now() - begin).toBe(30 * 60_000);
  await harness.until(Shop, "default/one", ({ status }) => status?.size === 5);
});

test("until() in vain shows what differs, the conditions, and what the operator said last", async () => {
  await using harness = await startHarness(shops(), { clock: new VirtualClock() });
  await harness.apply(manifest("one", { size: 5 }));
  const pattern = harness.until(Shop, "one", { status: { size: 7 } }, { within: "5m" });
  await expect(pattern).rejects.toThrow(
    /^Shop default\/one was not as wanted within 5m of its time \(- wanted, \+ is\)\n {2}- status\.size: 7\n {2}\+ status\.size: 5\nits conditions:\n {2}[\s\S]*Open=True DoorsOpen\n[\s\S]*\nthe operator's last lines:\n/,
  );
  const predicate = harness.until(Shop, "one", ({ status }) => status?.size === 7, { within: "5m" });
  await expect(predicate).rejects.toThrow(/it is\n {2}apiVersion: example\.com\/v1\n[\s\S]*size: 5/);
  const absent = harness.until(Shop, "two", { spec: { size: 1 } }, { within: "5m" });
  await expect(absent).rejects.toThrow("there was no Shop two within 5m of its time\nthere are: Shop default/one");
});

test("until() in real time waits until it is so", async () => {
  await using harness = await startHarness(shops());
  await harness.apply(manifest("one", { size: 5 }));
  expect((await harness.until(Shop, "one", { status: { size: 5 } })).status?.size).toBe(5);
  await expect(harness.until(Shop, "one", { status: { size: 6 } }, { timeout: 50 })).rejects.toThrow("within 50");
});

test("a snapshot has what was made, without what differs from run to run", async () => {
  const operator = shops();
  operator.on.create(Shop, async function key({ client, adopt, name }) {
    const data = { password: Math.random().toString(36).padEnd(12, "x").slice(0, 12) };
    await client.create(adopt(Secret.gen({ generateName: `${name}-key-`, stringData: data })));
  });
  const shot = async () => {
    await using harness = await startHarness(operator);
    await harness.apply(manifest("one", { size: 1 }));
    await harness.settle();
    return harness.snapshot();
  };
  const [first, second] = [await shot(), await shot()];
  expect(second).toEqual(first);
  expect(Object.keys(first)).toEqual([
    "ConfigMap default/one-settings",
    "Secret default/one-key-<1>",
    "Shop default/one",
  ]);
  expect(first["Secret default/one-key-<1>"]).toMatchObject({ data: { password: "<12 bytes>" } });
  expect(first["ConfigMap default/one-settings"]).toMatchInlineSnapshot(`
    {
      "apiVersion": "v1",
      "data": {
        "color": "grey",
        "size": "1",
      },
      "kind": "ConfigMap",
      "metadata": {
        "name": "one-settings",
        "namespace": "default",
        "ownerReferences": [
          {
            "apiVersion": "example.com/v1",
            "blockOwnerDeletion": true,
            "controller": true,
            "kind": "Shop",
            "name": "one",
            "uid": "<uid 1>",
          },
        ],
        "uid": "<uid 2>",
      },
    }
  `);
  const opened = expect.objectContaining({
    type: "Open",
    lastTransitionTime: "<time>",
    observedGeneration: "<current>",
  });
  expect(first["Shop default/one"]).toMatchObject({
    metadata: { uid: "<uid 1>" },
    status: { size: 1, conditions: expect.arrayContaining([opened]) },
  });
});

test("several operators work side by side, and stop, crash and start together", async () => {
  const counter = new Operator({ name: "counter" });
  counter.on.event(ConfigMap, { labels: { counted: "yes" } }, function count() {});
  counter.on.create(Shop, async function badge({ name, client, adopt }) {
    await client.create(adopt(ConfigMap.gen({ name: `${name}-badge` })));
  });
  await using harness = await startHarness([shops(), counter]);
  expect(harness.operators).toHaveLength(2);
  await harness.apply(manifest("one", { size: 1 }));
  await harness.settle();
  expect(Object.keys(harness.snapshot())).toEqual([
    "ConfigMap default/one-badge",
    "ConfigMap default/one-settings",
    "Shop default/one",
  ]);
  expect(harness.writes().filter(({ resource }) => resource === "configmaps")).toHaveLength(2);
  await harness.crash();
  expect(harness.operators).toEqual([]);
  await harness.apply(manifest("two", { size: 2 }));
  await harness.restart();
  expect(harness.operators).toHaveLength(2);
  expect(Object.keys(harness.snapshot()).filter((title) => title.startsWith("ConfigMap default/two"))).toHaveLength(2);
  await expect(startHarness([])).rejects.toThrow("there is no operator to test");
});

test("admission and conversion are served to the harness's cluster, with a virtual clock, too", async () => {
  const Boat = resource({
    group: "example.com",
    kind: "Boat",
    versions: {
      v1beta1: { spec: z.object({ metres: z.int() }) },
      v1: { spec: z.object({ length: z.int(), name: z.string().optional() }), storage: true },
    },
    convert: {
      v1beta1: {
        to: ({ spec }) => ({ spec: { length: spec.metres } }),
        from: ({ spec }) => ({ spec: { metres: spec.length } }),
      },
    },
  });
  const operator = new Operator({ name: "boats" });
  operator.on.mutate(Boat, function christen({ spec, patch, name }) {
    if (spec.name === undefined) patch.spec.name = name.toUpperCase();
  });
  operator.on.validate(Boat, function measure({ spec }) {
    if (spec.length > 400) throw new AdmissionError("no such boat");
  });
  operator.on.create(Boat, function launch() {});
  for (const options of [{}, { clock: new VirtualClock() }]) {
    await using harness = await startHarness(operator, options);
    await harness.apply(
      "apiVersion: example.com/v1beta1\nkind: Boat\nmetadata: { name: anna }\nspec: { metres: 12 }\n",
    );
    await harness.settle();
    expect((await harness.client.get(Boat, "anna")).spec).toEqual({ length: 12, name: "ANNA" });
    await expect(harness.apply(new Boat({ metadata: { name: "titan" }, spec: { length: 500 } }))).rejects.toThrow(
      /^Boat titan cannot be applied: .*no such boat/s,
    );
    expect(Object.keys(harness.snapshot())).toEqual(["Boat default/anna"]);
  }
});
