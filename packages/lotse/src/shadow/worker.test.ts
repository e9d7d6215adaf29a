import { expect, it } from "vitest";
import { entry, map, OLD, worker } from "./test-builders.ts";

it("the version that works has made what nobody else has set anything of, but for the status", () => {
  expect(worker.made(map({ a: "1" }, OLD))).toBe(true);
  expect(worker.made(map({ a: "1" }, "kubectl"))).toBe(false);
  const status = entry("kubelet", { status: { phase: "Running" } }, { subresource: "status" });
  expect(worker.made(map({}, OLD, { managedFields: [entry(OLD, { data: 1 }), status] }))).toBe(true);
});

it("it has made what it has put under an owner, whoever has changed it since", () => {
  const others = entry("kubectl", { data: { b: "2" } });
  const changed = entry(OLD, { data: { a: "1" } });
  const owning = entry(OLD, { metadata: { ownerReferences: [] } });
  expect(worker.made(map({}, OLD, { managedFields: [changed, others] }))).toBe(false);
  expect(worker.made(map({}, OLD, { managedFields: [owning, others] }))).toBe(true);
});

it("it has touched what it has set anything of, and its fields are those", () => {
  const both = map({}, OLD, {
    managedFields: [entry(OLD, { data: { a: "1" } }), entry("kubectl", { data: { b: "2" } })],
  });
  expect(worker.touched(both)).toBe(true);
  expect(worker.fieldsOf(both)).toEqual({ "f:data": { "f:a": {} } });
  expect(worker.touched(map({ a: "1" }))).toBe(false);
  expect(worker.fieldsOf(undefined)).toBeUndefined();
});
