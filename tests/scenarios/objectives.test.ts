/** A kind that promises how soon its objects are ready: what is measured of it, and what `explain` says. */
import { ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { type Harness, startHarness } from "@lotse/testing";
import { Operator, resource, TemporaryError } from "lotse";
import { expect, it } from "vitest";
import { z } from "zod";

const Shop = resource({
  group: "objectives.example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({ sells: z.string() }),
  status: z.object({ licence: z.string().optional() }),
  objective: { ready: "30s", of: 0.99 },
});

const operator = new Operator({ name: "shops" });

operator.on(["create", "update"], Shop, function license({ spec, patch, retry }) {
  if (spec.sells === "fireworks" && retry < 2) throw new TemporaryError("the office is closed", { delay: "20s" });
  patch.status.licence = "A-1";
});

operator.children(Shop, { owns: [ConfigMap] }, ({ name, spec }) =>
  ConfigMap.gen({ name, data: { sells: spec.sells } }),
);

const judged = (harness: Harness, result: string) =>
  Number(
    new RegExp(`^lotse_objective_changes_total\\{kind="Shop",result="${result}"\\} (\\d+)$`, "m").exec(
      harness.operator.metrics(),
    )?.[1],
  );

it("counts each change once, by whether its object was ready in time, and explain says so", async () => {
  await using harness = await startHarness(operator, { clock: new VirtualClock() });
  const shop = new Shop({ metadata: { name: "corner" }, spec: { sells: "flowers" } });
  await harness.client.create(shop);
  await harness.settle();
  expect([judged(harness, "good"), judged(harness, "late")]).toEqual([1, 0]);
  const explained = () => harness.operator.explain({ kind: "shop", name: "corner" })?.objective;
  expect(explained()).toMatchObject({ state: "ready", generation: 1, readyMs: 30_000, of: 0.99 });

  await harness.client.patch(Shop, "corner", { spec: { sells: "fireworks" } });
  await harness.settle();
  expect(explained()).toMatchObject({ state: "pending", generation: 2 });
  await harness.advance("31s");
  expect(explained()).toMatchObject({ state: "late", generation: 2 });
  expect([judged(harness, "good"), judged(harness, "late")]).toEqual([1, 1]);
  expect(harness.operator.metrics()).toContain('lotse_objective_late{kind="Shop"} 1\n');

  await harness.advance("20s");
  expect(explained()).toMatchObject({ state: "ready", generation: 2 });
  expect([judged(harness, "good"), judged(harness, "late")]).toEqual([1, 1]);
  expect(harness.operator.metrics()).toContain('lotse_objective_late{kind="Shop"} 0\n');

  // A restart judges nothing again.
  await harness.restart();
  await harness.advance("2m");
  expect([judged(harness, "good"), judged(harness, "late")]).toEqual([0, 0]);
});
