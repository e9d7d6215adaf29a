import { Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { everything, type ResourceInput, resource } from "../../declare/index.ts";
import { Operator } from "../../operator/index.ts";
import { kindNames, kubectlName } from "./describe.ts";

const group = "zalando.org";
const spec = z.object({});
const Plain = resource({ group, version: "v1", kind: "KopfExample", spec });
const Short = resource({ group, version: "v1", kind: "KopfExample", spec, shortNames: ["kex"] });

function handling(...resources: ResourceInput[]) {
  const operator = new Operator({ name: "described" });
  for (const [i, one] of resources.entries()) operator.on.event(one, { id: `h${i}` }, () => {});
  return [{ operator }];
}

describe("what to ask kubectl for", () => {
  it.each<[string, ResourceInput, string | undefined]>([
    ["a class of a kind", Plain, "kopfexamples"],
    ["a class with a short name", Short, "kex"],
    ["a built-in class", Pod, "po"],
    ["group, version and plural", "zalando.org/v1/kopfexamples", "kopfexamples.zalando.org"],
    ["a plural with its group", "kopfexamples.zalando.org", "kopfexamples.zalando.org"],
    ["a plural alone", "pods", "pods"],
    ["a selector", { group, version: "v1", plural: "kopfexamples" }, "kopfexamples.zalando.org"],
    ["a selector by kind", { group, kind: "KopfExample" }, "kopfexample.zalando.org"],
    ["a category", { category: "all" }, undefined],
    ["everything", everything, undefined],
  ])("of %s", (_what, given, expected) => {
    expect(kubectlName(handling(given))).toBe(expected);
  });

  it("is the first kind that has a name", () => {
    expect(kubectlName(handling(everything, "zalando.org/v1/kopfexamples", Pod))).toBe("kopfexamples.zalando.org");
  });
});

describe("the kinds of an operator, in words", () => {
  it("are those that it handles and those whose requests it judges, each once", () => {
    const operator = new Operator({ name: "described" });
    expect(kindNames(operator)).toBe("none");
    operator.on.validate(Pod, function check() {});
    operator.policy("things", { id: "small", rules: [{ expression: "true" }] });
    operator.on.create(Pod, function greet() {});
    expect(kindNames(operator)).toMatch(/^Pod \(v1\), .*things/);
    expect(kindNames(operator).match(/Pod/g)).toHaveLength(1);
  });
});
