import { identityKeyOf, nameIn, objectKeyOf, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { RunningAttempts } from "./running-attempts.ts";

const keyOf = (name: string) => identityKeyOf(objectKeyOf("ns", name), "u");

function watched() {
  const clock = new VirtualClock();
  const told: string[] = [];
  const attempts = new RunningAttempts({
    clock,
    slowMs: 60_000,
    onSlow: ({ key, handler }, forMs) => told.push(`${handler.id} ${nameIn(key)} ${forMs / 1_000}`),
  });
  return {
    clock,
    told,
    begin: (name: string) => attempts.begin(keyOf(name), { id: "build", sourceLocation: undefined }, "k3x9f-1"),
    attempts,
  };
}

describe("attempts that are under way", () => {
  it("are told of when they do not end, and again when twice the time has passed", async () => {
    const { clock, told, begin } = watched();
    begin("one");
    await clock.advance(59_999);
    expect(told).toEqual([]);
    await clock.advance(300_000);
    expect(told).toEqual(["build one 60", "build one 120", "build one 240"]);
  });

  it("are not told of when they have ended, and leave no timer behind", async () => {
    const { clock, told, begin, attempts } = watched();
    attempts.end(begin("one"));
    await clock.advance(60_000);
    expect(told).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("share one timer, and each is told of in its own time", async () => {
    const { clock, told, begin } = watched();
    begin("one");
    await clock.advance(30_000);
    begin("two");
    expect(clock.pending).toBe(1);
    await clock.advance(60_000);
    expect(told).toEqual(["build one 60", "build two 60"]);
  });

  it("can be asked for, and are forgotten at the end", async () => {
    const { clock, told, begin, attempts } = watched();
    begin("one");
    expect(attempts.of(keyOf("one"))).toMatchObject([{ handler: { id: "build" }, since: 0 }]);
    expect(attempts.of(keyOf("two"))).toEqual([]);
    attempts.close();
    await clock.advance(3_600_000);
    expect([told, clock.pending, attempts.of(keyOf("one"))]).toEqual([[], 0, []]);
  });
});
