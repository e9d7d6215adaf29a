import { ConfigMap, type KindDescription, Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Declarations, everything } from "./index.ts";
import { planKinds } from "./kind-plan.ts";

const kind = (plural: string, group: string, version = "v1"): KindDescription => ({
  group,
  version,
  kind: plural,
  plural,
  singular: plural.slice(0, -1),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ["list", "watch", "patch"],
  subresources: [],
});
const DISCOVERED = [
  kind("pods", ""),
  kind("configmaps", ""),
  kind("things", "a.example.com"),
  kind("things", "b.example.com"),
];

function plan(declare: (declarations: Declarations) => void) {
  const declarations = new Declarations();
  declare(declarations);
  const { kinds, problems } = planKinds(declarations.resources, DISCOVERED);
  const handlers = Object.fromEntries([...kinds].map(([key, one]) => [key, one.handlers.map(({ id }) => id)]));
  return { handlers, problems: problems.map(({ resource, problem }) => `${resource}: ${problem}`) };
}

describe("the kinds to handle", () => {
  it("gather all handlers of a kind, under whatever name it was declared", () => {
    const { handlers } = plan(({ on }) => {
      on.create("pods", function first() {});
      on.update(Pod, function second() {});
      on.event(everything, function third() {});
    });
    expect(handlers.pods).toEqual(["first", "second", "third"]);
    expect(handlers["things.a.example.com"]).toEqual(["third"]);
  });

  it("are known for a class before the cluster has it", () => {
    expect(plan(({ on }) => on.create(ConfigMap, function own() {})).handlers).toEqual({ configmaps: ["own"] });
  });

  it("tell of names that nobody has, and of names that several have", () => {
    const { problems } = plan(({ on }) => {
      on.create("nothings", function a() {});
      on.create("things", function b() {});
    });
    expect(problems).toEqual(["nothings: missing", "things: ambiguous"]);
  });

  it("refuse an id that a kind gets twice under two names", () => {
    expect(() =>
      plan(({ on }) => {
        on.create("pods", function same() {});
        on.update(Pod, function same() {});
      }),
    ).toThrow(/"same" is used twice for Pod/);
  });
});
