import { Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../../declare/index.ts";
import { Operator } from "../../operator/index.ts";
import { withoutHandlers } from "./no-handlers.ts";

const Shop = resource({
  group: "example.com",
  kind: "Shop",
  versions: { v1beta1: { spec: z.object({}) }, v1: { spec: z.object({}), storage: true } },
});

const DECLARATIONS: readonly (readonly [string, (operator: Operator) => void])[] = [
  ["a handler", (operator) => operator.on.create(Pod, function seen() {})],
  ["a startup handler", (operator) => operator.on.startup(function begin() {})],
  ["a source", (operator) => operator.source("mail", async function* () {})],
  ["a handler of requests", (operator) => operator.on.validate(Pod, function check() {})],
  ["a policy", (operator) => operator.policy(Pod, { id: "small", rules: [{ expression: "true" }] })],
  ["a conversion", (operator) => operator.on.convert(Shop, "v1beta1", { to: (shop) => shop, from: (shop) => shop })],
  ["a schedule", (operator) => operator.schedule("nightly", "@daily", () => {})],
];

describe("an operator without handlers", () => {
  const found = (operator: Operator) => withoutHandlers([{ file: "operator.ts", operator }]).length === 1;

  it("is one that declares nothing at all", () => {
    expect(found(new Operator({ name: "op" }))).toBe(true);
  });

  it.each(DECLARATIONS)("is none that has %s", (_, declare) => {
    const operator = new Operator({ name: "op" });
    declare(operator);
    expect(found(operator)).toBe(false);
  });
});
