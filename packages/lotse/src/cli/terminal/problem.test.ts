import { KubeError } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { exitCodeOf, formatProblem, Problem } from "./problem.ts";

const linesOf = (error: unknown, options = {}) => formatProblem(error, options).trimEnd().split("\n");

describe("formatProblem", () => {
  it("tells what happened, why, and what to do, each on its line", () => {
    expect(linesOf(new Problem({ what: "it broke", why: "it was old", todo: "get a new one" }))).toEqual([
      "Error: it broke",
      "Why:   it was old",
      "Do:    get a new one",
    ]);
  });

  it("leaves out what is not known", () => {
    expect(linesOf(new Problem({ what: "it broke" }))).toEqual(["Error: it broke"]);
  });

  it("never takes more than three lines, whatever the texts are", () => {
    const text = "one\ntwo\n\nthree\n".repeat(50);
    expect(linesOf(new Problem({ what: text, why: text, todo: text }))).toHaveLength(3);
    expect(linesOf(new Error(text)).length).toBeLessThanOrEqual(3);
    expect(linesOf(new KubeError(text, { hint: text })).length).toBeLessThanOrEqual(3);
    expect(linesOf(text)).toHaveLength(1);
  });

  it("shows the hint of an error of the client", () => {
    expect(linesOf(new KubeError("no such thing", { hint: "make one" }))).toEqual([
      "Error: no such thing",
      "Do:    make one",
    ]);
  });

  it("names the place in the user's own code, also that of what is behind an error", () => {
    const stack = "Error: no rates\n    at f (/p/node_modules/a/b.js:1:1)\n    at open (file:///p/operator.ts:3:9)";
    const cause = Object.assign(new Error("no rates"), { stack });
    const wrapped = Object.assign(new Error("the startup handler failed: no rates", { cause }), { stack: "Error" });
    const ofLife = Object.assign(new Error("the startup handler open failed", { cause }), {
      code: "LOTSE_LIFECYCLE",
      stack: "Error",
    });
    for (const error of [cause, wrapped, ofLife]) {
      expect(linesOf(error).slice(1)).toEqual([
        "Why:   it was thrown at operator.ts:3:9",
        "Do:    mend it there; --verbose adds the whole stack",
      ]);
    }
    expect(linesOf(Object.assign(new Error("lost"), { stack: "Error: lost" }))).toEqual([
      "Error: lost",
      "Do:    run it again with --verbose to see where this comes from",
    ]);
  });

  it("tells the first of several errors", () => {
    expect(linesOf(new AggregateError([new KubeError("first"), new KubeError("second")], "two"))).toEqual([
      "Error: first",
    ]);
  });

  it("shows no stack unless asked, and then those of the causes too", () => {
    const error = new Problem({ what: "it broke" }, { cause: new Error("deep down") });
    expect(formatProblem(error)).not.toContain("problem.test");
    const verbose = formatProblem(error, { verbose: true });
    expect(verbose).toMatch(/at .*problem\.test/);
    expect(verbose).toContain("caused by Error: deep down");
  });

  it("colours only when asked", () => {
    const error = new Problem({ what: "it broke", why: "so" });
    expect(formatProblem(error)).not.toContain("\x1b");
    expect(formatProblem(error, { colours: true })).toContain("\x1b[31mError:\x1b[0m it broke");
  });
});

describe("exitCodeOf", () => {
  it("is 2 for wrong usage and 1 for everything else", () => {
    expect(exitCodeOf(new Problem({ what: "x" }, { exitCode: 2 }))).toBe(2);
    expect(exitCodeOf(new Problem({ what: "x" }))).toBe(1);
    expect(exitCodeOf(new Error("x"))).toBe(1);
    expect(exitCodeOf("x")).toBe(1);
  });
});
