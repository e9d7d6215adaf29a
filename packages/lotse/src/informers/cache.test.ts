import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Cache } from "./cache.ts";

const body = (version: number, size = 0, uid = "u1"): KubeBody => ({
  metadata: { namespace: "default", name: "one", uid, resourceVersion: String(version) },
  spec: { size },
});
const KEY = "default/one";

describe("the cache", () => {
  it("shows what the stream showed last", () => {
    const cache = new Cache();
    cache.streamed(body(1, 1));
    expect(cache.streamed(body(2, 2)).type).toBe("changed");
    expect(cache.get(KEY)?.spec).toEqual({ size: 2 });
  });

  it("knows a version that it has seen", () => {
    const cache = new Cache();
    cache.streamed(body(1));
    expect(cache.streamed(body(1))).toEqual({ type: "known", echo: false });
  });

  it("shows an own write at once, and recognises its echo", () => {
    const cache = new Cache();
    cache.streamed(body(1, 1));
    cache.wrote(body(5, 5));
    expect(cache.get(KEY)?.spec).toEqual({ size: 5 });
    expect(cache.streamed(body(5, 5))).toEqual({ type: "known", echo: true });
    expect(cache.get(KEY)?.spec).toEqual({ size: 5 });
  });

  it("never goes back behind an own write when the stream is late", () => {
    const cache = new Cache();
    cache.streamed(body(1, 1));
    cache.wrote(body(5, 5));
    expect(cache.streamed(body(3, 3))).toEqual({ type: "known", echo: true });
    expect(cache.get(KEY)?.spec).toEqual({ size: 5 });
  });

  it("takes a change that is newer than the own write", () => {
    const cache = new Cache();
    cache.streamed(body(1, 1));
    cache.wrote(body(5, 5));
    expect(cache.streamed(body(6, 6)).type).toBe("changed");
    expect(cache.get(KEY)?.spec).toEqual({ size: 6 });
  });

  it("does not bring a deleted object back when the answer to a write comes late", () => {
    const cache = new Cache();
    cache.streamed(body(1));
    cache.removed(body(7));
    expect(cache.wrote(body(5))).toBe(false);
    expect(cache.get(KEY)).toBeUndefined();
  });

  it("forgets an own write that the stream has passed without showing it", () => {
    const cache = new Cache();
    cache.wrote(body(5));
    cache.reached("9");
    expect(cache.get(KEY)).toBeUndefined();
  });

  it("lists own creations that the stream has not shown yet", () => {
    const cache = new Cache();
    cache.wrote(body(5));
    expect([...cache.values()]).toHaveLength(1);
    cache.streamed(body(5));
    expect([...cache.values()]).toHaveLength(1);
  });

  it("compares versions as numbers, not as texts", () => {
    const cache = new Cache();
    cache.streamed(body(9, 9));
    cache.wrote(body(10, 10));
    expect(cache.get(KEY)?.spec).toEqual({ size: 10 });
  });
});
