import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "../report/index.ts";
import { type EndingParts, endOperator, planEnding } from "./ending.ts";

const never = new Promise<never>(() => {});
const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "one", uid: "u" };

/** An operator that was asked to stop, with fifteen seconds for it. */
function ending(parts: Partial<EndingParts> = {}) {
  const clock = new VirtualClock();
  const lines: LogRecord[] = [];
  const cuts: number[] = [];
  const begun: number[] = [];
  let ended: number | undefined;
  const done = endOperator({
    clock,
    logger: new Logger((line) => void lines.push(line), clock.now.bind(clock)),
    since: 0,
    plan: planEnding(15_000),
    enders: [],
    streams: undefined,
    events: { stop: async () => {} },
    cleanup: async () => void begun.push(clock.monotonic()),
    cut: () => void cuts.push(clock.monotonic()),
    ...parts,
  }).then(() => {
    ended = clock.monotonic();
  });
  done.catch(() => {});
  return { clock, lines, cuts, begun, done, ended: () => ended };
}

describe("the end of an operator", () => {
  it.each([
    [15_000, { cutMs: 12_000, cleanupMs: 14_000, abandonMs: 14_500 }],
    [600_000, { cutMs: 597_000, cleanupMs: 599_000, abandonMs: 599_500 }],
    [1_000, { cutMs: 600, cleanupMs: 800, abandonMs: 900 }],
  ])("within %i ms has a time for everybody", (killAfterMs, plan) => {
    expect(planEnding(killAfterMs)).toEqual(plan);
  });

  it("comes at once when nobody has anything to do", async () => {
    const { clock, ended, lines } = ending();
    await clock.advance(0);
    expect([ended(), lines, clock.pending]).toEqual([0, [], 0]);
  });

  it("does not wait for a server that hangs: requests are cut, and what is lost is said in one line", async () => {
    let noticed = () => {};
    const close = new Promise<void>((resolve) => {
      noticed = resolve;
    });
    const unwritten = () => [
      { object, handlers: ["build", "audit"] },
      { object: { ...object, kind: "Node", namespace: undefined, name: "n1" }, handlers: [] },
    ];
    const { clock, cuts, begun, ended, lines } = ending({
      enders: [{ close: () => close, unwritten }],
      cut: () => {
        cuts.push(clock.monotonic());
        noticed();
      },
    });
    await clock.advance(11_999);
    expect([cuts, begun]).toEqual([[], []]);
    await clock.advance(1);
    expect([cuts, begun, ended()]).toEqual([[12_000], [12_000], 12_000]);
    expect(lines.map(({ level, message, fields }) => [level, message, fields.objects])).toEqual([
      [
        "warn",
        "what handlers have done could not be written down before the end, they will run again",
        "ConfigMap default/one (build, audit); Node n1",
      ],
    ]);
  });

  it("says what could not be written also when the server refused in time", async () => {
    const { clock, ended, lines } = ending({
      enders: [{ close: async () => {}, unwritten: () => [{ object, handlers: ["build"] }] }],
    });
    await clock.advance(0);
    expect(ended()).toBe(0);
    expect(lines.map(({ fields }) => fields.objects)).toEqual(["ConfigMap default/one (build)"]);
  });

  it("names twenty objects at most", async () => {
    const unwritten = () => Array.from({ length: 25 }, () => ({ object, handlers: ["build"] }));
    const { clock, lines } = ending({ enders: [{ close: async () => {}, unwritten }] });
    await clock.advance(0);
    expect(String(lines[0]?.fields.objects).split("; ")).toHaveLength(21);
    expect(lines[0]?.fields.objects).toMatch(/; and 5 more$/);
  });

  it("tells cleanup handlers when their time is over, and then goes without them", async () => {
    let told = 0;
    const { clock, ended, lines } = ending({
      cleanup: (signal) => {
        signal.addEventListener("abort", () => {
          told = clock.monotonic();
        });
        return never;
      },
    });
    await clock.advance(15_000);
    expect([told, ended()]).toEqual([14_000, 14_500]);
    expect(lines.map(({ message }) => message)).toEqual(["cleanup handlers did not end in time, they are abandoned"]);
    expect(clock.pending).toBe(0);
  });

  it("gives Events what is left of the time", async () => {
    const given: unknown[] = [];
    const events = { stop: async (o?: { within?: unknown }) => void given.push(o?.within) };
    const { clock } = ending({ events, since: -10_000 });
    await clock.advance(0);
    expect(given).toEqual([4_000]);
  });

  it("does not come while somebody runs on: whoever waits for it has a limit of his own", async () => {
    const { clock, ended, begun } = ending({ enders: [{ close: () => never, unwritten: () => [] }] });
    await clock.advance(60_000);
    // Cleanup handlers have run all the same.
    expect([ended(), begun]).toEqual([undefined, [12_250]]);
  });
});
