import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChangeHandler } from "../declare/index.ts";
import { type Cycle, type Decision, decide, keepsBase } from "./decide.ts";
import { digestOf, type Essence, essenceOf } from "./essence.ts";
import { type ObjectRecord, packEssence, unpackEssence } from "./record.ts";
import { type Attempt, type Outcome, settle } from "./settle.ts";
import { changeHandler, thing } from "./test-builders.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const A = { spec: { size: 1 } };
const B = { spec: { size: 2 } };
const C = { spec: { size: 3 } };
const at = (essence: Essence) => ({ essence, digest: digestOf(essence) });

const create = changeHandler("create", ["create"]);
const update = changeHandler("update", ["update"]);

function decided(
  cycle: Cycle,
  current: Essence,
  matching: readonly ChangeHandler[] = [create, update, ...cycle.selected],
) {
  return { finalizer: "keep" as const, cycle, due: cycle.selected, nextDue: undefined, matching, current: at(current) };
}

function attemptOf(handler: ChangeHandler, outcome: Outcome, endedAt = NOW): Attempt {
  return { handler, outcome, startedAt: NOW, endedAt };
}

const done: Outcome = { type: "done", result: undefined };
const temporary: Outcome = { type: "temporary", message: "not yet", delayMs: 5_000 };

describe("settling a turn", () => {
  it("leaves digest and base alone when a cycle is finished", () => {
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create], runs: {} };
    const result = settle(
      "u1",
      decided(cycle, B),
      [attemptOf(create, done)],
      keepsBase([create, update]),
      undefined,
      () => 0,
    );
    expect(result.record).toEqual({ uid: "u1", handled: digestOf(B), base: packEssence(B) });
    expect(result).toMatchObject({ closed: true, nextDue: undefined });
  });

  it("leaves a base as it is that says the same in another form", () => {
    const cycle: Cycle = { reason: "resume", opened: at(B), old: B, selected: [create], runs: {} };
    const before: ObjectRecord = { uid: "u1", handled: digestOf(B), base: "z as another version has packed it" };
    const result = settle("u1", decided(cycle, B), [attemptOf(create, done)], true, before, () => 0);
    expect(result.record).toEqual(before);
  });

  it("keeps no base for kinds whose handlers cannot ask for it", () => {
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create], runs: {} };
    const result = settle("u1", decided(cycle, B), [attemptOf(create, done)], keepsBase([create]), undefined, () => 0);
    expect(result.record).toEqual({ uid: "u1", handled: digestOf(B) });
  });

  it("writes a retry down with its deadline, its attempts and its error", () => {
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create], runs: {} };
    const result = settle(
      "u1",
      decided(cycle, B),
      [attemptOf(create, temporary)],
      keepsBase([create]),
      undefined,
      () => 0,
    );
    expect(result.record?.open).toEqual({ reason: "create", digest: digestOf(B) });
    expect(result.record?.runs?.create).toMatchObject({
      attempts: 1,
      message: "not yet",
      due: new Date(NOW + 5_000).toISOString(),
    });
    expect(result.nextDue).toBe(NOW + 5_000);
  });

  it("keeps the finished handlers of an unfinished cycle finished", () => {
    const other = changeHandler("other", ["create"]);
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create, other], runs: {} };
    const attempts = [attemptOf(create, done), attemptOf(other, temporary)];
    const { record } = settle("u1", decided(cycle, B), attempts, keepsBase([create, other]), undefined, () => 0);
    const next = decide({
      body: thing({ size: 2 }),
      essence: essenceOf(thing({ size: 2 })),
      record,
      unreadable: false,
      firstSight: false,
      handlers: [create, other],
      finalizer: "f/f",
      now: NOW + 5_000,
    });
    expect(next.due.map(({ id }) => id)).toEqual(["other"]);
  });

  it("opens the rest of the way as an update when the object moved on meanwhile", () => {
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create], runs: {} };
    const result = settle(
      "u1",
      decided(cycle, C),
      [attemptOf(create, done)],
      keepsBase([create, update]),
      undefined,
      () => 0,
    );
    expect(result.record?.handled).toBe(digestOf(B));
    expect(unpackEssence(result.record?.base)).toEqual(B);
    expect(result.record?.open).toMatchObject({ reason: "update", digest: digestOf(C) });
    expect(result.nextDue).toBe(0);
  });

  it("does not call a handler again for a state that it has seen", () => {
    const both = changeHandler("both", ["create", "update"]);
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [both], runs: {} };
    const result = settle(
      "u1",
      decided(cycle, C, [both]),
      [attemptOf(both, done)],
      keepsBase([both]),
      undefined,
      () => 0,
    );
    expect(result.record).toEqual({ uid: "u1", handled: digestOf(C), base: packEssence(C) });
    expect(result.nextDue).toBeUndefined();
  });

  it("calls a handler again that saw a state which somebody has taken back since", () => {
    const both = changeHandler("both", ["create", "update"]);
    const runs = {
      both: { attempts: 1, started: new Date(NOW).toISOString(), outcome: "done" as const, saw: digestOf(C) },
    };
    const cycle: Cycle = { reason: "create", opened: at(B), old: undefined, selected: [create, both], runs };
    const result = settle("u1", decided(cycle, B, [create, both]), [attemptOf(create, done)], true, undefined, () => 0);
    expect(result.record?.open).toMatchObject({ reason: "update", digest: digestOf(B), only: ["both"] });
  });

  it("writes nothing new when a resume leaves everything as it was", () => {
    const resume = changeHandler("resume", ["resume"]);
    const previous: ObjectRecord = { uid: "u1", handled: digestOf(A), base: `j${JSON.stringify(A)}` };
    const cycle: Cycle = { reason: "resume", opened: at(A), old: A, selected: [resume], runs: {} };
    const handlers = [resume, update];
    expect(
      settle("u1", decided(cycle, A), [attemptOf(resume, done)], keepsBase(handlers), previous, () => 0).record,
    ).toEqual(previous);
  });

  it("releases the object when its deletion is handled, also by giving up", () => {
    const remove = changeHandler("remove", ["delete"]);
    const cycle: Cycle = { reason: "delete", opened: at(A), old: A, selected: [remove], runs: {} };
    const failed: Outcome = { type: "failed", message: "no" };
    for (const outcome of [done, failed]) {
      expect(
        settle("u1", decided(cycle, A), [attemptOf(remove, outcome)], keepsBase([remove]), undefined, () => 0).release,
      ).toBe(true);
    }
  });

  it("remembers who failed for good, until the object is another one", () => {
    const cycle: Cycle = { reason: "create", opened: at(A), old: undefined, selected: [create, update], runs: {} };
    const outcome: Outcome = { type: "failed", message: "never" };
    const { record } = settle(
      "u1",
      decided(cycle, A),
      [attemptOf(create, outcome), attemptOf(update, done)],
      false,
      undefined,
      () => 0,
    );
    expect(record).toEqual({
      uid: "u1",
      handled: digestOf(A),
      failed: { create: { reason: "create", saw: digestOf(A), message: "never" } },
    });
    const look = (essence: Essence, retryNow = false) => {
      const body = thing(essence.spec as Record<string, unknown>);
      const situation = { body, essence: essenceOf(body), record, unreadable: false, firstSight: false, retryNow };
      return decide({ ...situation, handlers: [create], finalizer: "f", now: NOW });
    };
    expect(look(A).cycle).toBeUndefined();
    const changed = look(B);
    expect(changed.cycle).toMatchObject({ reason: "update", owed: { create: "create" } });
    expect(changed.due.map(({ id }) => id)).toEqual(["create"]);
    expect(look(A, true).due.map(({ id }) => id)).toEqual(["create"]);
    const healed = settle("u1", changed as never, [attemptOf(create, done)], false, record, () => 0);
    expect(healed.record).toEqual({ uid: "u1", handled: digestOf(B) });
  });

  it("tries a handler again at once that failed with a state which is no more", () => {
    const cycle: Cycle = { reason: "create", opened: at(A), old: undefined, selected: [create], runs: {} };
    const run = { attempts: 1, started: new Date(NOW).toISOString(), outcome: "failed" as const, saw: digestOf(A) };
    const result = settle(
      "u1",
      decided({ ...cycle, runs: { create: run } }, B, [create]),
      [],
      false,
      undefined,
      () => 0,
    );
    expect(result).toMatchObject({ closed: true, nextDue: 0 });
  });

  it("does not count an attempt that was aborted", () => {
    const cycle: Cycle = { reason: "create", opened: at(A), old: undefined, selected: [create], runs: {} };
    const result = settle("u1", decided(cycle, A), [attemptOf(create, { type: "aborted" })], false, undefined, () => 0);
    expect(result).toMatchObject({ record: undefined, closed: false });
  });
});

