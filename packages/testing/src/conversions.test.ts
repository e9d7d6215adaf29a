import { resource } from "lotse";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { conversions } from "./conversions.ts";

/** From one number to two of which the rule says that the first is the smaller one. */
const range = (width: number, lossless = true) =>
  resource({
    group: "example.com",
    kind: "Range",
    versions: {
      v1beta1: { spec: z.object({ from: z.int32().min(1).max(1_000), note: z.string().optional() }) },
      v1: {
        spec: z.object({ min: z.int32().min(1).max(2_000), max: z.int32().min(0).max(2_000) }),
        rules: [{ rule: "self.spec.min <= self.spec.max", message: "min is above max" }],
        storage: true,
      },
    },
    lossless,
    convert: {
      v1beta1: {
        to: ({ spec }) => ({ spec: { min: spec.from, max: spec.from + width } }),
        from: ({ spec }) => ({ spec: { from: Math.min(spec.min, 1_000) } }),
      },
    },
  });

describe("conversions", () => {
  it("are tried, with objects that a server would take", async () => {
    const proof = await conversions(range(5), { runs: 300 });
    expect(proof.faults).toEqual([]);
    expect(proof.objects).toBeGreaterThan(350);
  });

  it("that make what a rule forbids fail, with the smallest object", async () => {
    await expect(conversions(range(-1), { runs: 300 })).rejects.toThrow(
      /^Range v1beta1 → v1 makes what the other version does not take \(.*conversions\.test\.ts:\d+\)\n {2}\{"spec":\{"from":1\}\}\n {2}Invalid value: min is above max/,
    );
  });

  it("that lose something fail, unless that is what was asked for", async () => {
    await expect(conversions(range(5, false), { runs: 100 })).rejects.toThrow(
      "Range v1beta1 → v1 → v1beta1 is not the same when it comes back",
    );
    await expect(conversions(range(5, false), { runs: 100, allowLoss: true })).resolves.toMatchObject({
      kind: "Range",
    });
  });
});
