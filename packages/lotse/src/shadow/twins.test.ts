import type { KubeBody } from "@lotse/client";
import { objectKey } from "@lotse/client/meta";
import { expect, it } from "vitest";
import { Aliases } from "./aliases.ts";
import { lens, map } from "./test-builders.ts";
import { Unpaired } from "./twins.ts";

const child = (name: string, data: Record<string, string>, more: KubeBody["metadata"] = {}) =>
  map(data, "x", { name, generateName: "one-", ...more });
const owner = (uid: string) => ({ ownerReferences: [{ apiVersion: "v1", kind: "Box", name: "b", uid }] });

/** Those that wait, by their names. */
function waiting(...bodies: readonly KubeBody[]): Unpaired {
  const unpaired = new Unpaired(new Aliases());
  for (const body of bodies) unpaired.add(objectKey(body), body);
  return unpaired;
}

it("the counterpart of a child is the one that has most in common with it", () => {
  const all = waiting(child("one-a", { size: "1", same: "x" }), child("one-b", { size: "2", same: "x" }));
  expect(all.twinOf(child("one-z", { size: "2", same: "x" }), lens())).toBe("default/one-b");
  all.delete("default/one-b" as never);
  expect(all.twinOf(child("one-z", { size: "2", same: "x" }), lens())).toBe("default/one-a");
});

it("counterparts have the same owner, and are in one namespace", () => {
  const all = waiting(child("one-a", {}, owner("u1")));
  expect(all.twinOf(child("one-z", {}, owner("u1")), lens())).toBe("default/one-a");
  expect(all.twinOf(child("one-z", {}, owner("u2")), lens())).toBeUndefined();
  expect(all.twinOf(child("one-z", {}, { ...owner("u1"), namespace: "other" }), lens())).toBeUndefined();
});

it("names that a handler has made up count as the same only where all else is", () => {
  const made = (name: string, data: Record<string, string>) => map(data, "x", { name, ...owner("u1") });
  const all = waiting(made("random-1", { size: "1" }));
  expect(all.twinOf(made("random-2", { size: "1" }), lens())).toBe("default/random-1");
  expect(all.twinOf(made("random-2", { size: "2" }), lens())).toBeUndefined();
});
