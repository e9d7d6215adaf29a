import { describe, expect, it } from "vitest";
import type { Condition, ConditionInput } from "./conditions.ts";
import type { ObjectRecord } from "./record.ts";
import { handlerStandings, type Standing, type StandingSurroundings, standingConditions } from "./standing.ts";

const standing = (state: Standing["state"], more: Partial<Standing> = {}): Standing => ({
  id: "build",
  state,
  reason: { done: "Reconciled", works: "Waiting", fails: "HandlerRetrying", failed: "HandlerFailed" }[state],
  message: "the bank is closed",
  ...more,
});
const condition = (type: string, status: "True" | "False", reason: string, message = ""): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
});

/** `Ready=False HandlerFailed`, `-Stalled`. */
function said(standings: readonly Standing[], around: Partial<StandingSurroundings> = {}): string[] {
  const { set, remove } = standingConditions(standings, {
    existing: undefined,
    said: undefined,
    keepsReady: false,
    generation: 1,
    worked: true,
    ...around,
  });
  const words = ({ type, status, reason }: ConditionInput) => `${type}=${status ? "True" : "False"} ${reason}`;
  return [...set.map(words), ...remove.map((type) => `-${type}`)];
}

describe("what an object says of its work", () => {
  it("is nothing while all is well and nobody asked for more", () => {
    expect(said([])).toEqual([]);
    expect(said([standing("done")])).toEqual([]);
  });

  it("is that it is stalled when something failed for good, and that it is reconciling while something is tried", () => {
    expect(said([standing("fails"), standing("failed")])).toEqual(["Stalled=True HandlerFailed"]);
    expect(said([standing("fails")])).toEqual(["Reconciling=True HandlerRetrying"]);
    expect(said([standing("works")])).toEqual(["Reconciling=True Waiting"]);
  });

  it("names who has failed", () => {
    const { set } = standingConditions([standing("failed")], {
      existing: undefined,
      said: undefined,
      keepsReady: false,
      generation: 1,
      worked: true,
    });
    expect(set[0]?.message).toBe("build: the bank is closed");
  });

  it("is said once, and taken back when it is over", () => {
    const existing = [condition("Stalled", "True", "HandlerFailed", "build: the bank is closed")];
    expect(said([standing("failed")], { existing })).toEqual([]);
    expect(said([standing("failed")], { existing, generation: 2 })).toEqual(["Stalled=True HandlerFailed"]);
    // A change that waits for its handlers, who wait themselves, costs nothing.
    expect(said([standing("failed")], { existing, generation: 2, worked: false })).toEqual([]);
    // Kinds without room for the generation.
    const pruned = existing.map(({ observedGeneration: _, ...rest }) => rest);
    expect(said([standing("failed")], { existing: pruned, generation: 2 })).toEqual([]);
    expect(said([], { existing })).toEqual(["-Stalled"]);
    expect(said([standing("works")], { existing })).toEqual(["Reconciling=True Waiting", "-Stalled"]);
  });

  it("leaves what somebody else says under the same types", () => {
    const existing = [condition("Stalled", "True", "MyOwnReason"), condition("Reconciling", "True", "MyOwnReason")];
    expect(said([], { existing })).toEqual([]);
  });

  it("has a Ready that is as true as the work, where the framework keeps it", () => {
    const around = { keepsReady: true };
    expect(said([standing("done")], around)).toEqual(["Ready=True Reconciled"]);
    expect(said([standing("failed"), standing("done")], around)).toEqual([
      "Stalled=True HandlerFailed",
      "Ready=False HandlerFailed",
    ]);
    expect(said([standing("works")], around)).toEqual(["Reconciling=True Waiting", "Ready=False Waiting"]);
    const existing = [condition("Ready", "True", "Reconciled", "the bank is closed")];
    expect(said([standing("done")], { ...around, existing })).toEqual([]);
    expect(said([standing("done")], { ...around, existing, generation: 2 })).toEqual(["Ready=True Reconciled"]);
  });

  it("does not let a Ready of the user's stand over work that has failed, and gives it back afterwards", () => {
    const existing = [condition("Ready", "True", "Published")];
    expect(said([standing("works")], { existing })).toEqual(["Reconciling=True Waiting"]);
    expect(said([standing("failed")], { existing })).toEqual([
      "Stalled=True HandlerFailed",
      "Ready=False HandlerFailed",
    ]);
    const ready = { type: "Ready", status: true, reason: "Published" };
    expect(said([standing("fails")], { said: { set: [ready], remove: [] } })).toEqual([
      "Reconciling=True HandlerRetrying",
      "Ready=False HandlerRetrying",
    ]);
    const taken = [condition("Ready", "False", "HandlerFailed")];
    expect(said([], { existing: taken })).toEqual(["Ready=True Recovered"]);
    expect(said([], { existing: [condition("Ready", "False", "NoBulb")] })).toEqual([]);
    expect(said([], { existing: taken, said: { set: [{ ...ready, status: false }], remove: [] } })).toEqual([]);
  });
});

describe("handlers of changes", () => {
  const started = "2026-01-01T00:00:00Z";
  const states = (record: ObjectRecord | undefined) =>
    handlerStandings(record, ["a", "b"]).map(({ id, state, message }) => `${id} ${state}: ${message}`);

  it("stand by what is remembered of them, those of an earlier change included", () => {
    expect(states(undefined)).toEqual([]);
    expect(states({ uid: "u1", handled: "x" })).toEqual([]);
    const open = { reason: "update", digest: "x" } as const;
    const runs = {
      a: { attempts: 1, started, message: "boom" },
      b: { attempts: 1, started, message: "not yet", waits: true as const },
    };
    expect(states({ uid: "u1", open, runs })).toEqual(["a fails: boom", "b works: not yet"]);
    const failed = { b: { reason: "create" as const, saw: "x", message: "never" } };
    expect(states({ uid: "u1", failed })).toEqual(["b failed: never"]);
    expect(
      states({ uid: "u1", open, runs: { a: { attempts: 1, started, outcome: "failed", message: "no" } } }),
    ).toEqual(["a failed: no"]);
  });

  it("that wait and would not be called any more say nothing; what has failed for good stays said", () => {
    const open = { reason: "update", digest: "x" } as const;
    const runs = {
      a: { attempts: 1, started, message: "boom" },
      b: { attempts: 1, started, outcome: "failed" as const, message: "no" },
    };
    const standings = handlerStandings({ uid: "u1", open, runs }, ["a", "b"], () => false);
    expect(standings.map(({ id, state }) => `${id} ${state}`)).toEqual(["b failed"]);
  });

  it("that are no longer declared say nothing", () => {
    expect(states({ uid: "u1", failed: { gone: { reason: "create", saw: "x", message: "never" } } })).toEqual([]);
  });

  it("say nothing of a deletion, which has words of its own", () => {
    const runs = { a: { attempts: 1, started, message: "boom" } };
    expect(states({ uid: "u1", open: { reason: "delete", digest: "x" }, runs })).toEqual([]);
  });
});