describe("limits", () => {
  const settleOne = (handler: ChangeHandler, attempts: number, outcome: Outcome, elapsedMs = 0) => {
    const runs = attempts > 0 ? { [handler.id]: { attempts, started: new Date(NOW - elapsedMs).toISOString() } } : {};
    const cycle: Cycle = { reason: "create", opened: at(A), old: undefined, selected: [handler], runs };
    return settle("u1", decided(cycle, A), [attemptOf(handler, outcome)], keepsBase([handler]), undefined, () => 0.5);
  };
  const unknown: Outcome = { type: "temporary", message: "boom", delayMs: undefined };

  it("waits exponentially longer, one second at first and five minutes at most", () => {
    const delays = [0, 1, 2, 3, 20].map((before) => (settleOne(create, before, unknown).nextDue ?? 0) - NOW);
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 300_000]);
  });

  it("gives up after the declared number of attempts", () => {
    const handler = changeHandler("three", ["create"], { retries: 3 });
    expect(settleOne(handler, 1, unknown).closed).toBe(false);
    const last = settleOne(handler, 2, unknown);
    expect(last.closed).toBe(true);
    expect(last.failures).toMatchObject([{ attempts: 3, retryAt: undefined, limit: "retries" }]);
  });

  it("does not wait for an attempt that the timeout would not allow any more", () => {
    const handler = changeHandler("short", ["create"], { timeout: "10s", backoff: "4s" });
    expect(settleOne(handler, 1, unknown, 5_000).closed).toBe(false);
    expect(settleOne(handler, 1, unknown, 7_000).failures).toMatchObject([{ limit: "timeout" }]);
  });
});

