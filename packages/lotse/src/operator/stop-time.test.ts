import type { Duration } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Operator } from "./operator.ts";
import { stopLimitOf } from "./stop-time.ts";

const withDaemon = (operator: Operator, grace?: Duration) => {
  operator.daemon("pods", { ...(grace !== undefined && { grace }) }, async function watchOver() {});
  return operator;
};

describe("the time that an operator has to stop", () => {
  it.each<[string, Operator, number]>([
    ["nothing", new Operator({ name: "op" }), 15_000],
    ["graceful", new Operator({ name: "op", graceful: "2m" }), 125_000],
    [
      "killAfter, whatever else",
      new Operator({ name: "op", graceful: "2m", settings: { process: { killAfter: "20s" } } }),
      20_000,
    ],
    [
      "the grace of daemons",
      withDaemon(new Operator({ name: "op", settings: { background: { grace: "40s" } } })),
      45_000,
    ],
    ["the grace of one daemon", withDaemon(new Operator({ name: "op" }), "1m"), 65_000],
    [
      "nobody's grace, without daemons",
      new Operator({ name: "op", settings: { background: { grace: "40s" } } }),
      15_000,
    ],
  ])("follows %s", (_what, operator, ms) => {
    expect(stopLimitOf(operator)).toBe(ms);
  });
});
