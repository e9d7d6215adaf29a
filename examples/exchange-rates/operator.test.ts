import { startHarness } from "@lotse/testing";
import { describe, expect, it } from "vitest";
import operator, { ExchangeRate, rates } from "./operator.ts";
import { scenario } from "./scenario.ts";

scenario((clock) => startHarness(operator, clock && { clock }));

describe("the operator's own rate service", () => {
  it("is started when there is no other, and stopped with the operator", async () => {
    await using harness = await startHarness(operator);
    await harness.apply(new ExchangeRate({ metadata: { name: "money" }, spec: { currency: "GBP" } }));
    await harness.until(ExchangeRate, "money", { status: { rate: 0.79 } });
    const url = await rates.open();
    await harness.stopOperator();
    await expect(fetch(`${url}/rates/GBP`)).rejects.toThrow();
  });
});
