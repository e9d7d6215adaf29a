import { conversions, startHarness } from "@lotse/testing";
import { describe, expect, it } from "vitest";
import { Berth } from "./berth.ts";
import operator from "./operator.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("the versions of a berth", () => {
  it("convert into each other, and every object comes back as it was", async () => {
    expect((await conversions(Berth, { runs: 200 })).faults).toEqual([]);
  });
});
