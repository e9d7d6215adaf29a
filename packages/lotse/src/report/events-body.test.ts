import { byteLength, isDns1123Subdomain } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutMiddle,
  type EventInput,
  eventBody,
  eventName,
  eventNamespace,
  eventTimestamp,
  headOf,
  isAboutEvent,
  normalEvent,
} from "./events-body.ts";

const object = { apiVersion: "v1", kind: "Pod", namespace: "team-a", name: "web", uid: "u1" };
const event: EventInput = { type: "Normal", reason: "Started", message: "it runs", object };
const tally = { count: 3, firstAt: Date.parse("2026-01-01T00:00:00.987Z"), lastAt: Date.parse("2026-01-01T00:05:00Z") };
const reporter = { component: "exchange-rates", instance: "pod-1" };

describe("the body of an Event", () => {
  it("has what the core group asks for", () => {
    const about = { ...object, resourceVersion: "7" };
    expect(eventBody("web.1", { ...event, object: about }, tally, reporter)).toEqual({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "web.1", namespace: "team-a" },
      involvedObject: {
        apiVersion: "v1",
        kind: "Pod",
        namespace: "team-a",
        name: "web",
        uid: "u1",
        resourceVersion: "7",
      },
      type: "Normal",
      reason: "Started",
      message: "it runs",
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:05:00Z",
      count: 3,
      source: { component: "exchange-rates" },
      reportingComponent: "exchange-rates",
      reportingInstance: "pod-1",
    });
  });

  it("lies in the namespace default for cluster-scoped objects, whose reference names no namespace", () => {
    const node = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u2" };
    expect(eventNamespace(node)).toBe("default");
    const body = eventBody("n1.1", { ...event, object: node }, tally, reporter);
    expect(body.metadata?.namespace).toBe("default");
    expect(body.involvedObject).toEqual({ apiVersion: "v1", kind: "Node", name: "n1", uid: "u2" });
  });

  it("cuts a long instance at 128 bytes", () => {
    const body = eventBody("n", event, tally, { ...reporter, instance: "i".repeat(300) });
    expect(body.reportingInstance).toHaveLength(128);
  });

  it("writes whole seconds, as Kubernetes' Time has them", () => {
    expect(eventTimestamp(Date.parse("2026-03-04T05:06:07.999Z"))).toBe("2026-03-04T05:06:07Z");
  });
});

describe("the limits of the API server", () => {
  it("leave a message of 1024 bytes alone and cut the middle out of a longer one", () => {
    const fits = "x".repeat(1024);
    expect(normalEvent({ ...event, message: fits }).message).toBe(fits);
    const { message } = normalEvent({ ...event, message: `begin ${"x".repeat(2000)} end` });
    expect(message).toHaveLength(1024);
    expect(message).toMatch(/^begin x+\.\.\.x+ end$/);
  });

  it("cut a reason at 128 bytes", () => {
    expect(normalEvent({ ...event, reason: "R".repeat(200) }).reason).toBe("R".repeat(128));
  });

  it("turn an empty reason into a word", () => {
    expect(normalEvent({ ...event, reason: "" }).reason).toBe("Unknown");
  });

  it("count bytes, and no character is cut in two", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 64 }), (value, bytes) => {
        const cut = cutMiddle(value, bytes);
        expect(byteLength(cut)).toBeLessThanOrEqual(bytes);
        expect(Buffer.from(cut).toString()).toBe(cut);
        if (byteLength(value) <= bytes) expect(cut).toBe(value);
        else {
          const [head = "", tail = ""] = [cut.slice(0, cut.indexOf("...")), cut.slice(cut.lastIndexOf("...") + 3)];
          expect(value.startsWith(head) && value.endsWith(tail)).toBe(true);
          expect(byteLength(cut)).toBeGreaterThan(bytes - 8);
        }
        expect(value.startsWith(headOf(value, bytes))).toBe(true);
      }),
    );
  });
});

describe("the name of an Event", () => {
  it("begins with the object's and is unique by time and chance", () => {
    expect(eventName(object, 0x19b75b7c000, () => 0.5)).toBe("web.19b75b7c00080000");
    expect(eventName(object, 0x19b75b7c000, () => 0)).toBe("web.19b75b7c00000000");
  });

  it("is a DNS name whatever the object is called", () => {
    const name = fc.oneof(fc.string({ maxLength: 300 }), fc.constantFrom("system:node", "a".repeat(253), "A_b/C", ""));
    fc.assert(
      fc.property(name, (value) => {
        expect(isDns1123Subdomain(eventName({ ...object, name: value }, 1_780_000_000_000, () => 0.999))).toBe(true);
      }),
    );
  });
});

describe("an Event about an Event", () => {
  it("is recognised in both groups, and another kind of that name is not", () => {
    const about = (apiVersion: string, kind = "Event") => isAboutEvent({ ...object, apiVersion, kind });
    expect(about("v1")).toBe(true);
    expect(about("events.k8s.io/v1")).toBe(true);
    expect(about("party.example.com/v1")).toBe(false);
    expect(about("v1", "Pod")).toBe(false);
  });
});
