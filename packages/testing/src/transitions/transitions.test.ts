/** Planted mistakes of the classes that Acto found in operators of others, and operators that are right. */
import { ConfigMap, Secret } from "@lotse/client";
import { Operator, PermanentError, resource } from "lotse";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { TransitionsError, type TransitionsOptions, transitions } from "./index.ts";

const Shop = resource({
  group: "example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({
    size: z.int().min(0).max(50),
    color: z.string().max(20).optional(),
    branches: z
      .array(z.string().regex(/^[a-z]{1,8}$/))
      .max(4)
      .optional(),
  }),
  status: z.object({ size: z.int().optional(), phase: z.string().optional(), changes: z.int().optional() }),
});

type Spec = {
  readonly size: number;
  readonly color?: string | undefined;
  readonly branches?: readonly string[] | undefined;
};

/** The ConfigMaps of a Shop. */
const mapsOf = (name: string, { size, color = "grey", branches = [] }: Spec) => [
  ConfigMap.gen({ name, data: { size: String(size), color } }),
  ...[...new Set(branches)].map((branch) => ConfigMap.gen({ name: `${name}-${branch}` })),
];

const shops = (declare: (operator: Operator) => void) => {
  const operator = new Operator({ name: "shops" });
  declare(operator);
  return operator;
};

/** The story of the first failure. */
async function storyOf(operator: Operator, options: TransitionsOptions = {}): Promise<string> {
  return transitions(operator, Shop, { specs: 30, ...options }).then(
    ({ steps, misoperations }) =>
      `all is well after ${steps > 20 ? "many" : steps} steps, ${misoperations} misoperations`,
    (error: unknown) => {
      if (error instanceof TransitionsError) return error.message;
      throw error;
    },
  );
}

describe("an operator that is right", () => {
  test("is walked through without a complaint: children", async () => {
    const operator = shops((o) => {
      o.children(Shop, { owns: [ConfigMap] }, function parts({ name, spec }) {
        return mapsOf(name, spec);
      });
    });
    expect(await storyOf(operator)).toBe("all is well after many steps, 0 misoperations");
  });

  test("may count its changes, draw passwords, and do without an update of what never changes", async () => {
    const operator = shops((o) => {
      o.on.create(Shop, async function key({ client, adopt, name }) {
        const stringData = { password: Math.random().toString(36).padEnd(14, "0") };
        await client.apply(adopt(Secret.gen({ name: `${name}-key`, stringData }), { strict: true }));
      });
      o.on(["create", "update"], Shop, async function build({ client, adopt, name, spec, patch, status, reason }) {
        const [map] = mapsOf(name, spec);
        if (map) await client.apply(adopt(map, { strict: true }));
        patch.status.changes = (status.changes ?? 0) + 1;
        patch.status.phase = reason === "create" ? "Created" : "Changed";
        patch.status.size = spec.size;
      });
    });
    const report = await transitions(operator, Shop, { specs: 20 });
    expect(report.failures).toEqual([]);
    expect(report.ignored).toEqual(["Shop default/sample: status.changes", "Shop default/sample: status.phase"]);
  });

  test("may keep what it has when it says that it cannot do what is asked for", async () => {
    const operator = shops((o) => {
      o.on(["create", "update"], Shop, async function build({ client, adopt, name, spec, patch }) {
        if (spec.size > 40) throw new PermanentError("nobody has so much room");
        const [map] = mapsOf(name, spec);
        if (map) await client.apply(adopt(map, { strict: true }));
        patch.status.size = spec.size;
      });
    });
    expect(await storyOf(operator)).toMatch(/^all is well after many steps, [1-9]/);
  });
});

