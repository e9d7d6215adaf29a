import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { ClusterRoleBinding, Secret } from "@lotse/client";
import { Operator, resource } from "lotse";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { startHarness } from "./index.ts";

// Reading code and running pods takes its time on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ seen: z.number().optional() }),
});

const thing = () => new Thing({ metadata: { name: "one", namespace: "default" }, spec: {} });

/** What it asks for is hidden from the scan of its code. */
function sly() {
  const operator = new Operator({ name: "sly" });
  const ask = JSON.parse('"list"') as "list";
  operator.on.create(Thing, async function open({ client }) {
    const hidden = client as unknown as Record<string, (...args: unknown[]) => { first(): Promise<unknown> }>;
    await hidden[ask]?.(Secret).first();
  });
  return operator;
}

/** Reading an operator's code takes the compiler seconds, and is done once for each operator. */
const SLY = sly();

test("a handler that nobody can read keeps the operator from starting, with what to do", async () => {
  const started = startHarness(SLY, { rbac: true });
  await expect(started).rejects.toThrow(
    /nobody knows what handler open \(src\/rights\.test\.ts:\d+\) asks the cluster for/,
  );
  await expect(started).rejects.toThrow(/LOTSE_RECORD=.*rights\.test\.requests\.jsonl; or give it rights by hand/);
});

test("what a handler is refused is told with its name, in the log too", async () => {
  await using harness = await startHarness(SLY, { rbac: { rules: [] } });
  await harness.client.create(thing());
  await harness.settle();
  expect(harness.refusals()).toEqual(["list secrets in default (handler open)"]);
  const [line, ...others] = harness.logs.find({ message: "the operator's role does not allow what it asks for" });
  expect(others).toEqual([]);
  expect(line?.fields).toMatchObject({
    handler: "open",
    missing: "list secrets in default",
    rule: "{ apiGroups: [''], resources: [secrets], verbs: [list] }",
  });
  await harness.restart();
  expect(harness.refusals()).toHaveLength(1);
});

test("a test that does not ask for refusals fails because of them", async () => {
  const harness = await startHarness(SLY, { rbac: { rules: [] } });
  await harness.client.create(thing());
  await harness.settle();
  await expect(harness.stop()).rejects.toThrow(
    /^oracle permissions: .*\n {2}the operator asked for what its role does not allow: list secrets in default \(handler open\)\n/,
  );
});

test("rules that are given by hand are rights", async () => {
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }];
  await using harness = await startHarness(SLY, { rbac: { rules } });
  await harness.client.create(thing());
  await harness.settle();
  expect(harness.refusals()).toEqual([]);
  expect(harness.logs.messages({ level: "warn", handler: "open" })).toEqual([]);
});

test("a recording makes a handler known that nobody can read", async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-rights-"));
  const file = path.join(folder, "seen.jsonl");
  vi.stubEnv("LOTSE_RECORD", file);
  try {
    {
      await using harness = await startHarness(SLY, { rbac: true });
      await harness.client.create(thing());
      await harness.settle();
      expect(harness.logs.messages({ level: "warn" })).toEqual([
        expect.stringContaining("nobody knows what handler open"),
      ]);
      expect(readFileSync(file, "utf8")).toContain('"handler":"open"');
    }
    await using harness = await startHarness(SLY, { rbac: true });
    await harness.client.create(thing());
    await harness.settle();
    expect(harness.logs.messages({ level: "warn" })).toEqual([]);
    expect(harness.refusals()).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("who waits for an operator that was refused something is told what", async () => {
  const operator = sly();
  operator.on.create(Thing, async function hang({ signal }) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await using harness = await startHarness(operator, { rbac: { rules: [] } });
  await harness.client.create(thing());
  await vi.waitFor(() => expect(harness.refusals()).toHaveLength(1), { timeout: 170_000 });
  await expect(harness.settle({ timeout: 200 })).rejects.toThrow(
    "its role does not allow list secrets in default (handler open)",
  );
});

test("without roles nothing is refused", async () => {
  await using harness = await startHarness(SLY);
  await harness.client.create(thing());
  await harness.settle();
  expect(harness.refusals()).toEqual([]);
});

test("an operator that may not see its objects does not keep a test waiting", async () => {
  const operator = new Operator({ name: "blind" });
  operator.on.event(Thing, { id: "look" }, () => {});
  await using harness = await startHarness(operator, { rbac: { rules: [] } });
  await harness.client.delete(ClusterRoleBinding, "blind");
  await expect(harness.restart()).rejects.toThrow(
    "the operator cannot start: its role does not allow list things.example.com (the framework)",
  );
});
