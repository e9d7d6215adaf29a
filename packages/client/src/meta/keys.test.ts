import { describe, expect, it } from "vitest";
import {
  identityKey,
  identityKeyOf,
  kindKey,
  nameIn,
  namespaceIn,
  objectKey,
  objectKeyIn,
  objectKeyOf,
  uidIn,
  versionedKindKey,
} from "./keys.ts";

describe("keys of objects", () => {
  it.each([
    ["in a namespace", { namespace: "team-a", name: "web", uid: "u1" }, "team-a/web", "team-a/web/u1"],
    ["of the whole cluster", { name: "web", uid: "u1" }, "/web", "/web/u1"],
    // Names of RBAC objects may have colons.
    ["of RBAC", { namespace: "team-a", name: "system:node", uid: "u1" }, "team-a/system:node", "team-a/system:node/u1"],
    ["that the API server has not named yet", {}, "/", "//"],
  ])("name an object %s, and can be taken apart again", (_, metadata, key, identity) => {
    const body: { metadata: { namespace?: string; name?: string; uid?: string } } = { metadata };
    expect(objectKey(body)).toBe(key);
    expect(identityKey(body)).toBe(identity);
    for (const one of [objectKey(body), identityKey(body)]) {
      expect(namespaceIn(one)).toBe(body.metadata.namespace);
      expect(nameIn(one)).toBe(body.metadata.name ?? "");
    }
    expect(uidIn(identityKey(body))).toBe(body.metadata.uid ?? "");
    expect(objectKeyIn(identityKey(body))).toBe(objectKey(body));
  });

  it("of a body that has no metadata yet are those of nothing", () => {
    expect(objectKey({})).toBe("/");
  });

  it("are the same whether they are made from a body or from names", () => {
    const body = { metadata: { namespace: "team-a", name: "web", uid: "u1" } };
    expect(objectKeyOf("team-a", "web")).toBe(objectKey(body));
    expect(identityKeyOf(objectKeyOf("team-a", "web"), "u1")).toBe(identityKey(body));
  });
});

it("keys of kinds are what kubectl calls them, with the group where there is one", () => {
  expect(kindKey({ plural: "pods", group: "" })).toBe("pods");
  expect(kindKey({ plural: "deployments", group: "apps" })).toBe("deployments.apps");
});

it("keys of kinds in one of their versions tell the group, also the one without a name", () => {
  expect(versionedKindKey({ group: "apps", version: "v1", kind: "Deployment" })).toBe("apps/v1/Deployment");
  expect(versionedKindKey({ group: "", version: "v1", kind: "Pod" })).toBe("/v1/Pod");
});
