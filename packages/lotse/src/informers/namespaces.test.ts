import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNamespaces } from "../declare/index.ts";
import { namespaceChanges, namespaceState } from "./namespaces.ts";

describe("the state of a namespace", () => {
  const namespace = (deleting: boolean, conditions?: { type: string; status: string }[]) => ({
    metadata: { name: "team-a", ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    status: { phase: deleting ? "Terminating" : "Active", ...(conditions && { conditions }) },
  });
  const remaining = { type: "NamespaceFinalizersRemaining", status: "True" };
  const emptied = { type: "NamespaceFinalizersRemaining", status: "False" };

  it.each<[string, ReturnType<typeof namespace>, boolean]>([
    ["is served while it lives", namespace(false), false],
    ["is served while it lives, whatever its conditions", namespace(false, [emptied]), false],
    ["is served while nothing is known of its deletion", namespace(true), false],
    ["is served while conditions are still to come", namespace(true, []), false],
    ["is served while something in it is left", namespace(true, [emptied, remaining]), false],
    ["is released when nothing in it is left", namespace(true, [emptied]), true],
  ])("%s", (_, body, released) => {
    expect(namespaceState(body)).toEqual({ name: "team-a", released });
  });

  it("can be read without a status", () => {
    expect(namespaceState({ metadata: { name: "team-a" } })).toEqual({ name: "team-a", released: false });
  });
});

describe("changes of the served namespaces", () => {
  const filter = parseNamespaces(["team-*, !team-x"]);
  const live = (...names: string[]) => names.map((name) => ({ name, released: false }));

  it("open the matching ones that are new", () => {
    expect(namespaceChanges(new Set(["team-a"]), live("team-a", "team-b", "team-x", "default"), filter)).toEqual({
      opened: ["team-b"],
      closed: [],
    });
  });

  it("close those that are gone", () => {
    expect(namespaceChanges(new Set(["team-a", "team-b"]), live("team-b"), filter)).toEqual({
      opened: [],
      closed: ["team-a"],
    });
  });

  it("close those that hold nothing any more, and do not open them", () => {
    const namespaces = ["team-a", "team-b"].map((name) => ({ name, released: true }));
    expect(namespaceChanges(new Set(["team-a"]), namespaces, filter)).toEqual({ opened: [], closed: ["team-a"] });
  });

  it("close those that the filter no longer takes", () => {
    expect(namespaceChanges(new Set(["default"]), live("default"), filter)).toEqual({
      opened: [],
      closed: ["default"],
    });
  });

  it("are none when nothing changed", () => {
    expect(namespaceChanges(new Set(["team-a"]), live("team-a", "team-a"), filter)).toEqual({ opened: [], closed: [] });
  });

  it("lead to the same set however the history went", () => {
    const states = fc.uniqueArray(
      fc.record({ name: fc.constantFrom("default", "team-a", "team-b", "team-x"), released: fc.boolean() }),
      {
        selector: ({ name }) => name,
      },
    );
    fc.assert(
      fc.property(fc.array(states, { minLength: 1 }), (history) => {
        const served = new Set<string>();
        for (const namespaces of history) {
          const { opened, closed } = namespaceChanges(served, namespaces, filter);
          for (const name of closed) expect(served.delete(name)).toBe(true);
          for (const name of opened) expect(served.has(name)).toBe(false);
          for (const name of opened) served.add(name);
        }
        const now = history.at(-1)?.filter(({ name, released }) => !released && filter.matches(name)) ?? [];
        expect([...served].sort()).toEqual(now.map(({ name }) => name).sort());
      }),
    );
  });
});
