import { Deployment, Job } from "@lotse/client";
import { Operator, resource } from "lotse";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { startHarness, VirtualClock } from "./index.ts";

// Reading code and running pods takes its time on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const Web = resource({
  group: "example.com",
  version: "v1",
  kind: "Web",
  spec: z.object({ replicas: z.number().default(1) }),
  status: z.object({ ready: z.number().optional() }),
});

/** An operator that keeps a Deployment, and tells how many of its pods are ready. */
function webs() {
  const operator = new Operator({ name: "webs" });
  operator.children(Web, { owns: [Deployment] }, function parts({ name, spec }) {
    return [Deployment.gen({ name, image: "nginx", replicas: spec.replicas })];
  });
  operator.reconcile(Web, async function tell({ name, get, patch }) {
    const deployment = await get(Deployment, name);
    patch.status.ready = deployment?.status?.readyReplicas ?? 0;
  });
  return operator;
}

const web = (replicas = 1) => new Web({ metadata: { name: "web", namespace: "default" }, spec: { replicas } });

test("without a kubelet pods stay pending", async () => {
  await using harness = await startHarness(webs());
  await harness.client.create(web());
  await harness.settle();
  expect((await harness.client.get(Web, "web")).status?.ready).toBe(0);
});

test.each([undefined, new VirtualClock()])(
  "with simulated pods settling waits until they are ready (%o)",
  async (clock) => {
    await using harness = await startHarness(webs(), { kubelet: "simulate", ...(clock && { clock }) });
    await harness.client.create(web(3));
    await harness.settle();
    expect((await harness.client.get(Web, "web")).status?.ready).toBe(3);
  },
);

test("what pods do later comes when the test advances the clock, and the operator sees each step in its time", async () => {
  const clock = new VirtualClock();
  const start = clock.now();
  const operator = webs();
  const seen: string[] = [];
  operator.on.event(Deployment, { id: "watch" }, ({ body }) => {
    const ready = body.status?.readyReplicas ?? 0;
    const line = `${ready} ready after ${(clock.now() - start) / 1_000} s`;
    if (seen.at(-1) !== line) seen.push(line);
  });
  await using harness = await startHarness(operator, { kubelet: "simulate", clock });
  harness.cluster.pods.program({ labels: "app=web" }, { ready: "30s" });
  await harness.client.create(web(2));
  await harness.settle();
  await harness.advance("29s");
  expect((await harness.client.get(Web, "web")).status?.ready).toBe(0);
  await harness.advance("1h");
  expect((await harness.client.get(Web, "web")).status?.ready).toBe(2);
  expect(seen.at(-1)).toBe("2 ready after 30 s");
});

test("Jobs run to their end, and fail where the test says so", async () => {
  const clock = new VirtualClock();
  await using harness = await startHarness(webs(), { kubelet: "simulate", clock });
  harness.cluster.pods.program({ labels: "job-name=bad" }, { exit: { code: 1 } });
  const containers = [{ name: "c", image: "i" }];
  const template = { spec: { restartPolicy: "Never" as const, containers } };
  for (const name of ["good", "bad"]) {
    await harness.client.create(
      new Job({ metadata: { name, namespace: "default" }, spec: { backoffLimit: 1, template } }),
    );
  }
  await harness.settle();
  expect((await harness.client.get(Job, "good")).status?.succeeded).toBe(1);
  await harness.advance("5m");
  expect((await harness.client.get(Job, "bad")).status?.conditions).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ type: "Failed", status: "True" })]) as object,
  );
});
