import { describeKind, type KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import type { KindReader } from "../declare/index.ts";
import { kindMemory } from "./memory.ts";

const POD = describeKind({ group: "", version: "v1", kind: "Pod" });
const body = (name: string): KubeBody => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { image: "x".repeat(100) },
  status: { phase: "Running" },
});
const bodies = (count: number) => Array.from({ length: count }, (_, i) => body(String(i % 10)));
const INDEX: KindReader = { as: "index", id: "byNode", kept: "all" };
const WATCH: KindReader = { as: "watches", id: "count", kept: [["status", "phase"]] };

describe("the memory of a kind", () => {
  it("is the JSON of what is kept, with the fields that take most of it", () => {
    const size = JSON.stringify(body("0")).length;
    const memory = kindMemory(POD, "all", bodies(3), [INDEX, WATCH]);
    expect(memory).toMatchObject({
      apiVersion: "v1",
      kind: "Pod",
      objects: 3,
      bytes: 3 * size,
      bytesPerObject: size,
      readers: [
        { as: "index", id: "byNode" },
        { as: "watches", id: "count", keep: ["status.phase"] },
      ],
    });
    expect(memory.largest.map(({ path }) => path)).toEqual(["spec.image", "status.phase", "kind"]);
    expect(memory.largest[0]?.share).toBeCloseTo(102 / size, 2);
    expect(memory).not.toHaveProperty("sampled");
  });

  it("is measured at some of many objects, and says so", () => {
    const size = JSON.stringify(body("0")).length;
    expect(kindMemory(POD, "all", bodies(1_000), [INDEX], 10)).toMatchObject({
      objects: 1_000,
      sampled: 10,
      bytes: 1_000 * size,
    });
  });

  it("is nothing where there are no objects", () => {
    expect(kindMemory(POD, [], [], [])).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      objects: 0,
      bytes: 0,
      bytesPerObject: 0,
      keep: [],
      largest: [],
      readers: [],
    });
  });
});

describe("the hint", () => {
  it("names those who read all because they have not said otherwise", () => {
    expect(kindMemory(POD, "all", bodies(1), [INDEX, WATCH]).hint).toBe(
      "only read, and kept whole for want of keep: byNode (index); what they do not read, such as spec.image, need not be kept",
    );
  });

  it.each<[string, KindReader[]]>([
    ["a handler works for the objects", [INDEX, { as: "handler", id: "boot", kept: "all" }]],
    ["a reconciler owns them", [INDEX, { as: "owns", id: "boot", kept: "all" }]],
    ["nobody is known to read them", []],
  ])("is not given where %s", (_, readers) => {
    expect(kindMemory(POD, "all", bodies(1), readers)).not.toHaveProperty("hint");
  });

  it("is not given where less is kept already", () => {
    expect(kindMemory(POD, [["spec"]], bodies(1), [WATCH])).not.toHaveProperty("hint");
  });
});
