import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Change, RevisionExpired, Store, type StoredObject } from "./index.ts";

const object = (name: string, value: number): StoredObject => ({ metadata: { name, resourceVersion: "" }, value });

function newStore(
  o: { retainBytes?: number; retainChanges?: number; retainMs?: number; now?: () => number } = {},
): Store {
  return new Store({ now: () => 0, ...o });
}

describe("Store", () => {
  it("gives every change of every resource the next revision", () => {
    const store = newStore();
    const first = store.create("a", "x", object("x", 1));
    const second = store.create("b", "y", object("y", 1));
    expect(first.ok && second.ok && second.entry.revision - first.entry.revision).toBe(1);
    expect(store.get("b", "y")?.object.metadata.resourceVersion).toBe(String(store.revision));
  });

  it("lists in the order of whole keys, where a dash sorts before a slash", () => {
    const store = newStore();
    for (const key of ["a/z", "a-b/x", "a/b", "b/a"]) store.create("r", key, object(key, 0));
    expect(store.list("r").map((e) => e.key)).toEqual(["a-b/x", "a/b", "a/z", "b/a"]);
    expect(store.list("r", "a/").map((e) => e.key)).toEqual(["a/b", "a/z"]);
  });

  it("refuses a write that was based on another revision and tells what it found", () => {
    const store = newStore();
    store.create("r", "x", object("x", 1));
    const seen = store.revision;
    store.update("r", "x", seen, object("x", 2));
    const late = store.update("r", "x", seen, object("x", 3));
    expect(late.ok).toBe(false);
    expect(!late.ok && late.current?.object.value).toBe(2);
    expect(store.create("r", "x", object("x", 4)).ok).toBe(false);
    expect(store.delete("r", "x", seen).ok).toBe(false);
  });

  it("reads and watches the past until it is compacted, then says so", () => {
    const store = newStore();
    store.create("r", "x", object("x", 1));
    const then = store.revision;
    store.update("r", "x", then, object("x", 2));
    expect(store.list("r", "", then)[0]?.object.value).toBe(1);
    store.compact();
    expect(() => store.list("r", "", then)).toThrow(RevisionExpired);
    expect(() => store.watch("r", then, () => {})).toThrow(RevisionExpired);
    expect(() => store.watch("never-written", then, () => {})).toThrow(RevisionExpired);
    expect(() => store.watch("r", store.revision, () => {})).not.toThrow();
  });

  it("forgets history by age, even that of a store in which nothing happens", () => {
    let now = 0;
    const store = newStore({ retainMs: 1_000, now: () => now });
    store.create("r", "x", object("x", 1));
    const seen = store.revision;
    now = 1_999;
    expect(store.list("r", "", seen)).toHaveLength(1);
    now = 2_000;
    expect(() => store.list("r", "", seen)).toThrow(RevisionExpired);
    expect(() => store.watch("r", seen, () => {})).toThrow(RevisionExpired);
    expect(store.list("r")).toHaveLength(1);
  });

  it("can be watched from its present revision, also after a long rest", () => {
    let now = 0;
    const store = newStore({ retainMs: 1_000, now: () => now });
    store.create("r", "x", object("x", 1));
    now = 100_000;
    const seen: string[] = [];
    store.watch("r", store.revision, ({ key }) => seen.push(key));
    store.create("r", "y", object("y", 1));
    expect(seen).toEqual(["y"]);
  });

  it("forgets history by bytes, of the resource that has most of them, and says so", () => {
    const store = newStore({ retainBytes: 20_000 });
    store.create("small", "x", object("x", 1));
    const first = store.revision;
    const text = "x".repeat(1_000);
    for (let at = 0; at < 500; at++) {
      const current = store.get("large", "y");
      const next = { ...object("y", at), text };
      if (current) store.update("large", "y", current.revision, next);
      else store.create("large", "y", next);
      expect(store.historyBytes).toBeLessThanOrEqual(21_000);
    }
    expect(() => store.watch("large", first, () => {})).toThrow(RevisionExpired);
    expect(() => store.list("large", "", store.oldest("large") - 1)).toThrow(RevisionExpired);
    expect(store.list("large", "", store.oldest("large"))).toHaveLength(1);
    const kept: number[] = [];
    store.watch("large", store.oldest("large"), ({ revision }) => kept.push(revision));
    expect(kept.length).toBeGreaterThan(10);
    expect(kept).toEqual(kept.map((_, at) => store.revision - kept.length + 1 + at));
    expect(() => store.watch("small", first, () => {})).not.toThrow();
    store.compact();
    expect(store.historyBytes).toBe(0);
  });

  it("keeps a future watch silent until revisions pass the one it asked for", () => {
    const store = newStore();
    const seen: number[] = [];
    store.watch("r", store.revision + 2, (change) => seen.push(change.revision));
    for (const name of ["a", "b", "c"]) store.create("r", name, object(name, 1));
    expect(seen).toEqual([store.revision]);
  });

  it("tells everybody the same order when a listener writes", () => {
    const store = newStore();
    const seen: string[] = [];
    store.watch("r", store.revision, (change) => {
      if (change.key === "a") store.create("r", "b", object("b", 1));
    });
    store.watch("r", store.revision, (change) => seen.push(change.key));
    store.create("r", "a", object("a", 1));
    expect(seen).toEqual(["a", "b"]);
  });

  it("reproduces the present from a list at any kept revision plus the changes after it", () => {
    const step = fc.record({
      key: fc.constantFrom("a/1", "a/2", "b/1", "b/2"),
      op: fc.constantFrom("create", "update", "delete"),
      value: fc.nat(9),
    });
    void fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(), fc.nat(5), (steps, pick, retain) => {
        const store = newStore({ retainChanges: 5 + retain });
        const revisions = [store.revision];
        for (const { key, op, value } of steps) {
          const current = store.get("r", key);
          if (op === "create") store.create("r", key, object(key, value));
          else if (current && op === "update") store.update("r", key, current.revision, object(key, value));
          else if (current) store.delete("r", key, current.revision);
          if (store.revision !== revisions.at(-1)) revisions.push(store.revision);
        }
        const from = revisions[pick % revisions.length] as number;
        let snapshot: ReturnType<Store["list"]>;
        try {
          snapshot = store.list("r", "", from);
        } catch (error) {
          expect(error).toBeInstanceOf(RevisionExpired);
          expect(from).toBeLessThan(store.oldest("r"));
          return;
        }
        const replayed = new Map(snapshot.map((entry) => [entry.key, entry.object]));
        let last = from;
        const apply = (change: Change) => {
          expect(change.revision).toBeGreaterThan(last);
          last = change.revision;
          if (change.type === "deleted") replayed.delete(change.key);
          else replayed.set(change.key, change.object);
        };
        store.watch("r", from, apply);
        expect([...replayed].sort()).toEqual(store.list("r").map((entry) => [entry.key, entry.object]));
      }),
      { numRuns: 300 },
    );
  });
});
