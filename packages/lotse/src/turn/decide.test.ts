import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import type { ChangeHandler } from "../declare/index.ts";
import { type Decision, decide, type Situation } from "./decide.ts";
import { digestOf, essenceOf } from "./essence.ts";
import { type ObjectRecord, packEssence } from "./record.ts";
import { changeHandler, thing } from "./test-builders.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const FINALIZER = "op.lotse.dev/finalizer";

const create = changeHandler("create", ["create"]);
const update = changeHandler("update", ["update"]);
const resume = changeHandler("resume", ["resume"]);
const remove = changeHandler("remove", ["delete"]);
const ALL = [create, update, resume, remove];

function situation(changes: Partial<Situation> & { body: KubeBody }): Situation {
  return {
    essence: essenceOf(changes.body),
    record: undefined,
    unreadable: false,
    firstSight: false,
    handlers: ALL,
    finalizer: FINALIZER,
    now: NOW,
    ...changes,
  };
}

function handledRecord(body: KubeBody, more: Partial<ObjectRecord> = {}): ObjectRecord {
  const essence = essenceOf(body);
  return { uid: "u1", handled: digestOf(essence), base: packEssence(essence), ...more };
}

const held = thing({ size: 1 }, { finalizers: ["foreign/x", FINALIZER] });
const deleting = thing({ size: 1 }, { finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" });
const moved = thing({ size: 2 }, { finalizers: [FINALIZER] });

function summary({ cycle, due, finalizer }: Decision) {
  return { finalizer, reason: cycle?.reason, due: due.map(({ id }) => id) };
}

describe("the cause, first match wins", () => {
  it.each<[string, Situation, ReturnType<typeof summary>]>([
    [
      "a deletion mark with our finalizer and unfinished delete handlers is a deletion",
      situation({ body: deleting, record: handledRecord(deleting) }),
      { finalizer: "keep", reason: "delete", due: ["remove"] },
    ],
    [
      "a deletion mark with finished delete handlers releases the object",
      situation({
        body: deleting,
        record: handledRecord(deleting, {
          open: { reason: "delete", digest: "x" },
          runs: { remove: { attempts: 1, started: "2026-01-01T00:00:00Z", outcome: "done" } },
        }),
      }),
      { finalizer: "drop", reason: undefined, due: [] },
    ],
    [
      "a deletion mark without our finalizer is nobody's business",
      situation({ body: thing({}, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["foreign/x"] }) }),
      { finalizer: "keep", reason: undefined, due: [] },
    ],
    [
      "a deletion mark with our finalizer and no delete handler left releases the object",
      situation({ body: deleting, handlers: [create] }),
      { finalizer: "drop", reason: undefined, due: [] },
    ],
    [
      "an object that no handler matches is left alone",
      situation({ body: thing(), handlers: [changeHandler("labelled", ["create"], { labels: { a: "b" } })] }),
      { finalizer: "keep", reason: undefined, due: [] },
    ],
    [
      "a mandatory delete handler puts the finalizer on before anything else happens",
      situation({ body: thing(), firstSight: true }),
      { finalizer: "add", reason: undefined, due: [] },
    ],
    [
      "no record is a creation, never mixed with resume",
      situation({ body: held, firstSight: true }),
      {
        finalizer: "keep",
        reason: "create",
        due: ["create"],
      },
    ],
    [
      "an open cycle goes on",
      situation({
        body: held,
        record: { uid: "u1", open: { reason: "create", digest: digestOf(essenceOf(held)) } },
      }),
      { finalizer: "keep", reason: "create", due: ["create"] },
    ],
    [
      "nothing changed and the object is seen for the first time: a resume",
      situation({ body: held, record: handledRecord(held), firstSight: true }),
      { finalizer: "keep", reason: "resume", due: ["resume"] },
    ],
    [
      "something changed where nobody asks for changes, and the object is seen for the first time: a resume",
      situation({
        body: moved,
        record: { uid: "u1", handled: "before" },
        firstSight: true,
        handlers: [create, resume, remove],
      }),
      { finalizer: "keep", reason: "resume", due: ["resume"] },
    ],
    [
      "nothing changed: nothing",
      situation({ body: held, record: handledRecord(held) }),
      {
        finalizer: "keep",
        reason: undefined,
        due: [],
      },
    ],
    [
      "back to what was handled, from where no handler matched: an update",
      situation({ body: held, record: handledRecord(held), unmatchedEssence: { spec: { size: 9 } } }),
      { finalizer: "keep", reason: "update", due: ["update"] },
    ],
    [
      "something changed: an update",
      situation({ body: moved, record: handledRecord(held) }),
      {
        finalizer: "keep",
        reason: "update",
        due: ["update"],
      },
    ],
    [
      "something changed while the operator was down: an update with resume handlers",
      situation({ body: moved, record: handledRecord(held), firstSight: true }),
      { finalizer: "keep", reason: "update", due: ["update", "resume"] },
    ],
    [
      "a record that cannot be read counts as resumed, never as created",
      situation({ body: held, unreadable: true, firstSight: true }),
      { finalizer: "keep", reason: "resume", due: ["resume"] },
    ],
    [
      "a finalizer that is no longer needed is taken off a live object",
      situation({ body: held, record: handledRecord(held), handlers: [create, update] }),
      { finalizer: "drop", reason: undefined, due: [] },
    ],
  ])("%s", (_name, given, expected) => {
    expect(summary(decide(given))).toEqual(expected);
  });

  it("needs no finalizer for optional delete handlers", () => {
    const optional = changeHandler("remove", ["delete"], { optional: true });
    expect(decide(situation({ body: thing(), handlers: [optional] })).finalizer).toBe("keep");
  });

  it("needs no record when there are only delete handlers", () => {
    expect(decide(situation({ body: held, handlers: [remove] })).cycle).toBeUndefined();
  });

  it("mixes resume handlers into a deletion only when they ask for it", () => {
    const handlers: ChangeHandler[] = [remove, resume, changeHandler("also", ["resume"], { deleted: true })];
    const decision = decide(situation({ body: deleting, handlers, firstSight: true }));
    expect(decision.due.map(({ id }) => id)).toEqual(["remove", "also"]);
  });

  it("gives an update what was there before, from the record alone", () => {
    expect(decide(situation({ body: moved, record: handledRecord(held) })).cycle?.old).toEqual({ spec: { size: 1 } });
  });

  it("does not run a handler before its deadline, and says when that is", () => {
    const due = new Date(NOW + 5_000).toISOString();
    const record: ObjectRecord = {
      uid: "u1",
      open: { reason: "create", digest: digestOf(essenceOf(held)) },
      runs: { create: { attempts: 1, started: new Date(NOW).toISOString(), due } },
    };
    const early = decide(situation({ body: held, record }));
    expect(early).toMatchObject({ due: [], nextDue: NOW + 5_000 });
    expect(decide(situation({ body: held, record, now: NOW + 5_000 })).due).toHaveLength(1);
  });

  it("keeps the essence that a cycle opened with while the object moves on", () => {
    const record: ObjectRecord = {
      uid: "u1",
      open: { reason: "create", digest: digestOf(essenceOf(held)), essence: packEssence(essenceOf(held)) },
    };
    const decision = decide(situation({ body: moved, record }));
    expect(decision.cycle?.opened).toEqual({ digest: digestOf(essenceOf(held)), essence: { spec: { size: 1 } } });
    expect(decision.current.essence).toEqual({ spec: { size: 2 } });
  });
});
