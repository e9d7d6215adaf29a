import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { deepEqual } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type IndexKey, IndexStore } from "./indexes.ts";

const filled = (contributions: Record<string, unknown>) => {
  const store = new IndexStore();
  for (const [uid, contribution] of Object.entries(contributions)) store.update(uid, contribution);
  return store;
};

describe("an index", () => {
  it("stores each value of a returned object under its key", () => {
    const { index } = filled({ u1: { red: 1, blue: 2 }, u2: { red: 3 } });
    expect([...index]).toEqual([
      ["red", [1, 3]],
      ["blue", [2]],
    ]);
    expect([...index.entries()]).toEqual([...index]);
    expect([...index.keys()]).toEqual(["red", "blue"]);
    expect(index.size).toBe(2);
  });

  it("stores each value of a returned Map under its key, of whatever type", () => {
    const { index } = filled({
      u1: new Map<unknown, unknown>([
        [8080, "a"],
        [true, "b"],
      ]),
    });
    expect(index.get(8080)).toEqual(["a"]);
    expect(index.get(true)).toEqual(["b"]);
    expect(index.get("8080")).toEqual([]);
  });

  it.each([
    ["a text", "one"],
    ["zero", 0],
    ["false", false],
    ["an array", [1, 2]],
    ["a date", new Date(0)],
    ["a set", new Set([1])],
  ])("stores %s as a whole under the key null", (_, value) => {
    const { index } = filled({ u1: value });
    expect([...index.keys()]).toEqual([null]);
    expect(index.get(null)[0]).toBe(value);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["an empty object", {}],
    ["an empty Map", new Map()],
    ["an object with an undefined value", { red: undefined }],
    ["a Map with an undefined key", new Map([[undefined, 1]])],
  ])("stores nothing for %s, and takes away what was there", (_, value) => {
    const store = filled({ u1: { red: 1 } });
    store.update("u1", value);
    expect(store.index.size).toBe(0);
    expect(store.objects).toBe(0);
  });

  it("stores a null under a named key", () => {
    expect(filled({ u1: { red: null } }).index.get("red")).toEqual([null]);
  });

  it("takes an object without a prototype, or of another realm, for a plain one", () => {
    const bare = Object.assign(Object.create(null), { red: 1 });
    const foreign: unknown = runInNewContext("({ red: 2 })");
    expect(filled({ u1: bare, u2: foreign }).index.get("red")).toEqual([1, 2]);
  });

  it("gives an empty collection for a key that nobody has, and does not remember the question", () => {
    const { index } = new IndexStore();
    expect(index.get("red")).toEqual([]);
    expect(index.has("red")).toBe(false);
    expect(index.size).toBe(0);
  });

  it("finds nothing under an undefined key, not what lies under null", () => {
    const { index } = filled({ u1: "whole" });
    expect(index.get(undefined)).toEqual([]);
    expect(index.has(undefined)).toBe(false);
  });

  it("keeps a value's place among the others when it changes, and puts it last when it comes back", () => {
    const store = filled({ u1: { red: 1 }, u2: { red: 2 } });
    store.update("u1", { red: 10 });
    expect(store.index.get("red")).toEqual([10, 2]);
    store.remove("u1");
    store.update("u1", { red: 11 });
    expect(store.index.get("red")).toEqual([2, 11]);
  });

  it("holds equal values of two objects side by side", () => {
    const store = filled({ u1: { red: "same" }, u2: { red: "same" } });
    expect(store.index.get("red")).toEqual(["same", "same"]);
    store.remove("u1");
    expect(store.index.get("red")).toEqual(["same"]);
  });

  it("hands out snapshots that nobody can change and that do not change by themselves", () => {
    const store = filled({ u1: { red: 1 } });
    const before = store.index.get("red");
    store.update("u2", { red: 2 });
    expect(before).toEqual([1]);
    expect(store.index.get("red")).toEqual([1, 2]);
    expect(() => (before as number[]).push(3)).toThrow(TypeError);
  });

  it("makes a snapshot once for any number of reads", () => {
    const store = filled({ u1: { red: 1 } });
    expect(store.index.get("red")).toBe(store.index.get("red"));
  });

  it("tells whether a removed object had anything", () => {
    const store = filled({ u1: { red: 1 } });
    expect(store.remove("u1")).toBe(true);
    expect(store.remove("u1")).toBe(false);
    expect(store.objects).toBe(0);
  });

  it("gives readers no way to write", () => {
    expect("update" in new IndexStore().index).toBe(false);
  });
});

