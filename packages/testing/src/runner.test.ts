/** What a runner of operators owes a test: a start, a log, a moment when all is done, an end, and the reason of a failure. */
import { connect } from "node:net";
import { ConfigMap } from "@lotse/client";
import { Operator, PermanentError } from "lotse";
import { expect, test } from "vitest";
import { startHarness } from "./index.ts";

test("an operator runs from its start to its end, with all that it says, and nothing of it is left", async () => {
  const seen: string[] = [];
  const operator = new Operator({ name: "runner" });
  operator.on.startup(function open() {
    seen.push("startup");
  });
  operator.on.create(ConfigMap, { labels: { mine: "yes" } }, async function greet({ name, logger }) {
    seen.push(`greets ${name}`);
    logger.info("moin", { to: name });
  });
  operator.on.cleanup(function close() {
    seen.push("cleanup");
  });
  const harness = await startHarness(operator);
  expect(seen).toEqual(["startup"]);
  await connectTo(harness.cluster.port);
  await harness.client.create(ConfigMap.gen({ name: "one", namespace: "default", labels: { mine: "yes" } }));
  await harness.settle();
  expect(seen).toEqual(["startup", "greets one"]);
  expect(harness.logs.find({ message: "moin" })).toMatchObject([
    { level: "info", fields: { to: "one", handler: "greet" }, object: { name: "one", namespace: "default" } },
  ]);
  expect(String(harness.logs)).toMatch(/\[default\/one\] moin .*to=one/);
  const { operator: running, cluster } = harness;
  await harness.stop();
  expect(seen).toEqual(["startup", "greets one", "cleanup"]);
  await expect(running.stopped).resolves.toBeUndefined();
  await expect(connectTo(cluster.port)).rejects.toThrow("ECONNREFUSED");
});

function connectTo(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}

test("an operator that fails hands its own error to the test", async () => {
  const operator = new Operator({ name: "runner" });
  operator.on.startup(function open() {
    throw new PermanentError("the key is lost");
  });
  operator.on.create(ConfigMap, function greet() {});
  await expect(startHarness(operator)).rejects.toThrow("the key is lost");
});

test("a handler that fails is in the log with its reason, and the test goes on", async () => {
  const operator = new Operator({ name: "runner" });
  operator.on.create(ConfigMap, { labels: { mine: "yes" } }, function greet() {
    throw new PermanentError("nobody is at home");
  });
  await using harness = await startHarness(operator);
  await harness.client.create(ConfigMap.gen({ name: "one", namespace: "default", labels: { mine: "yes" } }));
  await harness.settle();
  expect(harness.logs.find({ level: "error", handler: "greet" })).toHaveLength(1);
  expect(String(harness.logs)).toContain("nobody is at home");
});
