import { fileURLToPath } from "node:url";
import { ConfigMap } from "@lotse/client";
import { expect, it } from "vitest";
import { callerFrame } from "../declare/index.ts";
import { Operator } from "./operator.ts";

it("an operator knows the files that it was declared in, whoever asks what it may do", () => {
  const operator = new Operator({ name: "files" });
  expect(operator.files).toEqual([fileURLToPath(import.meta.url)]);
  operator.on.event(ConfigMap, () => {});
  expect(operator.files).toHaveLength(1);
});

it("a place is told short to people, and whole to programs", () => {
  const stack = `Error
    at new Declarations (/srv/node_modules/lotse/dist/index.js:1:2)
    at file:///srv/my%20shop/operator.ts?t=17:12:5`;
  expect(callerFrame(stack)).toEqual({ file: "/srv/my shop/operator.ts", sourceLocation: "my%20shop/operator.ts:12" });
});
