import { describe, expect, it } from "vitest";
import { type Act, nextAct } from "./decide.ts";
import type { ProviderRecord, Wanted } from "./dns.ts";
import { randomNumbers } from "./provider.ts";

const owner = "lotse:default/www";
const wanted: Wanted = { name: "www.example.com", type: "A", ttl: 300, values: ["192.0.2.1", "192.0.2.2"] };
const record = (id: string, rest: Partial<ProviderRecord> = {}): ProviderRecord => ({ ...wanted, id, owner, ...rest });
const next = (records: ProviderRecord[], { adopt = false, known = "" } = {}) =>
  nextAct(wanted, { owner, known, adopt, records });

describe("the next act", () => {
  it("is none when there is what is wanted, in whatever order its values are", () => {
    expect(next([record("1", { values: ["192.0.2.2", "192.0.2.1"] })])).toBeUndefined();
  });

  it("mends what is there, before anything is removed", () => {
    const [old, wrong] = [record("1", { name: "old.example.com" }), record("2", { ttl: 60 })];
    expect(next([old])).toEqual({ do: "create" });
    expect(next([old, wrong])).toEqual({ do: "update", record: wrong });
    expect(next([old, record("2")])).toEqual({ do: "remove", record: old });
  });

  it("takes another type for another record", () => {
    expect(next([record("1", { type: "TXT" })])).toEqual({ do: "create" });
  });

  it.each<[string, string, { adopt?: boolean; known?: string }, Act["do"]]>([
    ["of somebody else", "ada", {}, "refuse"],
    ["of nobody", "", {}, "refuse"],
    ["of somebody else, if it may be adopted", "ada", { adopt: true }, "adopt"],
    ["of nobody, if it is known to be ours", "", { known: "1" }, "adopt"],
    ["of somebody else, even if it was ours", "ada", { known: "1" }, "refuse"],
    ["of another object, even if it may be adopted", "lotse:default/api", { adopt: true }, "refuse"],
  ])("decides about a record %s", (_, theirs, options, expected) => {
    expect(next([record("1", { owner: theirs })], options)?.do).toBe(expected);
  });

  it("removes everything under the mark, and nothing else, when nothing is wanted", () => {
    const records = [record("1", { owner: "ada" }), record("2")];
    const sight = { owner, known: "2", adopt: true };
    expect(nextAct(undefined, { ...sight, records })).toEqual({ do: "remove", record: records[1] });
    expect(nextAct(undefined, { ...sight, records: records.slice(0, 1) })).toBeUndefined();
  });
});

describe("one act after the other", () => {
  it("leads from any records to exactly the wanted one, without an empty moment once it was there", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = randomNumbers(seed);
      const one = <T>(...of: T[]): T => of[Math.floor(random() * of.length)] as T;
      let records = Array.from({ length: Math.floor(random() * 5) }, (_, i) =>
        record(`${i}`, { name: one("www.example.com", "old.example.com"), ttl: one(60, 300) }),
      );
      const answered = () => records.length > 0;
      const hadOne = answered();
      for (let acts = 0; acts < 10; acts++) {
        const act = next(records);
        if (!act) break;
        if (act.do === "create") records = [...records, record("new")];
        else if (act.do === "update") records = records.map((old) => (old === act.record ? record(old.id) : old));
        else if (act.do === "remove") records = records.filter((old) => old !== act.record);
        if (hadOne) expect(answered(), `seed ${seed}`).toBe(true);
      }
      expect(records, `seed ${seed}`).toEqual([record(records[0]?.id ?? "")]);
    }
  });
});