describe("the identity of keys", () => {
  const stored = (key: IndexKey) => filled({ u1: new Map([[key, "value"]]) }).index;

  it.each<[string, IndexKey, IndexKey]>([
    ["tuples by their members", ["default", "web"], ["default", "web"]],
    ["objects in any order of their members", { a: 1, b: [2] }, { b: [2], a: 1 }],
    ["undefined members like absent ones", { a: 1, b: undefined }, { a: 1 }],
    ["an undefined part of a tuple like null", [undefined, "node"], [null, "node"]],
    ["minus zero like zero", -0, 0],
    ["NaN like itself", Number.NaN, Number.NaN],
  ])("compares %s", (_, one, other) => {
    expect(stored(one).get(other)).toEqual(["value"]);
  });

  it.each<[IndexKey, IndexKey]>([
    [1, "1"],
    [null, "null"],
    [true, "true"],
    [["a"], '["a"]'],
    [["a"], '\u0000["a"]'],
    ['\u0000["a"]', '\u0000text \u0000["a"]'],
    [["a", "b"], ["a,b"]],
    [["a"], "a"],
    [{}, []],
    [[1], ["1"]],
    [{ a: null }, {}],
  ])("tells %j from %j", (one, other) => {
    expect(stored(one).has(one)).toBe(true);
    expect(stored(one).has(other)).toBe(false);
    expect(stored(other).has(other)).toBe(true);
    expect(stored(other).has(one)).toBe(false);
  });

  it("gives keys back as a frozen copy", () => {
    const key = { namespace: "default", tags: ["x"] };
    const { index } = filled({ u1: new Map([[key, 1]]) });
    const [own] = [...index.keys()] as (typeof key)[];
    key.tags.push("y");
    expect(own).toEqual({ namespace: "default", tags: ["x"] });
    expect(() => own?.tags.push("z")).toThrow(TypeError);
  });

  it.each([
    ["a date", new Date(0), /an instance of Date/],
    ["a function", () => 1, /a function/],
    ["a bigint", 1n, /the bigint 1/],
    ["a tuple with NaN", [Number.NaN], /the number NaN/],
    ["a tuple with a Map", [new Map()], /an instance of Map/],
  ])("refuses %s and leaves everything as it was", (_, key, message) => {
    const store = filled({ u1: { red: 1 } });
    const contribution = new Map<unknown, unknown>([
      ["blue", 2],
      [key, 3],
    ]);
    expect(() => store.update("u1", contribution)).toThrow(message);
    expect([...store.index]).toEqual([["red", [1]]]);
  });
});

/** One line for each value, in the order of arrival; every question walks over all of them. */
class NaiveIndex {
  lines: { uid: string; key: unknown; value: unknown }[] = [];

  update(uid: string, contribution: ReadonlyMap<unknown, unknown>): void {
    this.lines = this.lines.filter(
      (line) => line.uid !== uid || [...contribution.keys()].some((k) => same(k, line.key)),
    );
    for (const [key, value] of contribution) {
      const line = this.lines.find((one) => one.uid === uid && same(one.key, key));
      if (line) line.value = value;
      else this.lines.push({ uid, key, value });
    }
  }

  remove(uid: string): void {
    this.lines = this.lines.filter((line) => line.uid !== uid);
  }

  get(key: unknown): unknown[] {
    return this.lines.filter((line) => same(line.key, key)).map(({ value }) => value);
  }

