import { describe, expect, it } from "vitest";
import { kindKey, parseStoreKey, placeKey, storeKey } from "./keys.ts";

describe("keys", () => {
  it.each([
    [{ namespace: "team-a", name: "web" }, "team-a/web"],
    [{ name: "worker-1" }, "/worker-1"],
    // Names of RBAC objects may have colons, and are the only part that could have a slash.
    [{ namespace: "team-a", name: "system:node" }, "team-a/system:node"],
  ])("of %j are %j, and the way back", (place, key) => {
    expect(placeKey(place)).toBe(key);
    expect(parseStoreKey(key)).toEqual(place);
    expect(storeKey({ metadata: place })).toBe(key);
  });

  it("of a body that has no metadata yet are those of nothing", () => {
    expect(storeKey({})).toBe("/");
  });

  it("of kinds tell the group, also the one without a name", () => {
    expect(kindKey({ group: "apps", version: "v1", kind: "Deployment" })).toBe("apps/v1/Deployment");
    expect(kindKey({ group: "", version: "v1", kind: "Pod" })).toBe("/v1/Pod");
  });
});
