import { describe, expect, it } from "vitest";
import { ABOUT_THE_SAME, ANY_MOMENT, differencesBetween, fieldText } from "./compare.ts";

const told = (is: object, would: object, same = ABOUT_THE_SAME) =>
  differencesBetween(is as never, would as never, same).map(fieldText);

describe("two states of an object", () => {
  it("differ in the fields that differ, also where one lacks the map that they are in", () => {
    expect(told({ a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } })).toEqual(["b.c"]);
    expect(told({}, { metadata: { labels: { x: "1", y: "2" } } })).toEqual(["metadata.labels.x", "metadata.labels.y"]);
    expect(told({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })).toEqual([]);
  });

  it("have items that belong together by name, in whatever order", () => {
    const [web, db] = [
      { name: "web", image: "a" },
      { name: "db", image: "b" },
    ];
    expect(told({ all: [web, db] }, { all: [db, { ...web, image: "c" }] })).toEqual(["all[name=web].image"]);
    expect(told({ all: [web] }, { all: [web, db] })).toEqual(["all[name=db]"]);
  });

  it("have lists without names compared one by one if they are as long, and else as a whole", () => {
    expect(told({ all: [{ x: 1 }, { x: 1 }] }, { all: [{ x: 1 }, { x: 2 }] })).toEqual(["all[1].x"]);
    expect(told({ all: [{ x: 1 }, { x: 1 }] }, { all: [{ x: 1 }] })).toEqual(["all"]);
    expect(told({ all: ["a"] }, { all: ["b"] })).toEqual(["all"]);
  });

  it("are the same if moments are less than a minute apart, or any two where all is done anew", () => {
    const at = (time: string) => ({ status: { seenAt: `2026-01-01T${time}Z` } });
    expect(told(at("12:00:00"), at("12:00:59.5"))).toEqual([]);
    expect(told(at("12:00:00"), at("12:01:00"))).toEqual(["status.seenAt"]);
    expect(told(at("12:00:00"), at("23:00:00"), ANY_MOMENT)).toEqual([]);
    expect(told({ a: "2026-01-01" }, { a: "2026-01-02" }, ANY_MOMENT)).toEqual(["a"]);
  });
});
