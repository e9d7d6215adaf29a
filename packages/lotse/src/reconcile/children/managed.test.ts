import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { driftIn } from "./managed.ts";

type Tree = Record<string, unknown>;
const OWN = { manager: "op", operation: "Apply" };

/** A Deployment of which the trees say who has set what. */
function live(spec: unknown, own: Tree | undefined, theirs: Record<string, Tree> = {}): KubeBody {
  const managedFields = [
    // Something is always ours: a tree without members would mean that the whole is.
    ...(own ? [{ ...OWN, fieldsV1: { "f:spec": { "f:selector": {}, ...own } } }] : []),
    ...Object.entries(theirs).map(([manager, tree]) => ({
      manager,
      operation: "Update",
      fieldsV1: { "f:spec": tree },
    })),
  ];
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", managedFields }, spec } as KubeBody;
}
const wanted = (spec: unknown) =>
  ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec }) as KubeBody;
const drift = (is: KubeBody, spec: unknown) => driftIn(is, wanted(spec), "op", undefined);

describe("what looks different and is still ours", () => {
  it.each<[what: string, spec: unknown, own: Tree, wanted: unknown, theirs?: Record<string, Tree>]>([
    ["was written by the server in another form", { cpu: "500m" }, { "f:cpu": {} }, { cpu: "0.5" }],
    ["was not kept by the server", {}, { "f:paused": {} }, { paused: false }],
    [
      "was not kept, deep inside of something that is not there",
      {},
      { "f:a": { "f:b": { "f:c": {} } } },
      { a: { b: { c: 0 } } },
    ],
    ["is ours as a whole", { list: [2, 1] }, { "f:list": {} }, { list: [1, 2] }],
    [
      "is a list to which others have added",
      { env: [{ name: "B" }, { name: "A", value: "1" }] },
      { "f:env": { 'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} } } },
      { env: [{ name: "A", value: "1" }] },
      { mesh: { "f:env": { 'k:{"name":"B"}': { ".": {}, "f:name": {} } } } },
    ],
    [
      "is a list of words to which others have added",
      { words: ["b", "a"] },
      { "f:words": { 'v:"a"': {} } },
      { words: ["a"] },
    ],
    [
      "is an item whose key has a default",
      { ports: [{ port: 53, protocol: "UDP" }, { port: 53, protocol: "TCP", name: "dns" }, { port: 9 }] },
      {
        "f:ports": {
          'k:{"port":53,"protocol":"TCP"}': { ".": {}, "f:port": {} },
          'k:{"port":53,"protocol":"UDP"}': { ".": {}, "f:port": {}, "f:protocol": {} },
        },
      },
      { ports: [{ port: 53, protocol: "UDP" }, { port: 53 }] },
    ],
    [
      "was to be an empty list that several share",
      { env: [{ name: "B" }] },
      {},
      { env: [] },
      { mesh: { "f:env": { 'k:{"name":"B"}': { ".": {}, "f:name": {} } } } },
    ],
  ])("is no drift: it %s", (_, spec, own, want, theirs) => {
    expect(drift(live(spec, own, theirs), want)).toEqual([]);
  });
});

describe("what somebody else has changed", () => {
  it("is named with both values and whose it is now", () => {
    const is = live({ replicas: 5, paused: true }, { "f:paused": {} }, { "kubectl-edit": { "f:replicas": {} } });
    expect(drift(is, { replicas: 3, paused: true })).toEqual([
      { path: "spec.replicas", live: 5, wanted: 3, by: ["kubectl-edit"] },
    ]);
  });

  it("may be gone, and then it is nobody's", () => {
    expect(drift(live({}, {}), { replicas: 3 })).toEqual([
      { path: "spec.replicas", live: undefined, wanted: 3, by: [] },
    ]);
  });

  it("is found in items of lists by their keys, wherever they stand", () => {
    const is = live(
      { containers: [{ name: "mesh" }, { name: "web", image: "bad" }] },
      { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {} } } },
      { hacker: { "f:containers": { 'k:{"name":"web"}': { "f:image": {} } } } },
    );
    expect(drift(is, { containers: [{ name: "web", image: "good" }] })).toEqual([
      { path: "spec.containers[name=web].image", live: "bad", wanted: "good", by: ["hacker"] },
    ]);
  });

  it("may be a whole item", () => {
    const is = live({ containers: [{ name: "mesh" }] }, undefined, {
      hacker: { "f:containers": { 'k:{"name":"mesh"}': { ".": {}, "f:name": {} } } },
    });
    expect(drift(is, { containers: [{ name: "web", image: "good" }] })).toEqual([
      { path: "spec.containers[name=web]", live: undefined, wanted: { name: "web", image: "good" }, by: [] },
    ]);
  });

  it("may be an item that was taken over", () => {
    const tree = { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {}, "f:image": {} } } };
    const is = live({ containers: [{ name: "web", image: "bad" }] }, undefined, { hacker: tree });
    expect(drift(is, { containers: [{ name: "web", image: "good" }] })).toEqual([
      { path: "spec.containers[name=web].image", live: "bad", wanted: "good", by: ["hacker"] },
    ]);
  });

  it("may be a word of a list", () => {
    const is = live({ words: ["b"] }, { "f:words": { 'v:"b"': {} } });
    expect(drift(is, { words: ["a", "b"] })).toEqual([{ path: "spec.words[a]", live: undefined, wanted: "a", by: [] }]);
  });

  it("may be a list that is owned as a whole, also when it was to be empty", () => {
    const is = live({ args: ["x"] }, {}, { hacker: { "f:args": {} } });
    expect(drift(is, { args: [] })).toEqual([{ path: "spec.args", live: ["x"], wanted: [], by: ["hacker"] }]);
  });

  it("may lie in something that another one owns as a whole", () => {
    const is = live({ template: { image: "bad" } }, {}, { hacker: { "f:template": {} } });
    expect(drift(is, { template: { image: "good" } })).toEqual([
      { path: "spec.template.image", live: "bad", wanted: "good", by: ["hacker"] },
    ]);
  });

  it("is everything that differs when the server does not know us", () => {
    const is = { ...live({ a: 1 }, undefined), metadata: { name: "web" } } as KubeBody;
    expect(drift(is, { a: 2, b: { c: 3 } })).toEqual([
      { path: "spec.a", live: 1, wanted: 2, by: [] },
      { path: "spec.b", live: undefined, wanted: { c: 3 }, by: [] },
    ]);
  });

  it("may be our own doing by other means, under the same name", () => {
    const is = live({ replicas: 5 }, {}, { op: { "f:replicas": {} } });
    expect(drift(is, { replicas: 3 })).toEqual([{ path: "spec.replicas", live: 5, wanted: 3, by: ["op"] }]);
  });
});
