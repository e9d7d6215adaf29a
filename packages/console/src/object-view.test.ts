import { expect, test } from "vitest";
import { viewOf } from "./object-view.ts";

test("the records of all operators are found, in the status and in annotations", () => {
  const { records } = viewOf({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "a",
      annotations: { "one.lotse.dev/state": '{"uid":"u"}', "two.lotse.dev/state": "broken", other: "x" },
    },
    status: { lotse: { three: { uid: "u", handled: "d" } } },
  });
  expect(records).toEqual({ one: { uid: "u" }, two: "broken", three: { uid: "u", handled: "d" } });
});

test("managed fields are left out", () => {
  const { object, yaml } = viewOf({ kind: "ConfigMap", metadata: { name: "a", managedFields: [{ manager: "m" }] } });
  expect(object.metadata).toEqual({ name: "a" });
  expect(yaml).not.toContain("manager");
});

test("a Secret shows its keys and none of its values", () => {
  const view = viewOf({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "a",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"aHVudGVyMg=="}}' },
    },
    data: { password: "aHVudGVyMg==" },
  });
  expect(view.object.data).toEqual({ password: "(hidden)" });
  expect(JSON.stringify(view)).not.toContain("aHVudGVyMg");
});
