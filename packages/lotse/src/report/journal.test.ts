import { describe, expect, it } from "vitest";
import { Journal, type JournalTurn } from "./journal.ts";

const turn = (at: number): JournalTurn => ({
  at,
  tookMs: 1,
  woke: [],
  version: "1",
  ran: [],
  wrote: [],
  after: "waits",
});

describe("the journal", () => {
  it("keeps the last turns of an object, oldest first", () => {
    const journal = new Journal({ turnsOfOne: 3 });
    for (const at of [1, 2, 3, 4, 5]) journal.add("default/a/1", turn(at));
    expect(journal.of("default/a/1").map(({ at }) => at)).toEqual([3, 4, 5]);
    expect(journal.size).toBe(3);
  });

  it("knows nothing of an object that had no turn", () => {
    expect(new Journal().of("default/nobody/1")).toEqual([]);
  });

  it("forgets the objects that were quiet for longest when there are too many turns", () => {
    const journal = new Journal({ turnsOfAll: 3 });
    journal.add("a", turn(1));
    journal.add("b", turn(2));
    journal.add("a", turn(3));
    journal.add("c", turn(4));
    expect(journal.of("b")).toEqual([]);
    expect(journal.of("a").map(({ at }) => at)).toEqual([1, 3]);
    expect(journal.of("c")).toHaveLength(1);
    expect(journal.size).toBe(3);
  });

  it("does not forget the object that is being written about, however many turns it has", () => {
    const journal = new Journal({ turnsOfAll: 2, turnsOfOne: 5 });
    for (const at of [1, 2, 3]) journal.add("a", turn(at));
    expect(journal.of("a")).toHaveLength(3);
  });
});
