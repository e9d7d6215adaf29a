import { expect, it } from "vitest";
import { objectJudge } from "./judge.ts";

const spec = {
  type: "object",
  properties: { min: { type: "integer", minimum: 0, default: 1 }, max: { type: "integer" } },
  "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min is above max" }],
};

const CRD = {
  metadata: { name: "ranges.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Range", plural: "ranges" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      },
    ],
  },
};

const range = (min: number | undefined, max: number) => ({
  apiVersion: "example.com/v1",
  kind: "Range",
  metadata: { name: "a" },
  spec: { ...(min !== undefined && { min }), max },
});

it("objects are judged by types, bounds, defaults and rules, in the words of the server", async () => {
  const judge = await objectJudge(CRD);
  expect(judge("v1", range(1, 2))).toEqual([]);
  expect(judge("v1", range(3, 2))).toEqual([{ path: "spec", what: "Invalid value: min is above max" }]);
  expect(judge("v1", range(undefined, 0))).toEqual([{ path: "spec", what: "Invalid value: min is above max" }]);
  expect(judge("v1", range(-1, 2))).toEqual([
    { path: "spec.min", what: "Invalid value: -1: spec.min in body should be greater than or equal to 0" },
  ]);
  expect(judge("v2", range(3, 2))).toEqual([]);
});