// A model without I/O: one object, its record, and the two pure functions. Steps: a user changes the object, time
// passes, a turn is taken whose handlers succeed or fail, the process dies during a turn (before its write) or restarts.
const OUTCOMES: Partial<Record<Outcome["type"], Outcome>> = {
  temporary: { type: "temporary", message: "no", delayMs: 1_000 },
  failed: { type: "failed", message: "never" },
};

describe("whatever happens to an object", () => {
  const ends = fc.array(fc.constantFrom<Outcome["type"]>("done", "done", "temporary", "failed"), { maxLength: 5 });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("change" as const), size: fc.integer({ min: 0, max: 4 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant("turn" as const), ends }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("crash" as const), ends }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  );

  it("every update handler has seen the last state once all is quiet, and a creation succeeds once", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const handlers = [
          changeHandler("create", ["create"]),
          changeHandler("update", ["update"]),
          changeHandler("both", ["create", "update"]),
          changeHandler("calm", ["update"], { debounce: "2s" }),
          changeHandler("resume", ["resume"]),
        ];
        let spec: Record<string, unknown> = { size: 0 };
        let record: ObjectRecord | undefined;
        let firstSight = true;
        let now = NOW;
        let changedAt = NOW;
        const saw = new Map<string, string>();
        let creations = 0;
        let crashes = 0;

        const turn = (ends: readonly Outcome["type"][], crash: boolean): boolean => {
          const body = thing(spec);
          const decision = decide({
            body,
            essence: essenceOf(body),
            record,
            unreadable: false,
            firstSight,
            handlers,
            finalizer: "f/f",
            now,
            quietFor: () => now - changedAt,
          });
          if (!decision.cycle) {
            firstSight = false;
            return false;
          }
          const attempts = decision.due.map((handler, index): Attempt => {
            const outcome = OUTCOMES[ends[index] ?? "done"] ?? done;
            // What failed for good is over for the state that it failed with.
            if (outcome.type !== "temporary") saw.set(handler.id, decision.current.digest);
            if (outcome.type === "done" && handler.id === "create") creations++;
            return { handler, outcome, startedAt: now, endedAt: now };
          });
          if (crash) {
            crashes++;
            firstSight = true;
            return true;
          }
          const finished = decision.cycle.selected.every(({ id }) => decision.cycle?.runs[id]?.outcome);
          if (attempts.length === 0 && !finished) return false;
          const settled = settle(
            "u1",
            decision as Decision & { cycle: Cycle },
            attempts,
            keepsBase(handlers),
            record,
            () => 0.5,
          );
          const changed = JSON.stringify(settled.record) !== JSON.stringify(record);
          record = settled.record ?? record;
          if (settled.closed) firstSight = false;
          return changed || settled.nextDue === 0;
        };

        for (const one of steps) {
          if (one.do === "change") {
            if (spec.size !== one.size) changedAt = now;
            spec = { size: one.size };
          } else if (one.do === "turn") turn(one.ends, false);
          else if (one.do === "crash") turn(one.ends, true);
          else firstSight = true;
          now += 1_500;
        }
        let turns = 0;
        for (; turn([], false) && turns < 20; turns++) now += 1_500;
        now += 10_000;
        while (turn([], false) && turns < 20) turns++;
        const givenUp = record?.failed ?? {};

        const digest = digestOf(essenceOf(thing(spec)));
        expect(turns, "it becomes quiet").toBeLessThan(20);
        expect(record?.handled).toBe(digest);
        expect(record?.open).toBeUndefined();
        expect(record?.later).toBeUndefined();
        expect(unpackEssence(record?.base)).toEqual(essenceOf(thing(spec)));
        // A crash between a handler's success and its record can hide that it saw a state that is taken back before the
        // restart; without one, whatever an update handler saw last is what is there.
        if (crashes === 0) {
          expect(saw.get("both")).toBe(digest);
          if (saw.has("update")) expect(saw.get("update")).toBe(digest);
          if (saw.has("calm")) expect(saw.get("calm")).toBe(digest);
        }
        // What has been given up was given up for what is there now; nothing else is.
        for (const failed of Object.values(givenUp)) expect(failed.saw).toBe(digest);
        expect(creations).toBeGreaterThanOrEqual("create" in givenUp ? 0 : 1);
        expect(creations).toBeLessThanOrEqual(1 + crashes);
        // A second start of a quiet operator writes nothing, unless it has a resume to make good.
        if ("resume" in givenUp) return;
        firstSight = true;
        const before = JSON.stringify(record);
        turn([], false);
        expect(JSON.stringify(record)).toBe(before);
      }),
      // A part in `npm test`, all of them in `npm run test:full`.
      { numRuns: process.env.LOTSE_FULL === "1" ? 1_000 : 200 },
    );
  });
});
