import { startHarness } from "@lotse/testing";
import { Pod } from "lotse/client";
import { expect, it } from "vitest";
import operator, { SimpleDeployment } from "./operator.ts";

const nap = () => new SimpleDeployment({ metadata: { name: "nap" }, spec: { sleepytime: 30 } });

it("gets one Pod that belongs to it, and tells its uid in its status", async () => {
  await using harness = await startHarness(operator);
  const deployment = await harness.client.create(nap());
  await harness.settle();
  const [pod, ...others] = await harness.client.list(Pod).toArray();
  expect(others).toEqual([]);
  expect(pod?.spec.containers[0]?.command).toEqual(["sleep", "30"]);
  expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: "SimpleDeployment", uid: deployment.uid }]);
  expect((await deployment.refresh()).status?.createPod).toEqual({ children: [pod?.uid] });
});

it("gets no second Pod when the operator starts again", async () => {
  await using harness = await startHarness(operator);
  await harness.client.create(nap());
  await harness.settle();
  await harness.restart();
  expect(await harness.client.list(Pod).toArray()).toHaveLength(1);
});

it("takes its Pod along when it is deleted", async () => {
  await using harness = await startHarness(operator);
  const deployment = await harness.client.create(nap());
  await harness.settle();
  const pod = await harness.client.get(Pod, "nap-pod");
  await deployment.delete({ wait: true });
  await pod.wait("delete");
});

it("shows its children in a column", async () => {
  await using harness = await startHarness(operator);
  await harness.client.create(nap());
  await harness.settle();
  const { columns } = await harness.client.table(SimpleDeployment);
  expect(columns.map(({ name }) => name)).toContain("Children");
});
