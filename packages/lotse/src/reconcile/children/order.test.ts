import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inOrder, lastOnes, type Ordered } from "./order.ts";

/** Any graph without circles: each comes after some of those before it, then shuffled. */
const graph = fc
  .array(fc.array(fc.nat(), { maxLength: 3 }), { maxLength: 7 })
  .map((edges) =>
    edges.map((before, at): Ordered => {
      const after = at === 0 ? [] : [...new Set(before.map((one) => `k${one % at}`))];
      return { key: `k${at}`, after };
    }),
  )
  .chain((items) => fc.shuffledSubarray(items, { minLength: items.length }));

describe("work in order", () => {
  it("is done for exactly those whose predecessors are ready, each after them, and says what the others wait for", async () => {
    await fc.assert(
      fc.asyncProperty(graph, fc.func(fc.boolean()), async (items, isReady) => {
        const done: string[] = [];
        const waiting = await inOrder(items, async ({ key }) => {
          done.push(key);
          await Promise.resolve();
          return isReady(key);
        });
        const reached = (key: string): boolean =>
          items.find((one) => one.key === key)?.after.every((one) => reached(one) && isReady(one)) === true;
        expect([...done].sort()).toEqual(
          items
            .filter(({ key }) => reached(key))
            .map(({ key }) => key)
            .sort(),
        );
        for (const { key, after } of items) {
          for (const one of done.includes(key) ? after : []) expect(done.indexOf(one)).toBeLessThan(done.indexOf(key));
        }
        expect(waiting.map(({ item }) => item.key).sort()).toEqual(
          items
            .filter(({ key }) => !reached(key))
            .map(({ key }) => key)
            .sort(),
        );
        for (const { item, for: keys } of waiting) {
          expect(keys).toEqual(item.after.filter((key) => !(reached(key) && isReady(key))));
        }
      }),
    );
  });

  it("goes on side by side with those that do not come after each other", async () => {
    let running = 0;
    let most = 0;
    await inOrder(
      ["a", "b", "c"].map((key) => ({ key, after: [] })),
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return true;
      },
    );
    expect(most).toBe(3);
  });
});

describe("those that go first", () => {
  it("are those that nothing comes after, until all are gone, in reverse of their order", () => {
    fc.assert(
      fc.property(graph, (items) => {
        let left: readonly Ordered[] = items;
        while (left.length > 0) {
          const last = lastOnes(left);
          expect(last.length).toBeGreaterThan(0);
          for (const { key } of last) expect(left.some(({ after }) => after.includes(key))).toBe(false);
          left = left.filter((one) => !last.includes(one));
        }
      }),
    );
  });

  it("are all where marks that somebody edited form a circle", () => {
    const circle = [
      { key: "a", after: ["b"] },
      { key: "b", after: ["a"] },
    ];
    expect(lastOnes(circle)).toEqual(circle);
  });
});
