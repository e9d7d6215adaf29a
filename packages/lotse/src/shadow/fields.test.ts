import { describe, expect, it } from "vitest";
import {
  elementOf,
  fieldsOfEntries,
  fieldsOfPatch,
  has,
  isMeant,
  itemKeysIn,
  pathText,
  union,
  WHOLE,
  without,
} from "./fields.ts";
import { entry, map } from "./test-builders.ts";

const WEB = 'k:{"name":"web"}';

describe("a tree of fields", () => {
  it("has a field, what is below it, and what is above it", () => {
    const fields = { "f:spec": { "f:size": WHOLE } };
    expect(has(fields, ["f:spec"])).toBe(true);
    expect(has(fields, ["f:spec", "f:size", "f:deeper"])).toBe(true);
    expect(has(fields, ["f:spec", "f:colour"])).toBe(false);
    expect(has(undefined, ["f:spec"])).toBe(false);
  });

  it("joins another one", () => {
    expect(union({ "f:a": { "f:b": WHOLE } }, { "f:a": { "f:c": WHOLE }, "f:d": WHOLE })).toEqual({
      "f:a": { "f:b": {}, "f:c": {} },
      "f:d": {},
    });
    expect(union(undefined, undefined)).toBeUndefined();
  });

  it("is left without a field, and is no tree where that was all", () => {
    const fields = { "f:a": { ".": WHOLE, "f:b": WHOLE }, "f:c": { "f:d": WHOLE } };
    expect(without(fields, ["f:a", "f:b"])).toEqual({ "f:a": { ".": {} }, "f:c": { "f:d": {} } });
    expect(without(fields, ["f:c", "f:d", "f:deeper"])).toEqual({ "f:a": { ".": {}, "f:b": {} } });
    expect(without(fields, ["f:x"])).toBe(fields);
    expect(without({ "f:c": { "f:d": WHOLE } }, ["f:c"])).toBeUndefined();
  });

  it("comes from a merge patch, in which a list is one value", () => {
    expect(fieldsOfPatch({ spec: { list: [1], gone: null, unsaid: undefined } })).toEqual({
      "f:spec": { "f:list": {}, "f:gone": {} },
    });
  });

  it("comes from what managers have set, where the texts of a Secret are data", () => {
    const secret = map({}, "a", {
      managedFields: [
        entry("a", { data: { x: "1" } }),
        entry("a", { stringData: { y: "2" } }),
        entry("b", { data: 1 }),
      ],
    });
    expect(fieldsOfEntries(secret, ({ manager }) => manager === "a")).toEqual({ "f:data": { "f:x": {}, "f:y": {} } });
    expect(fieldsOfEntries(secret, () => false)).toBeUndefined();
  });
});

describe("an item of a list", () => {
  it("is meant by its keys, or by its value", () => {
    expect(isMeant({ name: "web", image: "x" }, WEB)).toBe(true);
    expect(isMeant({ name: "db" }, WEB)).toBe(false);
    expect(isMeant("a", 'v:"a"')).toBe(true);
    expect(elementOf({ name: "web", image: "x" }, ["name"])).toBe(WEB);
    expect(elementOf("a", "value")).toBe('v:"a"');
  });

  it("has the keys that the trees know", () => {
    expect(itemKeysIn([{}, { 'k:{"protocol":"TCP","port":1}': WHOLE }])).toEqual(["port", "protocol"]);
    expect(itemKeysIn([{ 'v:"a"': WHOLE }])).toBe("value");
    expect(itemKeysIn([{ "f:a": WHOLE }])).toBeUndefined();
  });
});

it("a path is written as people read it", () => {
  expect(pathText(["f:spec", "f:containers", WEB, "f:image"])).toBe("spec.containers[name=web].image");
  expect(pathText(["f:metadata", "f:finalizers", 'v:"a"'])).toBe('metadata.finalizers["a"]');
});
