import { expect, it } from "vitest";
import { Stage, workload } from "./test-stage.ts";

it("counts an event on that is told again, and tells many similar ones as one", async () => {
  await using stage = await Stage.start();
  await stage.create("replicasets", workload("set", { replicas: 12 }));
  const events = (await stage.list("events")).filter(({ involvedObject }) => involvedObject.kind === "ReplicaSet");
  expect(events).toHaveLength(10);
  expect(events[0]).toMatchObject({
    involvedObject: { kind: "ReplicaSet", name: "set", apiVersion: "apps/v1", uid: expect.any(String) },
    reason: "SuccessfulCreate",
    type: "Normal",
    count: 1,
    source: { component: "replicaset-controller" },
    reportingComponent: "replicaset-controller",
    firstTimestamp: "2026-01-01T00:00:00Z",
    eventTime: null,
  });
  const combined = events.filter(({ message }) =>
    message.startsWith("(combined from similar events): Created pod: set-"),
  );
  expect(combined).toMatchObject([{ count: 3 }]);
});
