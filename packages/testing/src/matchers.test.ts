import "./vitest.ts";
import { AssertionError } from "node:assert";
import { ConfigMap } from "@lotse/client";
import { Operator, PermanentError, resource } from "lotse";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assertCondition, assertEvent, assertOwns, assertReady } from "./assert.ts";
import { startHarness, VirtualClock } from "./index.ts";

const body = (conditions: object[], generation = 1) => ({
  apiVersion: "example.com/v1",
  kind: "Shop",
  metadata: { name: "corner", namespace: "default", uid: "u1", generation },
  status: { conditions },
});

const message = (check: () => unknown): string => {
  try {
    check();
    return "it holds";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("toBeReady", () => {
  test("looks at the condition of the present generation", () => {
    expect(body([{ type: "Ready", status: "True" }])).toBeReady();
    expect(body([{ type: "Available", status: "True", observedGeneration: 1 }])).toBeReady();
    expect(body([{ type: "Ready", status: "False" }])).not.toBeReady();
    expect(message(() => expect(body([{ type: "Ready", status: "True", observedGeneration: 1 }], 2)).toBeReady())).toBe(
      "Shop default/corner is not ready, of generation 1, and it is at 2: its conditions are\n  Ready=True",
    );
  });

  test("says what there is instead", () => {
    const waiting = body([{ type: "Ready", status: "False", reason: "Waiting", message: "0 of 3 pods" }]);
    expect(message(() => expect(waiting).toBeReady())).toBe(
      "Shop default/corner is not ready: its conditions are\n  Ready=False Waiting: 0 of 3 pods",
    );
    expect(message(() => expect({ kind: "Shop", metadata: { name: "x" } }).toBeReady())).toBe(
      "Shop x is not ready: it has no status",
    );
    expect(message(() => expect(7).toBeReady())).toBe(
      "toBeReady looks at an object of the cluster, and this is none: 7",
    );
  });
});

test("toHaveCondition compares status, reason and message", () => {
  const shop = body([{ type: "Stalled", status: "True", reason: "NoRoom", message: "the shop is full" }]);
  expect(shop).toHaveCondition("Stalled");
  expect(shop).toHaveCondition("Stalled", { reason: "NoRoom", message: /full/ });
  expect(shop).not.toHaveCondition("Stalled", "False");
  expect(shop).not.toHaveCondition("Ready");
  expect(message(() => expect(shop).toHaveCondition("Stalled", { reason: "Other" }))).toBe(
    "Shop default/corner has no condition Stalled=True Other: its conditions are\n  Stalled=True NoRoom: the shop is full",
  );
});

test("toOwn goes by uid", () => {
  const shop = body([]);
  const child = (uid: string, name = "corner") => ({
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "default", ownerReferences: [{ kind: "Shop", name, uid }] },
  });
  expect(shop).toOwn(child("u1"));
  expect(shop).toOwn([child("u1"), child("u1")]);
  expect(shop).not.toOwn([]);
  expect(message(() => expect(shop).toOwn(child("u0")))).toBe(
    "Shop default/corner does not own it: ConfigMap default/a belongs to Shop corner of another uid (u0, not u1)",
  );
  expect(message(() => expect(shop).toOwn({ kind: "ConfigMap", metadata: { name: "b" } }))).toContain(
    "belongs to nobody",
  );
});

test("a runner with a global expect gets them by @lotse/testing/jest", async () => {
  const extended: object[] = [];
  const place = globalThis as { expect?: unknown };
  const { expect: before } = place;
  place.expect = { extend: (all: object) => extended.push(all) };
  try {
    const { matchers } = await import("./jest.ts");
    expect(extended).toEqual([matchers]);
  } finally {
    if (before === undefined) delete place.expect;
    else place.expect = before;
  }
});

test("on a harness: what an operator made, and what it said", async () => {
  const Shop = resource({
    group: "example.com",
    version: "v1",
    kind: "Shop",
    spec: z.object({ size: z.int() }),
  });
  const operator = new Operator({ name: "shops" });
  operator.children(Shop, { owns: [ConfigMap] }, function parts({ name, spec }) {
    if (spec.size > 9) throw new PermanentError("nobody has so much room");
    return [ConfigMap.gen({ name })];
  });
  await using harness = await startHarness(operator, { clock: new VirtualClock() });
  await harness.apply(new Shop({ metadata: { name: "corner" }, spec: { size: 1 } }));
  await harness.apply(new Shop({ metadata: { name: "mall" }, spec: { size: 10 } }));
  await harness.settle();
  const corner = await harness.client.get(Shop, "corner");
  const map = await harness.client.get(ConfigMap, "corner");
  expect(corner).toBeReady();
  expect(corner).toOwn(map);
  expect(harness).toHaveEvent({ type: "Warning", object: "default/mall", message: /so much room/ });
  expect(harness).not.toHaveEvent({ object: "corner", type: "Warning" });
  expect(message(() => expect(harness).toHaveEvent("Nonsense"))).toMatch(
    /^there is no Event with reason "Nonsense"; there are\n {2}Warning \w+ of Shop mall: /,
  );
  assertReady(corner);
  assertOwns(corner, map);
  assertEvent(harness, { object: "mall" });
  assertCondition(corner, "Ready", "True");
  expect(() => assertCondition(corner, "Ready", "False")).toThrow(AssertionError);
});
