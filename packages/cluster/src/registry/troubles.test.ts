import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { StatusError } from "./errors.ts";
import { Troubles } from "./troubles.ts";

function start() {
  const clock = new VirtualClock();
  const told: string[] = [];
  return { clock, told, troubles: new Troubles({ clock, tell: (text) => told.push(text) }) };
}

const refusal = (code: number) => new StatusError({ code, message: `refused with ${code}` });

describe("troubles", () => {
  it("of the same work are told once a minute, those of other work at once", async () => {
    const { clock, told, troubles } = start();
    troubles.report("a", refusal(403));
    troubles.report("a", refusal(500));
    troubles.report("b", refusal(403));
    expect(told).toEqual(["a: refused with 403", "b: refused with 403"]);
    await clock.advance(59_999);
    troubles.report("a", refusal(500));
    expect(told).toHaveLength(2);
    await clock.advance(1);
    troubles.report("a", refusal(500));
    expect(told[2]).toBe("a: refused with 500");
  });

  it("are told as text that no terminal obeys, with the way to it where it may be a mistake of this program", () => {
    const { told, troubles } = start();
    troubles.report("a\x1b[2J", refusal(403));
    troubles.report("b", new TypeError("no\x1b[1A"));
    expect(told[0]).toBe("a\\x1b[2J: refused with 403");
    expect(told[1]).toMatch(/^b: TypeError: no\\x1b\[1A\n {4}at /);
  });

  it("that are only a race are none", () => {
    const { told, troubles } = start();
    for (const code of [404, 409, 422]) troubles.reportUnlessRace(`work ${code}`, refusal(code));
    expect(told).toEqual(["work 422: refused with 422"]);
  });

  it("do not grow without bound, and end with the cluster", () => {
    const { told, troubles } = start();
    for (let at = 0; at < 5_000; at++) troubles.report(`work ${at}`, "no");
    expect(troubles.remembered).toBe(1_024);
    troubles.stop();
    troubles.report("late", "no");
    expect(told).toHaveLength(5_000);
  });
});
