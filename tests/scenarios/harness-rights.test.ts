/** The operator of a harness with the rights that it is deployed with, as far as its code tells them. */
import { startHarness } from "@lotse/testing";
import { Operator, resource } from "lotse";
import { ConfigMap, type KindClass, Namespace, Secret } from "lotse/client";
import { expect, test, vi } from "vitest";
import { z } from "zod";

// Reading code and running pods takes its time on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const Thing = resource({
  group: "example.com",
  version: "v1",
  kind: "Thing",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ seen: z.number().optional() }),
});

const thing = (name = "one", namespace = "default") => new Thing({ metadata: { name, namespace }, spec: {} });

/** An operator that does all sorts of things, each of which is written in its code. */
function honest() {
  const operator = new Operator({ name: "honest" });
  operator.children(Thing, { owns: [ConfigMap] }, ({ name }) => ConfigMap.gen({ name, data: { of: name } }));
  operator.on.create(Thing, async function open({ client, name }) {
    await client.apply(Secret.gen({ name, stringData: { key: "value" } }));
  });
  operator.reconcile(Thing, async function count({ list, patch }) {
    patch.status.seen = (await list(Secret)).length;
  });
  operator.on.delete(Thing, async function close({ client, name }) {
    await client.delete(Secret, name, { ignoreNotFound: true });
  });
  return operator;
}

/** Its code is read once for both tests. */
const HONEST = honest();

test("an operator whose needs are in its code is refused nothing, and has no right besides", async () => {
  await using harness = await startHarness(HONEST, { rbac: true });
  const one = await harness.client.create(thing());
  await harness.settle();
  expect((await harness.client.get(Thing, "one")).status?.seen).toBe(1);
  expect((await harness.client.get(ConfigMap, "one")).data.of).toBe("one");
  await harness.restart();
  await one.delete();
  await harness.settle();
  await expect(harness.client.get(Secret, "one")).rejects.toThrow("not found");
  expect(harness.refusals()).toEqual([]);
  const users = harness.cluster.requests.filter({ userAgent: "lotse-harness-operator" }).map(({ user }) => user);
  expect(new Set(users)).toEqual(new Set(["system:serviceaccount:default:honest"]));
});

test("an operator that serves one namespace may do nothing in another one", async () => {
  await using harness = await startHarness(HONEST, { rbac: true, namespaces: ["team-a"] });
  await harness.client.create([thing("mine", "team-a"), thing("foreign")]);
  await harness.settle();
  expect(harness.refusals()).toEqual([]);
  expect((await harness.client.get(Secret, "mine", { namespace: "team-a" })).name).toBe("mine");
  const kubeconfig = harness.cluster.kubeconfigFor({ serviceAccount: "default/honest" });
  await using account = await harness.cluster.connect({ kubeconfig });
  await expect(account.list(Secret, { namespace: "default" }).first()).rejects.toThrow("forbidden");
});

test("a kind that the framework follows for a reconciler is refused in the reconciler's name", async () => {
  const operator = new Operator({ name: "watcher" });
  const kinds = new Map<string, KindClass>([["namespace", Namespace]]);
  operator.reconcile(Thing, async function look({ list, patch }) {
    const kind = kinds.get("namespace");
    if (kind) patch.status.seen = (await list(kind)).length;
  });
  const unknown = startHarness(operator, { rbac: true });
  await expect(unknown).rejects.toThrow(/handler look .*the kind in list\(…\) is only known when it runs/);
  await using harness = await startHarness(operator, { rbac: { rules: [] } });
  await harness.client.create(thing());
  await harness.settle();
  expect(harness.refusals()).toEqual(["list namespaces (handler look)"]);
});
