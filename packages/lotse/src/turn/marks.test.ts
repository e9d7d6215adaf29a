import { expect, it } from "vitest";
import { operatorsOn } from "./marks.ts";
import { annotationStorage, statusStorage } from "./storage/index.ts";
import { thing } from "./test-builders.ts";

it("the marks on an object tell which operators have worked on it", () => {
  const record = { uid: "u1", handled: "x" };
  expect(operatorsOn(thing())).toEqual([]);
  expect(operatorsOn(annotationStorage("shop").write(thing(), record, []))).toEqual(["shop"]);
  expect(operatorsOn(statusStorage("shop").write(thing(), record, []))).toEqual(["shop"]);
  const finalizers = ["old-shop.lotse.dev/finalizer", "example.com/finalizer"];
  const annotations = { "shop.lotse.dev/state-u2": "{}", "depot.lotse.dev/children": "{}", "example.com/state": "x" };
  expect([...operatorsOn(thing({}, { finalizers, annotations }))].sort()).toEqual(["depot", "old-shop", "shop"]);
});

it("what conversions keep in the status is no operator's", () => {
  expect(operatorsOn({ ...thing(), status: { lotse: { _kept: {} } } })).toEqual([]);
});
