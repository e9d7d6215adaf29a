import { VirtualClock } from "@lotse/client/meta";
import { expect, it } from "vitest";
import { compose } from "../../compose.ts";
import { type ApiObject, create } from "../../registry/index.ts";
import { Scheduler } from "./scheduler.ts";

it("the scheduler forgets what it said to pods that are gone when the nodes are other ones", async () => {
  const clock = new VirtualClock();
  const admission = { disable: ["NamespaceLifecycle", "ServiceAccount"] } as const;
  const { context, store } = await compose({ tls: false, clock, admission }, undefined);
  const { backend, requester } = context;
  const write = { dryRun: false, fieldManager: "test", fieldValidation: "Ignore" } as const;
  const endpoint = backend.catalog.storage("", "pods");
  if (!endpoint) throw new Error("pods are not served");
  const target = { endpoint, namespace: "default", name: undefined, subresource: undefined };
  const node = (labels: Record<string, string>) =>
    ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", uid: "n", labels, resourceVersion: "" },
      status: { allocatable: { pods: "10", cpu: "1" } },
    }) as Parameters<typeof store.create>[2];
  store.create("nodes", "n", node({}));
  const scheduler = new Scheduler(context, "n");
  scheduler.start();
  const refused = async (at: number) => {
    const resources = { requests: { cpu: String(2 + at) } };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `pod-${at}`, namespace: "default" },
      spec: { containers: [{ name: "c", image: "i", resources }] },
    };
    await create(backend, requester, target, pod as unknown as ApiObject, write);
    do await new Promise((resolve) => setImmediate(resolve));
    while (!scheduler.idle);
  };
  for (let at = 0; at < 10; at++) await refused(at);
  expect(scheduler.remembered).toBe(10);
  for (const { key, revision } of store.list("pods")) store.delete("pods", key, revision);
  store.update("nodes", "n", store.get("nodes", "n")?.revision as number, node({ other: "world" }));
  await refused(10);
  expect(scheduler.remembered).toBe(1);
  scheduler.stop();
  backend.pace.stop();
});
