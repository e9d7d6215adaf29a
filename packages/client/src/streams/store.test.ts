import { describe, expect, it } from "vitest";
import type { KubeBody } from "../kinds/index.ts";
import { objectKeyOf } from "../meta/index.ts";
import { ObjectStore } from "./store.ts";

const body = (version: number, size = 0, uid = "u1"): KubeBody => ({
  metadata: { namespace: "default", name: "one", uid, resourceVersion: String(version) },
  spec: { size },
});
const KEY = objectKeyOf("default", "one");

describe("a store", () => {
  it("shows what the stream showed last", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1, 1));
    expect(store.streamed(body(2, 2)).type).toBe("changed");
    expect(store.get(KEY)?.spec).toEqual({ size: 2 });
  });

  it("knows a version that it has seen", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1));
    expect(store.streamed(body(1))).toEqual({ type: "known", echo: false });
  });

  it("shows an own write at once, and recognises its echo", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1, 1));
    store.wrote(body(5, 5));
    expect(store.get(KEY)?.spec).toEqual({ size: 5 });
    expect(store.streamed(body(5, 5))).toEqual({ type: "known", echo: true });
    expect(store.get(KEY)?.spec).toEqual({ size: 5 });
  });

  it("keeps an answer that nobody changes any more when the stream shows it, and no other one", () => {
    const store = new ObjectStore<KubeBody>();
    const [lasting, other] = [body(5, 5), body(6, 6)];
    store.wrote(lasting, true);
    store.streamed(body(5, 5));
    expect(store.get(KEY)).toBe(lasting);
    store.wrote(other);
    const echo = body(6, 6);
    store.streamed(echo);
    expect(store.get(KEY)).toBe(echo);
  });

  it("never goes back behind an own write when the stream is late", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1, 1));
    store.wrote(body(5, 5));
    expect(store.streamed(body(3, 3))).toEqual({ type: "known", echo: true });
    expect(store.get(KEY)?.spec).toEqual({ size: 5 });
  });

  it("takes a change that is newer than the own write", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1, 1));
    store.wrote(body(5, 5));
    expect(store.streamed(body(6, 6)).type).toBe("changed");
    expect(store.get(KEY)?.spec).toEqual({ size: 6 });
  });

  it("does not bring a deleted object back when the answer to a write comes late", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1));
    store.removed(body(7));
    expect(store.wrote(body(5))).toBe(false);
    expect(store.get(KEY)).toBeUndefined();
  });

  it("forgets an own write that the stream has passed without showing it", () => {
    const store = new ObjectStore<KubeBody>();
    store.wrote(body(5));
    store.reached("9");
    expect(store.get(KEY)).toBeUndefined();
  });

  it("names own creations that came and went between two streams, and nothing that the stream has shown", () => {
    const store = new ObjectStore<KubeBody>();
    store.wrote(body(5));
    expect(store.reached("4")).toEqual([]);
    expect(store.reached("9")).toEqual([body(5)]);
    store.streamed(body(10));
    store.wrote(body(11));
    expect(store.reached("12")).toEqual([]);
  });

  it("hides what is known to be deleted until the stream shows the end, whatever comes late", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1));
    expect(store.deleted(KEY, "another")).toBeUndefined();
    expect(store.deleted(KEY, "u1")).toEqual(body(1));
    expect(store.deleted(KEY, "u1")).toBeUndefined();
    expect([store.get(KEY), ...store.values()]).toEqual([undefined]);
    expect(store.streamed(body(2))).toEqual({ type: "known", echo: true });
    expect(store.get(KEY)).toBeUndefined();
    expect(store.removed(body(3))).toEqual(body(2));
  });

  it("shows another object of the name of a deleted one", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(1));
    store.deleted(KEY, "u1");
    expect(store.streamed(body(4, 4, "u2")).type).toBe("changed");
    expect(store.get(KEY)?.metadata?.uid).toBe("u2");
  });

  it("lists own creations that the stream has not shown yet", () => {
    const store = new ObjectStore<KubeBody>();
    store.wrote(body(5));
    expect([...store.values()]).toHaveLength(1);
    store.streamed(body(5));
    expect([...store.values()]).toHaveLength(1);
  });

  it("compares versions as numbers, not as texts", () => {
    const store = new ObjectStore<KubeBody>();
    store.streamed(body(9, 9));
    store.wrote(body(10, 10));
    expect(store.get(KEY)?.spec).toEqual({ size: 10 });
  });
});
