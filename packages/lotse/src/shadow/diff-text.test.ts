import { describe, expect, it } from "vitest";
import { ABOUT_THE_SAME } from "./compare.ts";
import { diffLines } from "./diff-text.ts";

const lines = (is: object | undefined, would: object | undefined) =>
  diffLines(is as never, would as never, ABOUT_THE_SAME);

describe("a diff", () => {
  it("shows what differs, and where it is, in the order of a manifest", () => {
    const [is, would] = [
      { status: { size: 1 }, spec: { same: 1, size: 1 }, metadata: { labels: { a: "x" } } },
      { status: { size: 2 }, spec: { same: 1 }, metadata: { labels: { a: "x", b: "z" } } },
    ];
    expect(lines(is, would)).toEqual([
      " metadata:",
      "   labels:",
      "+    b: z",
      " spec:",
      "-  size: 1",
      " status:",
      "-  size: 1",
      "+  size: 2",
    ]);
  });

  it("names the item of a list that differs, and shows one that only one side has", () => {
    const is = { all: [{ name: "web", image: "a" }] };
    const would = { all: [{ name: "web", image: "b" }, { name: "db" }] };
    expect(lines(is, would)).toEqual([" all:", "+  - name: db", "   - name: web", "-    image: a", "+    image: b"]);
  });

  it("shows an object that only one side has as a whole", () => {
    expect(lines(undefined, { data: { a: "1" } })).toEqual(["+data:", '+  a: "1"']);
    expect(lines({ data: { a: "1" } }, undefined)).toEqual(["-data:", '-  a: "1"']);
  });

  it("shows of long texts the place where they differ, and no control characters", () => {
    const long = "x".repeat(500);
    const [minus = "", plus = ""] = lines({ a: `${long}1${long}` }, { a: `${long}2${long}` });
    expect(minus).toMatch(/^-a: …x{40}1x{159}…$/);
    expect(plus).toMatch(/^\+a: …x{40}2x{159}…$/);
    expect(lines({ a: "\u001b[31m" }, { a: "b" }).join()).not.toContain("\u001b");
  });
});
