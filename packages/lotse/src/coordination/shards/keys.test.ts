import type { KubeBody } from "@lotse/client";
import { describe, expect, it, vi } from "vitest";
import type { ShardKey } from "../../declare/index.ts";
import { ShardKeys } from "./keys.ts";
import { sliceOfText, sliceOfUid } from "./rendezvous.ts";

const machine = { group: "example.com", kind: "Machine" };
const pod = { group: "", kind: "Pod" };

function keys(by: ShardKey, parents = [machine]) {
  const onProblem = vi.fn<(kind: string, problem: string) => void>();
  return { keys: new ShardKeys({ by, parents, onProblem }), onProblem };
}

function body(metadata: KubeBody["metadata"]): KubeBody {
  return { apiVersion: "v1", kind: "Thing", metadata: { uid: "own", name: "one", ...metadata } } as KubeBody;
}

const owned = (kind: string, apiVersion: string, controller = true) =>
  body({ ownerReferences: [{ apiVersion, kind, name: "owner", uid: "the-owner", controller }] });

describe("the key of an object", () => {
  it("is its uid", () => {
    expect(keys("uid").keys.sliceOf(body({}), pod)).toBe(sliceOfUid("own"));
  });

  it("is the uid of the controller that has a reconciler, whatever its version", () => {
    const { keys: byUid } = keys("uid");
    expect(byUid.sliceOf(owned("Machine", "example.com/v1"), pod)).toBe(sliceOfUid("the-owner"));
    expect(byUid.sliceOf(owned("Machine", "example.com/v2"), pod)).toBe(sliceOfUid("the-owner"));
  });

  it("is its own uid if its owner has no reconciler or is no controller", () => {
    const { keys: byUid } = keys("uid");
    expect(byUid.sliceOf(owned("ReplicaSet", "apps/v1"), pod)).toBe(sliceOfUid("own"));
    expect(byUid.sliceOf(owned("Machine", "example.org/v1"), pod)).toBe(sliceOfUid("own"));
    expect(byUid.sliceOf(owned("Machine", "example.com/v1", false), pod)).toBe(sliceOfUid("own"));
  });

  it("is its own uid if others follow it", () => {
    expect(keys("uid").keys.sliceOf(owned("Machine", "example.com/v1"), machine)).toBe(sliceOfUid("own"));
  });

  it("is its namespace, and a namespace's own name", () => {
    const { keys: byNamespace } = keys("namespace");
    expect(byNamespace.sliceOf(body({ namespace: "team-a" }), pod)).toBe(sliceOfText("team-a"));
    expect(byNamespace.sliceOf(body({ name: "team-a" }), { group: "", kind: "Namespace" })).toBe(sliceOfText("team-a"));
    expect(byNamespace.sliceOf(body({}), { group: "", kind: "Node" })).toBe(sliceOfUid("own"));
  });

  it("is what a function says, which sees metadata alone", () => {
    const by = vi.fn(({ labels }: { labels: Readonly<Record<string, string>> }) => labels.tenant as string);
    const { keys: byFunction } = keys(by);
    expect(byFunction.sliceOf(body({ labels: { tenant: "x" } }), pod)).toBe(sliceOfText("x"));
    expect(by).toHaveBeenCalledWith({
      kind: "Pod",
      name: "one",
      namespace: undefined,
      uid: "own",
      labels: { tenant: "x" },
      annotations: {},
    });
  });

  it("falls back to the uid where the function fails, which is told once a kind", () => {
    const { keys: byFunction, onProblem } = keys(({ labels }) => labels.tenant as string);
    expect(byFunction.sliceOf(body({}), pod)).toBe(sliceOfUid("own"));
    expect(byFunction.sliceOf(body({}), pod)).toBe(sliceOfUid("own"));
    expect(onProblem.mock.calls).toEqual([["Pod", "it returned undefined, and no text"]]);
    const failing = keys(() => {
      throw new Error("no idea");
    });
    expect(failing.keys.sliceOf(body({}), pod)).toBe(sliceOfUid("own"));
    expect(failing.onProblem.mock.calls).toEqual([["Pod", "no idea"]]);
  });
});

describe("the rule of keys", () => {
  it("differs where an object could get another slice", () => {
    const rules = [
      keys("uid", []).keys.rule,
      keys("uid").keys.rule,
      keys("uid", [pod]).keys.rule,
      keys("namespace").keys.rule,
      keys(({ name }) => name).keys.rule,
      keys(({ kind }) => kind).keys.rule,
    ];
    expect(new Set(rules).size).toBe(rules.length);
    expect(keys("uid", [pod, machine]).keys.rule).toBe(keys("uid", [machine, pod, pod]).keys.rule);
  });

  it("says for which kinds a server can be asked for slices", () => {
    expect(keys("uid", []).keys.isByOwnUid(pod)).toBe(true);
    expect(keys("uid").keys.isByOwnUid(machine)).toBe(true);
    expect(keys("uid").keys.isByOwnUid(pod)).toBe(false);
    expect(keys("namespace").keys.isByOwnUid(machine)).toBe(false);
  });
});
