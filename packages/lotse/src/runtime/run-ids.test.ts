import { describe, expect, it } from "vitest";
import { runIds } from "./run-ids.ts";

describe("the ids of runs", () => {
  it("are a word of the operator and a number that goes up", () => {
    const next = runIds(() => 0.5);
    expect([next(), next(), next()]).toEqual(["i0000-1", "i0000-2", "i0000-3"]);
  });

  it("have a word of the same length whatever chance says", () => {
    expect([0, 1.5 / 36 ** 5, 0.999_999_999_99].map((chance) => runIds(() => chance)())).toEqual([
      "00000-1",
      "00001-1",
      "zzzzz-1",
    ]);
  });

  it("ask for randomness once, however many runs there are", () => {
    let asked = 0;
    const next = runIds(() => {
      asked++;
      return 0.1;
    });
    const ids = new Set(Array.from({ length: 10_000 }, next));
    expect(asked).toBe(1);
    expect(ids.size).toBe(10_000);
  });
});
