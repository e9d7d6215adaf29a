import { describe, expect, it } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { type Patience, RequestGate, type Turn } from "./gate.ts";
import { AdaptiveLimit } from "./limit.ts";

function setUp() {
  const clock = new VirtualClock();
  const gate = new RequestGate(clock, new AdaptiveLimit());
  const patience = (o: Partial<Patience> = {}): Patience => ({
    ms: 30_000,
    expired: () => new Error("too late"),
    ...o,
  });
  const enter = (o?: Partial<Patience>) => gate.enter("GET pods", patience(o));
  const fill = () => Array.from({ length: gate.state.limit }, () => enter() as Turn);
  return { clock, gate, enter, fill };
}

describe("the gate of requests", () => {
  it("lets requests pass at once while there is room", () => {
    const { gate, fill } = setUp();
    expect(fill().every((turn) => !(turn instanceof Promise))).toBe(true);
    expect(gate.state).toEqual({ limit: 32, inFlight: 32, waiting: 0 });
  });

  it("lets those who wait pass in the order in which they came", async () => {
    const { clock, enter, fill } = setUp();
    const [first, second] = fill();
    const passed: string[] = [];
    const waiting = ["a", "b", "c"].map(async (name) => {
      const turn = await enter();
      passed.push(name);
      return turn;
    });
    first?.end(undefined);
    await clock.advance(0);
    expect(passed).toEqual(["a"]);
    second?.end(undefined);
    (await waiting[0])?.end(undefined);
    await clock.advance(0);
    expect(passed).toEqual(["a", "b", "c"]);
    expect(clock.pending, "no timer is left behind").toBe(0);
  });

  it("turns away who is aborted or has waited too long, and keeps their places for others", async () => {
    const { clock, gate, enter, fill } = setUp();
    const [first] = fill();
    const stop = new AbortController();
    const aborted = Promise.resolve(enter({ signal: stop.signal }));
    const late = Promise.resolve(enter({ ms: 1_000 }));
    const patient = Promise.resolve(enter());
    const failures = Promise.all([aborted, late].map((each) => each.catch((error: Error) => error.message)));
    stop.abort(new Error("enough"));
    await clock.advance(1_000);
    expect(await failures).toEqual(["enough", "too late"]);
    expect(gate.state.waiting).toBe(1);
    first?.end(1);
    await patient;
    expect(gate.state).toMatchObject({ inFlight: 32, waiting: 0 });
  });

  it("turns each away at its own time, whoever came first", async () => {
    const { clock, enter, fill } = setUp();
    fill();
    const over: number[] = [];
    for (const ms of [3_000, 1_000, 2_000]) Promise.resolve(enter({ ms })).catch(() => over.push(ms));
    await clock.advance(999);
    expect(over).toEqual([]);
    await clock.advance(1);
    expect(over).toEqual([1_000]);
    await clock.advance(1_000);
    expect(over).toEqual([1_000, 2_000]);
    await clock.advance(1_000);
    expect(over).toEqual([1_000, 2_000, 3_000]);
    expect(clock.pending).toBe(0);
  });

  it("does not even queue who was aborted before", async () => {
    const { gate, enter, fill } = setUp();
    fill();
    await expect(Promise.resolve(enter({ signal: AbortSignal.abort(new Error("enough")) }))).rejects.toThrow("enough");
    expect(gate.state.waiting).toBe(0);
  });

  it("lets nobody in while more are in flight than a lowered limit allows", async () => {
    const { clock, gate, enter, fill } = setUp();
    const turns = fill();
    let entered = false;
    const waiting = Promise.resolve(enter()).then(() => {
      entered = true;
    });
    turns[0]?.end(undefined, true);
    for (const turn of turns.slice(1, 16)) turn.end(undefined);
    await clock.advance(0);
    expect(gate.state).toMatchObject({ limit: 16, inFlight: 16 });
    expect(entered).toBe(false);
    turns[16]?.end(undefined);
    await waiting;
  });

  it("turns everybody away when it is closed", async () => {
    const { gate, enter, fill } = setUp();
    fill();
    const waiting = Promise.resolve(enter());
    gate.close(new Error("closed"));
    await expect(waiting).rejects.toThrow("closed");
    await expect(Promise.resolve(enter())).rejects.toThrow("closed");
  });

  it("handles a long queue without looking at it again and again", async () => {
    const { gate, enter, fill } = setUp();
    const turns = fill();
    let passed = 0;
    const all = Array.from({ length: 20_000 }, async () => {
      const turn = await enter();
      passed++;
      turn.end(undefined);
    });
    for (const turn of turns) turn.end(undefined);
    await Promise.all(all);
    expect(passed).toBe(20_000);
    expect(gate.state).toMatchObject({ inFlight: 0, waiting: 0 });
  });
});