  get keys(): unknown[] {
    return this.lines.map(({ key }) => key).filter((key, i, all) => all.findIndex((k) => same(k, key)) === i);
  }
}

const same = (a: unknown, b: unknown) => deepEqual(a, b);

const KEYS: IndexKey[] = [
  "a",
  "b",
  "",
  "1",
  1,
  0,
  null,
  true,
  ["a"],
  ["a", "b"],
  { x: 1, y: 2 },
  '["a"]',
  '\u0000["a"]',
];
const UIDS = ["u1", "u2", "u3", "u4"];

const anyContribution = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), fc.nat(3)), { maxLength: 5 })
  .map((entries) => new Map<IndexKey, number>(entries));

interface Pair {
  model: NaiveIndex;
  real: IndexStore;
}

function check({ model, real }: Pair): void {
  for (const key of KEYS) {
    expect(real.index.get(key)).toEqual(model.get(key));
    expect(real.index.has(key)).toBe(model.get(key).length > 0);
  }
  expect(real.index.size).toBe(model.keys.length);
  for (const [key, values] of real.index) expect(values).toEqual(model.get(key));
  expect(real.objects).toBe(new Set(model.lines.map(({ uid }) => uid)).size);
}

describe("any history of updates and removals", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ uid: fc.constantFrom(...UIDS), contribution: anyContribution }) },
    { weight: 1, arbitrary: fc.record({ uid: fc.constantFrom(...UIDS), contribution: fc.constant(undefined) }) },
  );

  it("leaves what a naive index would hold, after every step", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const pair: Pair = { model: new NaiveIndex(), real: new IndexStore() };
        for (const { uid, contribution } of steps) {
          if (contribution) {
            pair.model.update(uid, contribution);
            pair.real.update(uid, contribution);
          } else {
            pair.model.remove(uid);
            pair.real.remove(uid);
          }
          check(pair);
        }
      }),
    );
  });

  it("leaves nothing once all objects are gone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const store = new IndexStore();
        for (const { uid, contribution } of steps) store.update(uid, contribution);
        for (const uid of UIDS) store.remove(uid);
        expect(store.index.size).toBe(0);
        expect(store.objects).toBe(0);
      }),
    );
  });
});

describe("the memory of an index", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  /** A weak reference holds its target until the running job has ended. */
  const isCollected = async (ref: WeakRef<object>) => {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return ref.deref() === undefined;
  };

  /** In a function of its own, so that no variable of the test keeps the object. */
  function contribute(store: IndexStore, uid: string) {
    const key = { shared: "key" };
    const value = { uid };
    store.update(uid, new Map([[key, value]]));
    store.index.get({ shared: "key" });
    return { key: new WeakRef(key), value: new WeakRef(value) };
  }

  it("holds neither key nor value of a removed object, even where another has the same key", async () => {
    const store = new IndexStore();
    const first = contribute(store, "u1");
    const second = contribute(store, "u2");
    store.remove("u1");
    expect(await isCollected(first.value)).toBe(true);
    expect(await isCollected(first.key)).toBe(true);
    expect(await isCollected(second.value)).toBe(false);
    expect(store.index.get({ shared: "key" })).toEqual([{ uid: "u2" }]);
  });

  it("holds no value that an update replaced", async () => {
    const store = new IndexStore();
    const before = contribute(store, "u1");
    contribute(store, "u1");
    expect(await isCollected(before.value)).toBe(true);
  });
});

describe("the cost of an update", () => {
  it("does not grow with the number of objects under the same key", () => {
    const store = new IndexStore();
    const objects = 50_000;
    for (let i = 0; i < objects; i++) store.update(`u${i}`, { common: i });
    // Quadratic work would be 2.5 thousand million steps here, far beyond the time limit of a test.
    for (let i = 0; i < objects; i++) store.update(`u${i}`, { common: i, [`own-${i}`]: i });
    for (let i = 0; i < objects; i++) store.remove(`u${i}`);
    expect(store.index.size).toBe(0);
  });
});
