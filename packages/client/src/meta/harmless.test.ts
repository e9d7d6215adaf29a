import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { harmless, harmlessJson, harmlessLines } from "./harmless.ts";

describe("text from elsewhere", () => {
  it("stays as it is when there is nothing in it", () => {
    expect(harmless("Größe: 4 GiB → 8 GiB ✓")).toBe("Größe: 4 GiB → 8 GiB ✓");
  });

  it("moves no cursor, makes up no line and changes no direction", () => {
    expect(harmless("a\x1b[2Jb\x1b]0;title\x07c\r\nINFO all is well\u202etxt.exe\x9b31m")).toBe(
      "a\\x1b[2Jb\\x1b]0;title\\x07c\\r\\nINFO all is well\\u202etxt.exe\\x9b31m",
    );
  });

  it("keeps the lines of a text that has some", () => {
    expect(harmlessLines("Error: no\r\n    at a\x1b[1A\n    at b")).toBe("Error: no\n    at a\\x1b[1A\n    at b");
  });

  it("is the same document in JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = harmlessJson(JSON.stringify(value));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(harmless(text)).toBe(text);
      }),
    );
    const evil = { "\u009b": "\u2028\u007f\u202e" };
    expect(JSON.parse(harmlessJson(JSON.stringify(evil)))).toEqual(evil);
  });
});
