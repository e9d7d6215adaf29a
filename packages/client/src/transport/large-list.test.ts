import fc from "fast-check";
import { expect, it } from "vitest";
import { parseLargeList } from "./large-list.ts";

const read = (value: unknown, pieceBytes: number) => parseLargeList(Buffer.from(JSON.stringify(value)), pieceBytes);

const item = (name: string) => ({ metadata: { name }, spec: { text: 'ü },{"metadata":' } });

it("parses a list in pieces, whatever their size", async () => {
  const names = Array.from({ length: 50 }, (_, number) => `item-${number}`);
  const list = { kind: "PodList", metadata: { resourceVersion: "1" }, items: names.map(item), rest: true };
  for (const pieceBytes of [1, 100, 1_000, 100_000]) {
    expect(await read(list, pieceBytes)).toEqual(list);
  }
});

it("parses a list of custom resources, whose items begin with another key", async () => {
  const things = ["a", "b", "c"].map((name) => ({ apiVersion: "example.com/v1", kind: "Thing", metadata: { name } }));
  const list = { apiVersion: "example.com/v1", items: things, kind: "ThingList", metadata: { continue: "x" } };
  expect(await read(list, 10)).toEqual(list);
});

it("lets others work between two pieces", async () => {
  let turns = 0;
  const next = () => {
    turns++;
    immediate = setImmediate(next);
  };
  let immediate = setImmediate(next);
  const before = turns;
  await read({ items: Array.from({ length: 20 }, (_, number) => item(`${number}`)) }, 1);
  clearImmediate(immediate);
  expect(turns - before).toBeGreaterThanOrEqual(15);
});

it.each([
  ["an object with items somewhere in it", { spec: { items: [{ a: 1 }, { a: 2 }] } }],
  ["a list without items", { kind: "PodList", items: [] }],
  ["items of which some are nested", { items: [{ a: [{ a: 1 }, { a: 2 }] }, { a: [{ a: 3 }, { a: 4 }] }] }],
])("does not cut %s wrongly", async (_, value) => {
  const parsed = await read(value, 1);
  if (parsed !== undefined) expect(parsed).toEqual(value);
});

it("does not parse what is cut off", async () => {
  const text = JSON.stringify({ items: ["a", "b", "c"].map(item) });
  expect(await parseLargeList(Buffer.from(text.slice(0, -4)), 10)).toBeUndefined();
});

it("never gives anything but what parsing gives", async () => {
  const key = fc.constantFrom("items", "a", "metadata", 'q"', "}");
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<unknown>(1, null, '"items":[{', '},{"a":', "]}"),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  const items = fc.array(fc.record({ a: tree, items: tree }), { maxLength: 4 });
  const list = fc.oneof(fc.record({ a: tree, items }), fc.record({ items, metadata: tree }), tree);
  await fc.assert(
    fc.asyncProperty(list, fc.integer({ min: 1, max: 20 }), async (value, pieceBytes) => {
      const parsed = await read(value, pieceBytes);
      if (parsed !== undefined) expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 500 },
  );
});
