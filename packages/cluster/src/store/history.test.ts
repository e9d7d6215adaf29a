import { describe, expect, it } from "vitest";
import { ChangeHistory } from "./history.ts";
import { Store } from "./store.ts";

const write = (store: Store, key: string, text: string): void => {
  const object = { metadata: { name: key, resourceVersion: "" }, text };
  const { revision } = store.get("things", key) ?? {};
  if (revision === undefined) store.create("things", key, object);
  else store.update("things", key, revision, object);
};

describe("the history of a cluster that was told to keep it", () => {
  it("is bounded by the number of changes, the oldest go first", () => {
    const store = new Store({ now: () => 0 });
    const history = new ChangeHistory(store, { changes: 3, bytes: 1_000_000 });
    for (const [key, text] of ["a1", "b1", "a2", "b2", "b3"].map((word) => [...word] as [string, string])) {
      write(store, key, text);
    }
    expect(history.of("things", "a").map(({ object }) => object.text)).toEqual(["2"]);
    expect(history.of("things", "b").map(({ object }) => object.text)).toEqual(["2", "3"]);
  });

  it("is bounded by bytes as well, but the newest change stays, however large it is", () => {
    const store = new Store({ now: () => 0 });
    const history = new ChangeHistory(store, { changes: 1_000_000, bytes: 10_000 });
    for (let at = 0; at < 5_000; at++) write(store, `k${at % 7}`, "x".repeat(900));
    const kept = Array.from({ length: 7 }, (_, at) => history.of("things", `k${at}`).length);
    const total = kept.reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThan(7);
    expect(total).toBeLessThanOrEqual(11);
    write(store, "large", "x".repeat(100_000));
    expect(history.of("things", "large")).toHaveLength(1);
    expect(history.of("things", "k0")).toHaveLength(0);
  });
});
