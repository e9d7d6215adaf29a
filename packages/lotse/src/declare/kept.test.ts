import { describeKind } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations } from "./declarations.ts";
import { covers, keptText, planKeep, unionOf } from "./kept.ts";
import { keptFor, readersOf } from "./readers.ts";
import type { ReconcileHandler } from "./reconcile.ts";

const kind = (name: string) => describeKind({ group: "example.com", version: "v1", kind: name });
const [POD, MACHINE] = [kind("Pod"), kind("Machine")];

describe("the option keep", () => {
  it("is a list of fields, of which the metadata need not be named", () => {
    expect(planKeep(["spec", "status.phase", ["data", "a.b"], "metadata.labels", "kind"])).toEqual([
      ["spec"],
      ["status", "phase"],
      ["data", "a.b"],
    ]);
    expect(planKeep([])).toEqual([]);
    expect(planKeep(undefined)).toBe("all");
  });

  it.each([["spec"], [[""]], [[1]], [["spec..size"]], [["__proto__"]], [[[]]]])("cannot be %j", (keep) => {
    expect(() => planKeep(Array.isArray(keep) ? keep : "spec")).toThrow(/keep/);
  });
});

describe("what several readers need", () => {
  it("is each of their fields, once, and not what lies within another one", () => {
    expect(unionOf([[["status", "phase"]], [["status"], ["spec", "nodeName"]], [["spec", "nodeName"]]])).toEqual([
      ["status"],
      ["spec", "nodeName"],
    ]);
    expect(unionOf([[], []])).toEqual([]);
  });

  it("is all as soon as one of them needs it", () => {
    expect(unionOf([[["spec"]], "all", []])).toBe("all");
  });

  it("is there when it is, or lies within, what is kept", () => {
    expect(covers([["status"]], [["status", "phase"], ["metadata"]])).toBe(true);
    expect(covers([["status", "phase"]], [["status"]])).toBe(false);
    expect(covers([], [])).toBe(true);
    expect(covers([["spec"]], "all")).toBe(false);
    expect(covers("all", "all")).toBe(true);
  });

  it("is told as a program would write it", () => {
    expect(
      keptText([
        ["status", "phase"],
        ["data", "a.b"],
      ]),
    ).toBe('keep: ["status.phase", ["data","a.b"]]');
    expect(keptText("all")).toBe("all");
  });
});

describe("the readers of a kind", () => {
  function declared() {
    const operator = new Declarations();
    const watches = [[POD, () => undefined, { keep: ["status.phase"] }]] as const;
    operator.reconcile(MACHINE, { id: "count", watches }, async () => {});
    operator.index(POD, { id: "byNode", keep: ["spec.nodeName"], field: "status.ready" }, ({ name }) => name);
    const handlers = operator.resources.find(({ resource }) => resource === POD)?.handlers ?? [];
    return { operator, handlers };
  }

  it("are those who have named it, with what each needs, filters included", () => {
    const { operator, handlers } = declared();
    expect(readersOf(operator.resources, handlers, POD)).toEqual([
      {
        as: "index",
        id: "byNode/status.ready",
        kept: [
          ["spec", "nodeName"],
          ["status", "ready"],
        ],
      },
      { as: "watches", id: "count", kept: [["status", "phase"]] },
    ]);
  });

  it("need all where they work for its objects, own them, or do not say what they need", () => {
    const { operator } = declared();
    operator.on.event(POD, { id: "look" }, () => {});
    operator.reconcile(MACHINE, { id: "own", owns: [POD] }, async () => {});
    operator.reconcile(MACHINE, { id: "watch", watches: [[POD, () => undefined]] }, async () => {});
    const handlers = operator.resources.find(({ resource }) => resource === POD)?.handlers ?? [];
    const whole = readersOf(operator.resources, handlers, POD).filter(({ kept }) => kept === "all");
    expect(whole.map(({ as, id }) => `${id} ${as}`)).toEqual(["look handler", "own owns", "watch watches"]);
  });

  it("are not those who have named another kind", () => {
    const { operator } = declared();
    const [count] = operator.resources.flatMap(({ handlers }) => handlers) as ReconcileHandler[];
    expect(keptFor(count as ReconcileHandler, POD)).toEqual([["status", "phase"]]);
    expect(keptFor(count as ReconcileHandler, MACHINE)).toBeUndefined();
  });

  it("cannot be given options that there are not", () => {
    const operator = new Declarations();
    const watches = [[POD, () => undefined, { keeps: [] }]] as never;
    expect(() => operator.reconcile(MACHINE, { watches }, async () => {})).toThrow('no option "keeps"');
  });
});
