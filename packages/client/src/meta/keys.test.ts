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
} from "./keys.ts";

describe("keys of objects", () => {
  it.each([
    ["in a namespace", { namespace: "team-a", name: "web", uid: "u1" }, "team-a/web", "team-a/web/u1"],
    ["of the whole cluster", { name: "web", uid: "u1" }, "/web", "/web/u1"],
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
