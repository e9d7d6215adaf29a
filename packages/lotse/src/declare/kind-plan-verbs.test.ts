import type { KindDescription } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations, everything } from "./index.ts";
import { planKinds } from "./kind-plan.ts";

const kind = (plural: string, verbs: readonly string[]): KindDescription => ({
  group: "example.com",
  version: "v1",
  kind: plural,
  plural,
  singular: plural.slice(0, -1),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs,
  subresources: [],
});

const DISCOVERED = [
  kind("boats", ["list", "watch", "patch"]),
  kind("tides", ["list", "watch"]),
  kind("charts", ["list", "patch"]),
];

function plan(declare: (declarations: Declarations) => void) {
  const declarations = new Declarations();
  declare(declarations);
  const { kinds, problems } = planKinds(declarations.resources, DISCOVERED);
  return {
    served: [...kinds.values()].filter(({ handlers }) => handlers.length > 0).map((one) => one.kind.plural),
    problems: problems.map((one) => `${one.problem}: ${one.kinds.map(({ plural }) => plural).join()}`),
  };
}

describe("the verbs of a kind", () => {
  it("must be list and watch for handlers that only look", () => {
    expect(plan(({ on }) => on.event(everything, function look() {}))).toEqual({
      served: ["boats", "tides"],
      problems: ["unable: charts"],
    });
  });

  it.each<[string, (declarations: Declarations) => void]>([
    ["handlers of changes", ({ on }) => on.create(everything, function write() {})],
    ["timers", (declarations) => declarations.timer(everything, { interval: "1h" }, function write() {})],
    ["daemons", (declarations) => declarations.daemon(everything, function write() {})],
  ])("must include patch for %s, which write", (_name, declare) => {
    expect(plan(declare)).toEqual({ served: ["boats"], problems: ["unable: tides,charts"] });
  });

  it("of a kind that cannot be patched do not keep it from those who only look", () => {
    const { served } = plan(({ on }) => {
      on.event("tides.example.com", function look() {});
      on.create("boats.example.com", function write() {});
    });
    expect(served.sort()).toEqual(["boats", "tides"]);
  });
});
