import { explore, startHarness } from "@lotse/testing";
import { ConfigMap } from "lotse/client";
import { expect, test } from "vitest";
import operator, { Greeting } from "./operator.ts";

const hello = () => new Greeting({ metadata: { name: "hello", namespace: "default" }, spec: { to: "world" } });

test("a greeting becomes a ConfigMap and tells its message in the status", async () => {
  await using harness = await startHarness(operator);
  await harness.client.create(hello());
  await harness.settle();
  const greeting = await harness.client.get(Greeting, "hello");
  expect(greeting.status?.message).toBe("Hello, world!");
  const published = await harness.client.get(ConfigMap, "hello-greeting");
  expect(published.data).toEqual({ message: "Hello, world!" });
});

test("a changed greeting changes its ConfigMap", async () => {
  await using harness = await startHarness(operator);
  const greeting = await harness.client.create(hello());
  await harness.settle();
  await greeting.patch({ spec: { to: "moon" } });
  await harness.settle();
  const published = await harness.client.get(ConfigMap, "hello-greeting");
  expect(published.data).toEqual({ message: "Hello, moon!" });
});

test("the operator does nothing when it starts again", async () => {
  await using harness = await startHarness(operator);
  await harness.client.create(hello());
  await harness.settle();
  const before = harness.writes().length;
  await harness.restart();
  expect(harness.writes().slice(before)).toEqual([]);
});

test("whatever goes wrong on the way, the same comes of it", { timeout: 120_000 }, async () => {
  // Plays this again and again: each time the operator is killed at another write, an answer is lost, an event comes late.
  await explore(operator, async ({ client, settle }) => {
    const greeting = await client.create(hello());
    await settle();
    await greeting.patch({ spec: { to: "moon" } });
    await settle();
    await greeting.delete();
    await settle();
  });
});
