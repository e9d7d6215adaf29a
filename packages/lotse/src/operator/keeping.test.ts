import { describeKind, type KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { type Kept, keptText } from "../declare/index.ts";
import type { Ownership } from "../runtime/index.ts";
import { Keeping } from "./keeping.ts";

const POD = describeKind({ group: "", version: "v1", kind: "Pod" });
const body: KubeBody = { kind: "Pod", metadata: { name: "a" }, spec: { node: "n" }, status: { phase: "Running" } };

/** `lists`: each list that was asked for, and how it ends. */
function keeping(kept: Kept) {
  const lists: { done: () => void; fail: (error: Error) => void }[] = [];
  const told: string[] = [];
  const listAnew = () => new Promise<void>((done, fail) => void lists.push({ done, fail }));
  const one = new Keeping({
    handlers: [],
    ownership: {} as Ownership,
    kind: () => POD,
    isFollowed: true,
    kept,
    onWider: (wider) => void told.push(keptText(wider)),
    streams: () => ({ purge: () => {}, relist: async () => {}, listAnew }),
  });
  return { one, lists, told };
}

/** A list is asked for as soon as the one before it is over. */
async function asked(lists: readonly unknown[], count: number): Promise<void> {
  await expect.poll(() => lists.length).toBe(count);
}

const fields = (keeps: Keeping) => Object.keys(keeps.cut?.(body) ?? body);

describe("what is kept of each object", () => {
  it("is all of it, for good, where a reader needs all", () => {
    const { one } = keeping("all");
    expect(one.cut).toBeUndefined();
    expect(one.covers("all")).toBe(true);
  });

  it("is what readers name, and covers no more", () => {
    const { one } = keeping([["spec"]]);
    expect(fields(one)).toEqual(["kind", "metadata", "spec"]);
    expect(one.covers([["spec", "node"]])).toBe(true);
    expect(one.covers([["status"]])).toBe(false);
  });

  it("grows at once for what comes in, and is there for readers when all has been listed anew", async () => {
    const { one, lists, told } = keeping([]);
    const wider = one.widen([["status", "phase"]]);
    expect(fields(one)).toEqual(["kind", "metadata", "status"]);
    expect(one.covers([["status", "phase"]])).toBe(false);
    await asked(lists, 1);
    lists[0]?.done();
    await wider;
    expect(one.covers([["status", "phase"]])).toBe(true);
    expect(told).toEqual(['keep: ["status.phase"]']);
  });

  it("is listed once for several readers that need the same, and one list after another for those that need more", async () => {
    const { one, lists } = keeping([]);
    const first = one.widen([["spec"]]);
    expect(one.widen([["spec", "node"]])).toBe(first);
    const all = one.widen("all");
    await asked(lists, 1);
    lists[0]?.done();
    await first;
    expect(one.covers("all")).toBe(false);
    await asked(lists, 2);
    lists[1]?.done();
    await all;
    expect(one.covers("all")).toBe(true);
    expect(fields(one)).toEqual(Object.keys(body));
  });

  it("is listed again for the next reader when a list has failed", async () => {
    const { one, lists } = keeping([]);
    const failed = one.widen([["spec"]]);
    await asked(lists, 1);
    lists[0]?.fail(new Error("away"));
    await expect(failed).rejects.toThrow("away");
    const again = one.widen([["spec"]]);
    await asked(lists, 2);
    lists[1]?.done();
    await again;
    expect(one.covers([["spec"]])).toBe(true);
  });
});
