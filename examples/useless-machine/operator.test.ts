import { VirtualClock } from "@lotse/client/meta";
import { startHarness } from "@lotse/testing";
import { expect, it } from "vitest";
import operator, { Machine } from "./operator.ts";

const flip = (name: string, switchPosition = "up") => new Machine({ metadata: { name }, spec: { switchPosition } });

it("flips a switch back at once, and writes down when", async () => {
  const clock = new VirtualClock();
  await using harness = await startHarness(operator, { clock });
  await harness.client.create(flip("desk", "sideways"));
  await harness.settle();
  const desk = await harness.client.get(Machine, "desk");
  expect(desk.spec.switchPosition).toBe("down");
  expect(Date.parse(desk.status?.seenAt ?? "")).toBe(clock.now());
});

it("rests for five seconds between two flips, and nobody else waits for that", async () => {
  const clock = new VirtualClock();
  await using harness = await startHarness(operator, { clock });
  const desk = await harness.client.create(flip("desk"));
  await harness.settle();
  await harness.advance("2s");
  await desk.patch({ spec: { switchPosition: "up" } });
  const wall = await harness.client.create(flip("wall"));
  await harness.settle();
  const position = async (machine: InstanceType<typeof Machine>) => (await machine.refresh()).spec.switchPosition;
  expect(await position(desk)).toBe("up");
  expect(await position(wall)).toBe("down");

  await harness.advance("2.9s");
  expect(await position(desk)).toBe("up");
  await harness.advance("0.2s");
  expect(await position(desk)).toBe("down");
});

it("leaves a machine alone whose switch is down", async () => {
  await using harness = await startHarness(operator);
  await harness.client.create(flip("still", "down"));
  await harness.settle();
  expect(harness.writes()).toEqual([]);
});

it("flips back what was flipped while it was not looking", async () => {
  await using harness = await startHarness(operator);
  await harness.stopOperator();
  await harness.client.create(flip("desk"));
  await harness.startOperator();
  await harness.settle();
  expect((await harness.client.get(Machine, "desk")).spec.switchPosition).toBe("down");
});
