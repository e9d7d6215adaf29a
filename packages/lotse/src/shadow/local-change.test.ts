import { describe, expect, it } from "vitest";
import { acceptedOf, answeredOf, askedOf, changed, deltaOf, patchKindOf, wishedBy } from "./local-change.ts";
import { CONFIG_MAPS, map } from "./test-builders.ts";

const WITH_STATUS = { ...CONFIG_MAPS, subresources: ["status"] };

it("a PATCH is read by its media type, and as a merge patch without one", () => {
  const kindOf = (type: string) => patchKindOf({ headers: { "Content-Type": type } });
  expect(kindOf("application/json-patch+json")).toBe("json");
  expect(kindOf("application/strategic-merge-patch+json")).toBe("strategic");
  expect(kindOf("application/apply-patch+yaml; charset=utf-8")).toBe("apply");
  expect(patchKindOf({})).toBe("merge");
});

it("a wish is the object as the request wants it, in each of the forms", () => {
  const would = map({ a: "1" });
  expect(wishedBy(would, "merge", { data: { a: null, b: "2" } }).data).toEqual({ b: "2" });
  expect(wishedBy(would, "json", [{ op: "add", path: "/data/b", value: "2" }]).data).toEqual({ a: "1", b: "2" });
  expect(wishedBy(would, "replace", map({ c: "3" })).data).toEqual({ c: "3" });
});

describe("the difference that a wish makes", () => {
  const would = { ...map({ a: "1" }), status: { size: 1 } };

  it("has nothing of what is the server's own", () => {
    const wished = { ...would, metadata: { ...would.metadata, resourceVersion: "9", uid: "x", labels: { l: "1" } } };
    expect(deltaOf(would, wished, undefined, CONFIG_MAPS)).toEqual({ metadata: { labels: { l: "1" } } });
    expect(deltaOf(would, would, undefined, CONFIG_MAPS)).toBeUndefined();
  });

  it("has the status only where the server would look at it", () => {
    const wished = { ...would, data: { a: "2" }, status: { size: 2 } };
    expect(deltaOf(would, wished, undefined, WITH_STATUS)).toEqual({ data: { a: "2" } });
    expect(deltaOf(would, wished, "status", WITH_STATUS)).toEqual({ status: { size: 2 } });
    expect(deltaOf(would, wished, undefined, CONFIG_MAPS)).toEqual({ data: { a: "2" }, status: { size: 2 } });
  });

  it("is asked of the server without what Lotse keeps on objects", () => {
    const annotations = { "boxes.lotse.dev/state": "{}", own: "x" };
    const delta = { metadata: { finalizers: ["f"], annotations }, status: { lotse: {}, size: 2 } };
    expect(askedOf(delta)).toEqual({ metadata: { annotations: { own: "x" } }, status: { size: 2 } });
    expect(askedOf({ metadata: { finalizers: ["f"] }, status: { lotse: {} } })).toBeUndefined();
  });
});

describe("what the server has made of it", () => {
  it("counts: its values, without what it did not keep, and with what it was not asked", () => {
    const delta = { metadata: { finalizers: ["f"] }, spec: { cpu: "1000m", unknown: 1, gone: null } };
    const answer = { spec: { cpu: "1", more: "a default" } };
    expect(acceptedOf(delta, askedOf(delta), answer)).toEqual({
      metadata: { finalizers: ["f"] },
      spec: { cpu: "1", unknown: null, gone: null },
    });
    expect(acceptedOf(delta, undefined, answer)).toBe(delta);
    expect(acceptedOf(delta, askedOf(delta), undefined)).toBe(delta);
  });

  it("counts for a strategic patch, too, with its lists as a whole", () => {
    const patch = { spec: { list: [{ name: "a" }], $patch: "merge" } };
    expect(answeredOf(patch, { spec: { list: [{ name: "b" }, { name: "a" }], x: 1 } })).toEqual({
      spec: { list: [{ name: "b" }, { name: "a" }] },
    });
  });

  it("is a new generation if something else is wanted than before", () => {
    const would = map({ a: "1" }, "x", { generation: 4 });
    expect(changed(would, { data: { a: "2" } }).metadata?.generation).toBe(5);
    expect(changed(would, { metadata: { labels: { a: "1" } }, status: {} }).metadata?.generation).toBe(4);
  });
});
