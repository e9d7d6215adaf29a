import { describe, expect, it } from "vitest";
import { resolveSchema, type Schema } from "./types.ts";

describe("a reference", () => {
  const target: Schema = { type: "object", properties: { name: { type: "string" } } };

  it("leads to its target, and what stands beside it wins", () => {
    const resolve = () => target;
    expect(resolveSchema({ $ref: "Name" }, resolve)).toBe(target);
    expect(resolveSchema({ $ref: "Name", default: {} }, resolve)).toEqual({ ...target, default: {} });
    expect(resolveSchema({ allOf: [{ $ref: "Name" }], default: {} }, resolve)).toEqual({ ...target, default: {} });
    expect(resolveSchema(target, resolve)).toBe(target);
  });

  it("is followed once, and anew for each way to follow it", () => {
    const node: Schema = { $ref: "Name", default: {} };
    const asked: string[] = [];
    const first = (ref: string) => {
      asked.push(ref);
      return target;
    };
    expect(resolveSchema(node, first)).toBe(resolveSchema(node, first));
    expect(asked).toEqual(["Name"]);
    expect(resolveSchema(node, () => ({ type: "string" }))).toEqual({ type: "string", default: {} });
    expect(resolveSchema(node, first)).toEqual({ ...target, default: {} });
  });
});
