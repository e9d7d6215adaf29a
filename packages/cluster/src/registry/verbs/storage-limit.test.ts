import { describe, expect, it } from "vitest";
import type { ApiObject } from "../object.ts";
import { assertStorable } from "./storage-limit.ts";

const object = (bytes: number) =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "one" },
    data: { text: "x".repeat(bytes) },
  }) as never as ApiObject;

describe("an object that shall be stored", () => {
  it.each([0, 1_000, 1_000_000, 1_572_000])("may have %i bytes", (bytes) => {
    expect(() => assertStorable(object(bytes), "default/one")).not.toThrow();
  });

  it("is refused by etcd above 1.5 MiB", () => {
    expect(() => assertStorable(object(1_573_000), "default/one")).toThrow("etcdserver: request is too large");
  });

  it("does not even reach etcd above 2 MiB", () => {
    expect(() => assertStorable(object(2_100_000), "default/one")).toThrow(
      /message larger than max \(\d+ vs\. 2097152\)/,
    );
  });

  it("is counted in bytes, not in characters", () => {
    const wide = { ...object(0), data: { text: "ü".repeat(900_000) } } as never as ApiObject;
    expect(() => assertStorable(wide, "default/one")).toThrow("etcdserver: request is too large");
  });
});
