import { describe, expect, it } from "vitest";
import { peerIdentity, personIdentity } from "./identity.ts";
import { formatPeer, parsePeers, wholeSeconds } from "./records.ts";

describe("a record", () => {
  it("of Kopf is read with its time zone, and without one as UTC", () => {
    const peers = parsePeers({
      "me@laptop/20260101120000/abc": { priority: 666, lifetime: 60, lastseen: "2026-01-01T12:00:00.123456+00:00" },
      old: { priority: 0, lifetime: 60, lastseen: "2026-01-01T12:00:00.123456" },
    });
    expect(peers.get("me@laptop/20260101120000/abc")).toMatchObject({
      priority: 666,
      lifetimeMs: 60_000,
      lastSeen: Date.parse("2026-01-01T12:00:00.123Z"),
      lotse: undefined,
    });
    expect(peers.get("old")?.lastSeen).toBe(Date.parse("2026-01-01T12:00:00.123Z"));
  });

  it("that says less counts as Kopf's defaults do, and what is no record is passed over", () => {
    const peers = parsePeers({ a: {}, b: "text", c: null, d: { priority: "7", lifetime: "5", lastseen: "never" } });
    expect([...peers.keys()]).toEqual(["a", "d"]);
    expect(peers.get("a")).toMatchObject({ priority: 0, lifetimeMs: 60_000, lastSeen: undefined });
    expect(peers.get("d")).toMatchObject({ priority: 7, lifetimeMs: 5_000, lastSeen: undefined });
    expect(parsePeers(undefined).size).toBe(0);
  });

  it("is written as Kopf reads it, in whole seconds, and comes back as it was", () => {
    const lotse = { says: "paused", since: "2026-01-01T00:00:00.000Z", instance: "abc" } as const;
    const record = formatPeer({ priority: 5, lifetimeMs: 14_500, now: Date.parse("2026-01-01T12:00:00Z"), lotse });
    expect(record).toEqual({ priority: 5, lifetime: 15, lastseen: "2026-01-01T12:00:00.000Z", lotse });
    expect(parsePeers({ a: record }).get("a")).toMatchObject({ priority: 5, lifetimeMs: 15_000, lotse });
    expect(formatPeer({ priority: 5, lifetimeMs: 1, now: 0 })).toEqual({
      ...{ priority: 5, lifetime: 1, lastseen: "1970-01-01T00:00:00.000Z" },
    });
    expect(wholeSeconds(60_000)).toBe(60);
  });

  it("whose own part is of another form is as one of Kopf", () => {
    const peers = parsePeers({ a: { lotse: { says: "sleeping", since: "x", instance: "y" } }, b: { lotse: true } });
    expect([...peers.values()].map(({ lotse }) => lotse)).toEqual([undefined, undefined]);
  });
});

describe("an identity", () => {
  const now = Date.parse("2026-11-17T12:34:56.789Z");
  const random = () => 0;

  it("is the pod's, where there is one: by POD_ID, as Kopf has it, else by POD_NAME", () => {
    const environment = { POD_ID: "rates-1", POD_NAME: "rates-2" };
    expect(peerIdentity({ environment, now, random })).toBe("rates-1");
    expect(peerIdentity({ environment: { POD_NAME: "rates-2" }, now, random })).toBe("rates-2");
  });

  it("is elsewhere who runs it, since when, and something random", () => {
    const system = { user: () => "nobody", host: () => "laptop" };
    const person = personIdentity({ USER: "ada" }, system);
    expect(person).toBe("ada@laptop");
    expect(peerIdentity({ environment: {}, now, random, person })).toBe("ada@laptop/20261117123456/aaa");
    expect(peerIdentity({ environment: {}, now, random: () => 0.999, person })).toBe("ada@laptop/20261117123456/999");
    expect(personIdentity({}, system)).toBe("nobody@laptop");
    expect(personIdentity({})).toMatch(/^.+@.+$/);
  });
});
