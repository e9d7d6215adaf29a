import { describe, expect, it } from "vitest";
import { Belonging } from "./only.ts";

const shops = "/apis/example.com/v1/namespaces/default/shops";
const object = (name: string, uid: string, owner?: string) => ({
  metadata: { name, namespace: "default", uid, ...(owner && { ownerReferences: [{ uid: owner }] }) },
});

describe("what belongs to one object", () => {
  const belonging = () => {
    const made = new Belonging({ kind: "Shop", namespace: "default", name: "corner" });
    made.shown({ items: [object("corner", "u1"), object("other", "u2")] }, shops);
    return made;
  };

  it("is itself and what it owns, over any number of steps", () => {
    const made = belonging();
    const maps = "/api/v1/configmaps";
    const owned = [object("a", "u3", "u1"), object("b", "u4", "u3"), object("c", "u5", "u2"), object("free", "u6")];
    const { items } = made.shown({ items: owned }, maps) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["a", "b", "free"]);
    expect(made.shown({ type: "ADDED", object: object("other", "u2") }, shops)).toBeUndefined();
    expect(made.shown({ type: "BOOKMARK", object: object("", "") }, shops)).toBeDefined();
  });

  it("is what is asked about it, and what is read by name", () => {
    const made = belonging();
    expect(made.asked("GET", shops, undefined)).toBe(true);
    expect(made.asked("PATCH", `${shops}/corner/status`, {})).toBe(true);
    expect(made.asked("PATCH", `${shops}/other/status`, {})).toBe(false);
    expect(made.asked("GET", "/api/v1/namespaces/default/configmaps/settings", undefined)).toBe(true);
    expect(made.asked("POST", "/api/v1/namespaces/default/configmaps", object("a", "", "u1"))).toBe(true);
    expect(made.asked("POST", "/api/v1/namespaces/default/configmaps", object("a", "", "u2"))).toBe(false);
    expect(made.asked("PATCH", "/api/v1/namespaces/default/configmaps/a", {})).toBe(false);
    made.shown({ type: "ADDED", object: object("a", "u3", "u1") }, "/api/v1/configmaps");
    expect(made.asked("PATCH", "/api/v1/namespaces/default/configmaps/a", {})).toBe(true);
  });
});
