import { identityKeyOf, objectKeyOf } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import type { Aborted } from "../declare/index.ts";
import { newMemory, seeDeletion, seeGone, takeEvents, takeFailures } from "./memory.ts";
import { Stop } from "./stop.ts";

const body = { metadata: { name: "one", namespace: "a", uid: "u" } };

describe("what is remembered of an object", () => {
  it("sees its deletion mark once", () => {
    const memory = newMemory(identityKeyOf(objectKeyOf("a", "one"), "u"), "u", 0);
    expect([seeDeletion(memory), seeDeletion(memory)]).toEqual([true, false]);
    expect(memory.life).toEqual({ state: "deleting", isNew: true, handled: false });
  });

  it("stops what runs when the object is gone, and knows no deletion mark afterwards", () => {
    const memory = newMemory(identityKeyOf(objectKeyOf("a", "one"), "u"), "u", 0);
    const running = new Stop();
    memory.running = running;
    seeGone(memory, body);
    expect((running.reason as Aborted).why).toBe("deletion");
    expect(memory.life).toEqual({ state: "gone", body, handled: false });
    expect(seeDeletion(memory)).toBe(false);
  });

  it("tells of events and failures once", () => {
    const memory = newMemory(identityKeyOf(objectKeyOf("a", "one"), "u"), "u", 0);
    memory.inbox.events = [{ type: "ADDED", body }];
    memory.inbox.failures = [{ handler: "h", reason: "create", error: "boom", attempts: 1 }];
    expect([takeEvents(memory), takeEvents(memory)]).toEqual([[{ type: "ADDED", body }], []]);
    expect([takeFailures(memory).length, takeFailures(memory).length]).toEqual([1, 0]);
  });
});
