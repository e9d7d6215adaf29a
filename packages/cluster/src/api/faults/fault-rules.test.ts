import { describe, expect, it } from "vitest";
import { effectOf, type FaultMatch, type FaultRequest, isHit, matches } from "./fault-rules.ts";

const PATCH: FaultRequest = {
  verb: "patch",
  path: "/apis/example.com/v1/namespaces/default/widgets/w/status",
  resource: "widgets.example.com",
  namespace: "default",
  name: "w",
  subresource: "status",
  user: "kubernetes-admin",
  userAgent: "operator/1.0",
};

describe("matches", () => {
  it.each<[string, FaultMatch | undefined, boolean]>([
    ["everything without a match", undefined, true],
    ["everything with an empty match", {}, true],
    ["a verb", { verb: "patch" }, true],
    ["one of several verbs", { verb: ["get", "patch"] }, true],
    ["no other verb", { verb: ["get", "list"] }, false],
    ["a resource with its group", { resource: "widgets.example.com" }, true],
    ["no resource without its group", { resource: "widgets" }, false],
    ["a namespace and a name", { namespace: "default", name: "w" }, true],
    ["no other name", { name: "v" }, false],
    ["a subresource", { subresource: "status" }, true],
    ["not the objects themselves", { subresource: "" }, false],
    ["a user", { user: "kubernetes-admin" }, true],
    ["no other user", { user: "jane" }, false],
    ["a client by the beginning of its name", { userAgent: "operator/" }, true],
    ["by any other property", { when: ({ path }) => path.endsWith("/status") }, true],
    ["not when one of several differs", { verb: "patch", name: "v" }, false],
  ])("takes %s", (_, match, expected) => {
    expect(matches(match, PATCH)).toBe(expected);
  });

  it("leaves requests that name no resource alone when a resource is asked for", () => {
    expect(matches({ resource: "pods" }, { ...PATCH, resource: undefined })).toBe(false);
  });
});

describe("isHit", () => {
  it("lets some pass, then hits some, then none", () => {
    const match = { skip: 2, count: 3 };
    const hits: boolean[] = [];
    for (let seen = 0; seen < 8; seen++) hits.push(isHit(match, { seen, hits: hits.filter(Boolean).length }, 0));
    expect(hits).toEqual([false, false, true, true, true, false, false, false]);
  });

  it("hits a share by chance", () => {
    expect(isHit({ share: 0.3 }, { seen: 0, hits: 0 }, 0.29)).toBe(true);
    expect(isHit({ share: 0.3 }, { seen: 0, hits: 0 }, 0.3)).toBe(false);
  });
});

describe("effectOf", () => {
  it("spells out what is short", () => {
    expect(effectOf({ delay: "1s", reset: true, dropWatch: true, stealLease: true })).toMatchObject({
      delayMs: 1_000,
      reset: "before",
      dropAfter: 0,
      thief: "thief",
      stall: false,
      compact: false,
    });
    expect(effectOf({ dropWatch: false, reset: false, stealLease: "jane" })).toMatchObject({
      reset: undefined,
      dropAfter: undefined,
      thief: "jane",
    });
  });

  it("refuses in a real server's words", () => {
    const { refusal } = effectOf({ status: 429, retryAfter: 3 });
    expect(refusal?.toStatus()).toMatchObject({
      code: 429,
      reason: "TooManyRequests",
      message: "Too many requests, please try again later.",
      details: { retryAfterSeconds: 3 },
    });
    expect(effectOf({ status: 418, message: "teapot" }).refusal).toMatchObject({ code: 418, message: "teapot" });
  });
});
