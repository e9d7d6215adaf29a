import { describe, expect, it } from "vitest";
import { afterRestore, isWar, type RestoreState, restoreAt } from "./restore.ts";

describe("a record that is wiped", () => {
  it("is put back three times at once, and then more rarely each time, ten minutes at the most", () => {
    let state: RestoreState | undefined;
    const waits: number[] = [];
    for (let now = 0, round = 0; round < 12; round++) {
      const at = Math.max(now, restoreAt(state));
      waits.push((at - now) / 1_000);
      state = afterRestore(state, at);
      now = at;
    }
    expect(waits).toEqual([0, 0, 0, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
  });

  it("is said once", () => {
    let state: RestoreState | undefined;
    const said: boolean[] = [];
    for (let round = 0; round < 5; round++) {
      state = afterRestore(state, 0);
      said.push(isWar(state));
    }
    expect(said).toEqual([false, false, true, false, false]);
  });

  it("is an accident again when it has not happened for long", () => {
    const once = afterRestore(undefined, 0);
    expect(afterRestore(once, 1_200_001).times).toBe(1);
  });
});
