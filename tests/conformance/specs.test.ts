import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { deal, focusOf, formatList, parseList, parseListing, readReport } from "./specs.ts";

const A = "[sig-apps] Job should run [Serial] [Conformance]";
const B = "[sig-node] Pods should (not) end [Conformance]";

describe("the list of conformance specs", () => {
  it("is read as it is written, in groups", () => {
    const text = formatList([B, A], ["Head."]);
    expect(text).toBe(`# Head.\n\n# sig-apps: 1\n${A}\n\n# sig-node: 1\n${B}\n`);
    expect(parseList(text)).toEqual([A, B]);
    expect(() => parseList(`${A}\n${A}\n`)).toThrow("names one twice");
  });

  const committed = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

  it("that needs no container is a part of all that must pass", () => {
    const all = new Set(parseList(committed("./must-pass.txt")));
    const free = parseList(committed("./container-free.txt"));
    expect(free.filter((spec) => !all.has(spec))).toEqual([]);
    expect(free.length).toBeGreaterThan(140);
  });

  it.each(["./must-pass.txt", "./container-free.txt"])(
    "in %s has each spec once, and says how many there are",
    (name) => {
      const text = committed(name);
      const head = text.split("\n").filter((line) => /^# (?!sig-)/.test(line));
      const specs = parseList(text);
      expect(
        formatList(
          specs,
          head.map((line) => line.slice(2)),
        ),
      ).toBe(text);
      expect(specs.filter((spec) => !spec.includes("[Conformance]"))).toEqual([]);
    },
  );

  it("is found in what the suite lists", () => {
    const output = `Listing:\n    k8s.io/test/e2e/a.go:12: ${A}\n    k8s.io/test/e2e/a.go:13: [sig-apps] Other\n`;
    expect(parseListing(output)).toEqual([A]);
  });

  it("becomes an expression that fits each of them and no other", () => {
    const focus = new RegExp(focusOf([A, B]));
    const fits = (spec: string) => focus.test(`Kubernetes e2e suite ${spec}`);
    expect([fits(A), fits(B), fits(`${A} twice`), fits("[sig-node] Pods should not end [Conformance]")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("is dealt out so that neighbours run apart", () => {
    expect(deal(["a", "b", "c", "d", "e"], 2)).toEqual([
      ["a", "c", "e"],
      ["b", "d"],
    ]);
    expect(deal(["a"], 4)).toEqual([["a"]]);
  });
});

describe("the report of the suite", () => {
  const spec = (LeafNodeText: string, State: string, more: object = {}) => ({
    ContainerHierarchyTexts: ["[sig-apps] Job"],
    LeafNodeType: "It",
    LeafNodeText,
    State,
    RunTime: 1_500_000_000,
    ...more,
  });

  it("tells what passed, what failed and why, and nothing of what never came to its turn", () => {
    const Failure = { Message: "no job\n", Location: { FileName: "k8s.io/k/test/e2e/apps/job.go", LineNumber: 7 } };
    const reports = [
      spec("a", "passed"),
      spec("b", "failed", { Failure }),
      spec("c", "interrupted"),
      spec("d", "skipped"),
      spec("e", "skipped", { Failure: { Message: "needs two nodes" } }),
      spec("other", "passed"),
      { ...spec("a", "passed"), LeafNodeType: "ReportAfterSuite" },
    ];
    const wanted = new Set(["a", "b", "c", "d", "e"].map((name) => `[sig-apps] Job ${name}`));
    expect(readReport(JSON.stringify([{ SpecReports: reports }]), wanted)).toEqual([
      { spec: "[sig-apps] Job a", state: "passed", seconds: 1.5 },
      { spec: "[sig-apps] Job b", state: "failed", seconds: 1.5, message: "no job (apps/job.go:7)" },
      { spec: "[sig-apps] Job c", state: "too slow", seconds: 1.5 },
      { spec: "[sig-apps] Job e", state: "skipped", seconds: 1.5, message: "needs two nodes" },
    ]);
  });
});
