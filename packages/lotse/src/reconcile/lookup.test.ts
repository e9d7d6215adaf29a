import { objectKey } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lookup } from "./lookup.ts";
import { readQuery } from "./query.ts";
import { event, naivelyMatches, query, TestObjects } from "./test-objects.ts";

describe("a lookup", () => {
  it("finds what looking at every object finds, in the order of their names, whatever happened before", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            event.map((one) => ({ event: one })),
            query.map((one) => ({ query: one })),
          ),
          {
            minLength: 5,
            maxLength: 40,
          },
        ),
        (script) => {
          const objects = new TestObjects();
          const lookup = new Lookup(objects);
          for (const step of script) {
            if ("event" in step) {
              const change = objects.happen(step.event);
              if (change) lookup.changed(change.before, change.now);
              continue;
            }
            const { query: input } = step;
            const naive = [...objects.values()].filter((body) => naivelyMatches(input, body));
            const keys = naive.map(objectKey).sort();
            const found = lookup.list(readQuery(input));
            expect(found.map(objectKey)).toEqual(keys);
            for (const body of found) expect(body).toBe(objects.get(objectKey(body)));
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("looks at the few objects at a query's place, not at all of them", () => {
    const objects = new TestObjects();
    for (let at = 0; at < 100; at++) {
      objects.happen({
        place: { namespace: "one", name: `n${at}` },
        shape: { labels: { app: at < 3 ? "red" : "blue" }, owners: [], node: undefined },
        what: "put",
      });
    }
    let looked = 0;
    const lookup = new Lookup({
      get: (key) => {
        looked++;
        return objects.get(key);
      },
      values: () => objects.values(),
    });
    expect(lookup.list(readQuery({ namespace: "one", labelSelector: "app=red" }))).toHaveLength(3);
    expect(looked).toBe(3);
  });

  it("does not give an object that is gone before it was told so", () => {
    const objects = new TestObjects();
    const lookup = new Lookup(objects);
    const where = { namespace: "one", name: "a" };
    const how = { labels: { app: "red" }, owners: [], node: undefined };
    objects.happen({ place: where, shape: how, what: "put" });
    const asked = readQuery({ namespace: undefined, labelSelector: "app=red" });
    expect(lookup.list(asked)).toHaveLength(1);
    objects.happen({ place: where, shape: how, what: "delete" });
    expect(lookup.list(asked)).toEqual([]);
  });
});
