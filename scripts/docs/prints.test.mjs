import { describe, expect, it } from "vitest";
import { printProblem } from "./prints.mjs";

describe("what a page says that a program prints", () => {
  it.each([
    ["a\nb\n", "a\nb"],
    ["rate-… is 1.1\n", "rate-x7k is 1.1\n"],
    ["(a+b)*", "(a+b)*\n"],
    ["", ""],
  ])("may be %j for %j", (said, printed) => {
    expect(printProblem(said, printed)).toBeUndefined();
  });

  it.each([
    ["a\nb\n", "a\nc\n", 'line 2 is "c", and the page says "b"'],
    ["a\n", "a\nb\n", 'line 2 is "b", and the page says nothing'],
    ["a\nb\n", "a\n", 'line 2 is nothing, and the page says "b"'],
    ["a.c", "abc", 'line 1 is "abc", and the page says "a.c"'],
    ["web-… runs", "web runs", 'line 1 is "web runs", and the page says "web-… runs"'],
  ])("is not %j for %j", (said, printed, problem) => {
    expect(printProblem(said, printed)).toBe(problem);
  });
});