describe("a planted mistake is found", () => {
  test("a field whose change is ignored", async () => {
    const operator = shops((o) => {
      o.on.create(Shop, async function build({ client, adopt, name, spec, patch }) {
        const [map] = mapsOf(name, spec);
        if (map) await client.apply(adopt(map, { strict: true }));
        patch.status.size = spec.size;
      });
      o.on.update(Shop, { field: "spec.color" }, async function paint({ client, name, spec }) {
        await client.patch(ConfigMap, name, { data: { color: spec.color ?? "grey" } });
      });
    });
    const story = await storyOf(operator);
    expect(story).toMatch(
      /^Shop: the same spec, reached by another way, gives other objects \(seed 1\)\n {2}created with \{"size":/,
    );
    expect(story).toMatch(/ConfigMap default\/sample data\.size: "\d+" instead of "\d+"/);
    expect(story).toContain("await using harness = await startHarness(operator");
    expect(story.split("\n").length).toBeLessThan(18);
  });

  test("a status that is said once and for all", async () => {
    const operator = shops((o) => {
      o.on.create(Shop, function measure({ spec, patch }) {
        patch.status.size = spec.size;
      });
    });
    expect(await storyOf(operator)).toMatch(/Shop default\/sample status\.size: \d+ instead of \d+/);
  });

  test("a child that stays when the list becomes shorter, or one is renamed", async () => {
    const operator = shops((o) => {
      o.reconcile(Shop, async function keep({ client, adopt, name, spec }) {
        for (const map of mapsOf(name, spec)) await client.apply(adopt(map, { strict: true }));
      });
    });
    expect(await storyOf(operator)).toMatch(/ConfigMap default\/sample-[a-z]+ is there, and should not be/);
  });

  test("a default that is applied at the creation only", async () => {
    const operator = shops((o) => {
      o.on.create(Shop, async function build({ client, adopt, name, spec }) {
        const map = ConfigMap.gen({ name, data: { size: String(spec.size), color: spec.color ?? "grey" } });
        await client.apply(adopt(map, { strict: true }));
      });
      o.on.update(Shop, async function rebuild({ client, name, spec }) {
        const data = { size: String(spec.size), ...(spec.color !== undefined && { color: spec.color }) };
        await client.patch(ConfigMap, name, { data });
      });
    });
    expect(await storyOf(operator)).toMatch(/ConfigMap default\/sample data\.color: "\w+" instead of "grey"/);
  });

  test("a state of failure that is never left", async () => {
    const operator = shops((o) => {
      o.on(["create", "update"], Shop, async function build({ client, adopt, name, spec, status, patch, logger }) {
        if (spec.size > 40) {
          patch.status.phase = "Failed";
          logger.warn("nobody has so much room");
          return;
        }
        // It was meant to keep others from touching what is broken.
        if (status.phase === "Failed") return;
        const [map] = mapsOf(name, spec);
        if (map) await client.apply(adopt(map, { strict: true }));
        patch.status.phase = "Ready";
      });
    });
    const story = await storyOf(operator);
    expect(story).toContain("back at the former spec, there are not the former objects");
    expect(story).toMatch(/status\.phase: "Failed" instead of "Ready"/);
  });

  test.each([
    ["an empty list", (spec: Spec) => (spec.branches ? (spec.branches[0] as string).length : 0)],
    ["nought", (spec: Spec) => new Array(spec.size === 0 ? -1 : spec.size).length],
    ["the longest text", (spec: Spec) => "-".repeat(19 - (spec.color ?? "").length).length],
  ])("a handler that stumbles over %s", async (_, measure) => {
    const operator = shops((o) => {
      o.reconcile(Shop, function look({ spec, patch }) {
        patch.status.size = measure(spec);
      });
    });
    const story = await storyOf(operator, { specs: 60 });
    expect(story).toContain("a handler stumbles over a spec that the server takes");
    expect(story).toMatch(/handler look stumbles: (?:TypeError|RangeError)/);
  });

  test("a spec that is silently not done", async () => {
    const operator = shops((o) => {
      o.on(["create", "update"], Shop, async function build({ client, adopt, name, spec }) {
        if (spec.size > 40) return;
        const [map] = mapsOf(name, spec);
        if (map) await client.apply(adopt(map, { strict: true }));
      });
    });
    expect(await storyOf(operator)).toContain(
      "the server takes a spec that the operator does not do, and nobody is told",
    );
  });

  test("a result that depends on what was there before", async () => {
    const operator = shops((o) => {
      o.reconcile(Shop, async function gather({ client, adopt, name, spec, get }) {
        const before = await get(ConfigMap, name);
        const known = (before?.data?.branches ?? "").split(",").filter(Boolean);
        const branches = [...known, ...(spec.branches ?? []).filter((one) => !known.includes(one))];
        await client.apply(adopt(ConfigMap.gen({ name, data: { branches: branches.join(",") } }), { strict: true }));
      });
    });
    expect(await storyOf(operator)).toMatch(/ConfigMap default\/sample data\.branches: "\w+(,\w+)*" instead of/);
  });

  test("what outlives its object", async () => {
    const operator = shops((o) => {
      o.on(["create", "update"], Shop, async function build({ client, name, spec }) {
        await client.apply(ConfigMap.gen({ name, data: { size: String(spec.size) } }));
      });
    });
    const story = await storyOf(operator);
    expect(story).toContain("the object is gone, and not all that was made for it");
    expect(story).toContain("ConfigMap default/sample is there, and should not be");
  });

  test("a handler that answers its own writes", async () => {
    const operator = shops((o) => {
      o.on(["create", "update"], Shop, function grow({ spec, patch }) {
        patch.spec.size = (spec.size + 1) % 50;
      });
    });
    expect(await storyOf(operator)).toContain("called by its own writes again and again");
  });
});

test("the same seed tells the same story, and a report throws nothing", async () => {
  const operator = shops((o) => {
    o.on.create(Shop, function measure({ spec, patch }) {
      patch.status.size = spec.size;
    });
  });
  const stories = await Promise.all([7, 7].map((seed) => storyOf(operator, { seed })));
  expect(stories[0]).toBe(stories[1]);
  const report = await transitions(operator, Shop, { seed: 7, specs: 30, report: true });
  expect(report.story).toBe(stories[0]);
  expect(report.failures).toHaveLength(1);
  expect(report.refused).toBeGreaterThan(3);
});
