import { describe, expect, it } from "vitest";
import type { Moment } from "./fence.ts";
import { begin, type LeaseInput, type LeaseState, type LeaseStep, type LeaseTask, next, requestMs } from "./machine.ts";
import { type LeaseBody, type LeaseClaim, readLease, WRITER_ANNOTATION } from "./record.ts";

const claim: LeaseClaim = {
  name: "rates",
  namespace: "default",
  identity: "me",
  writer: "run-1",
  durationMs: 15_000,
  renewMs: 10_000,
  retryMs: 2_000,
};
const WALL = Date.parse("2026-01-01T00:00:00Z");
const moment = (monotonic: number, now = WALL + monotonic): Moment => ({ monotonic, now });

const lease = (version: number, holder: string | undefined, writer?: string, seconds = 15): LeaseBody => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: {
    name: "rates",
    namespace: "default",
    resourceVersion: String(version),
    labels: { team: "a" },
    annotations: { note: "kept", ...(writer !== undefined && { [WRITER_ANNOTATION]: writer }) },
  },
  spec: {
    holderIdentity: holder ?? "",
    leaseDurationSeconds: seconds,
    leaseTransitions: 3,
    renewTime: "1999-01-01T00:00:00.000000Z",
  },
});
const record = (...parts: Parameters<typeof lease>) => readLease(lease(...parts), claim);

/** A machine that remembers where it is. */
class Played {
  state: LeaseState;
  task: LeaseTask | undefined;
  event: LeaseStep["event"];
  #random: number;

  constructor(random = 0) {
    this.#random = random;
    const { state, task } = begin({ now: moment(0), random: () => random, claim });
    this.state = state;
    this.task = task;
  }

  feed(input: LeaseInput, at: number, wall?: number): this {
    const step = next(this.state, input, { now: moment(at, wall), random: () => this.#random, claim });
    this.state = step.state;
    this.task = step.task;
    this.event = step.event;
    return this;
  }

  /** The body of the write that is asked for. */
  get body(): LeaseBody {
    if (this.task?.run !== "write") throw new Error(`it is to ${this.task?.run}`);
    return this.task.body;
  }

  /** What was asked for has landed. */
  land(version: number, at: number, sentAt = at): this {
    const body = { ...this.body, metadata: { ...this.body.metadata, resourceVersion: String(version) } };
    return this.feed({ is: "written", record: readLease(body, claim), sentAt: moment(sentAt) }, at);
  }
}

const seen = (...parts: Parameters<typeof lease>): LeaseInput => ({
  is: "seen",
  record: record(...parts),
  version: String(parts[0]),
});
/** Holds the Lease since 0, with version 8. */
const holding = (random?: number) =>
  new Played(random).feed({ is: "read", record: record(7, undefined) }, 0).land(8, 0);
/** Knows since 0 that another process holds it. */
const following = (random?: number) => new Played(random).feed({ is: "read", record: record(7, "other", "x") }, 0);

describe("a process that begins", () => {
  it("looks first", () => {
    expect(new Played().task).toEqual({ run: "read" });
  });

  it("makes the Lease where there is none, and leads", () => {
    const played = new Played().feed({ is: "read", record: undefined }, 0);
    expect(played.task).toMatchObject({ run: "write", what: "take", verb: "create" });
    expect(played.body).toEqual({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "rates", namespace: "default", annotations: { [WRITER_ANNOTATION]: "run-1" } },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-01T00:00:00.000000Z",
        renewTime: "2026-01-01T00:00:00.000000Z",
        leaseTransitions: 0,
      },
    });
    expect(played.land(1, 5).event).toEqual({ tell: "lead" });
    expect(played.task).toEqual({ run: "wait", until: 2_005 });
  });

  it("takes at once what was given back, and keeps what others wrote into it", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0);
    expect(played.body).toMatchObject({
      metadata: { resourceVersion: "7", labels: { team: "a" }, annotations: { note: "kept" } },
      spec: { holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 4 },
    });
  });

  it("gives another holder the whole time of its record from when it was seen, whatever the record's times say", () => {
    const played = following().feed({ is: "watched", watched: true }, 10);
    expect(played.task).toEqual({ run: "wait", until: 15_000 });
    expect(played.feed({ is: "due" }, 14_999).task).toEqual({ run: "wait", until: 15_000 });
    expect(played.feed({ is: "due" }, 15_000).task).toMatchObject({ run: "write", what: "take", verb: "update" });
    expect(played.body.spec).toMatchObject({ holderIdentity: "me", leaseTransitions: 4 });
  });

  it("counts the time by its monotonic clock alone when it waits for another", () => {
    const played = following().feed({ is: "watched", watched: true }, 10);
    expect(played.feed({ is: "due" }, 5_000, WALL + 3_600_000).task).toEqual({ run: "wait", until: 15_000 });
  });

  it("believes the duration of the record, and its own where there is none", () => {
    const long = new Played().feed({ is: "read", record: record(7, "other", "x", 60) }, 0);
    expect(long.feed({ is: "watched", watched: true }, 0).task).toEqual({ run: "wait", until: 60_000 });
    const none = new Played().feed({ is: "read", record: record(7, "other", "x", 0) }, 0);
    expect(none.feed({ is: "watched", watched: true }, 0).task).toEqual({ run: "wait", until: 15_000 });
  });

  it("takes every new version for a sign of life, and the same one for none", () => {
    const played = following().feed({ is: "watched", watched: true }, 0);
    expect(played.feed(seen(8, "other", "x"), 4_000).task).toEqual({ run: "wait", until: 19_000 });
    expect(played.feed(seen(8, "other", "x"), 5_000).task).toEqual({ run: "wait", until: 19_000 });
    expect(played.feed(seen(7, "other", "x"), 6_000).task).toEqual({ run: "wait", until: 19_000 });
  });

  it("looks again and again where changes are not shown, with some spread", () => {
    expect(following().task).toEqual({ run: "wait", until: 2_000 });
    expect(following(0.5).task).toEqual({ run: "wait", until: 2_200 });
    expect(following().feed({ is: "due" }, 2_000).task).toEqual({ run: "read" });
  });

  it("does not take the record of another process with its identity for its own", () => {
    const twin = new Played().feed({ is: "read", record: record(7, "me", "run-0") }, 0);
    expect(twin.feed({ is: "watched", watched: true }, 0).task).toEqual({ run: "wait", until: 15_000 });
    twin.feed({ is: "due" }, 15_000);
    expect(twin.body.spec?.leaseTransitions).toBe(4);
  });

  it("does not take a Lease that vanished before its holder's time is over", () => {
    const played = following().feed({ is: "watched", watched: true }, 0);
    played.feed({ is: "seen", record: undefined, version: "9" }, 3_000);
    expect(played.task).toEqual({ run: "wait", until: 15_000 });
    expect(played.feed({ is: "due" }, 15_000).task).toMatchObject({ run: "write", verb: "create" });
  });
});

describe("a process that wants the Lease", () => {
  it("reads it when another was first, and waits for that one", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0).feed({ is: "conflict" }, 20);
    expect(played.task).toEqual({ run: "read" });
    expect(played.feed({ is: "read", record: record(8, "other", "x") }, 40).task).toEqual({
      run: "wait",
      until: 2_040,
    });
  });

  it("asks who took it when its own answer was lost, and finds its own record", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0).feed({ is: "failed" }, 3_000);
    expect(played.task).toEqual({ run: "read" });
    played.feed({ is: "read", record: record(8, "me", "run-1") }, 3_010);
    expect(played.task).toMatchObject({ run: "write", what: "take" });
    expect(played.body.spec?.leaseTransitions).toBe(3);
    expect(played.land(9, 3_020).event).toEqual({ tell: "lead" });
  });

  it("does not lead by an answer that comes when its time is over, and tries again", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0).land(8, 10_000, 0);
    expect([played.event, played.state.renewed]).toEqual([undefined, undefined]);
    expect(played.task).toMatchObject({ run: "write", what: "take" });
  });

  it("waits after a failure, but not for the time that the failure took", () => {
    expect(new Played().feed({ is: "failed" }, 500).task).toEqual({ run: "wait", until: 2_000 });
    expect(new Played().feed({ is: "failed" }, 3_300).task).toEqual({ run: "read" });
  });

  it("does not run after a program that writes all the time", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0);
    for (let version = 8; version < 10; version++) {
      played.feed({ is: "conflict" }, 0).feed({ is: "read", record: record(version, undefined) }, 0);
      expect(played.task).toMatchObject({ run: "write" });
    }
    expect(played.feed({ is: "conflict" }, 0).task).toEqual({ run: "wait", until: 2_000 });
  });
});

describe("a process that holds the Lease", () => {
  it("renews it from its last record, without reading", () => {
    const played = holding(0.5);
    expect(played.task).toEqual({ run: "wait", until: 2_200 });
    expect(played.feed({ is: "due" }, 2_200).task).toMatchObject({ run: "write", what: "renew", verb: "update" });
    expect(played.body).toMatchObject({
      metadata: { resourceVersion: "8", annotations: { note: "kept" } },
      spec: { acquireTime: "2026-01-01T00:00:00.000000Z", renewTime: "2026-01-01T00:00:02.200000Z" },
    });
    expect(played.land(9, 2_300, 2_200).event).toBeUndefined();
    expect(played.state.renewed).toEqual(moment(2_200));
    expect(played.task).toEqual({ run: "wait", until: 4_400 });
  });

  it("looks when its renewal met another write, and goes on where that was not a taking", () => {
    const played = holding().feed({ is: "due" }, 2_000).feed({ is: "conflict" }, 2_010);
    expect(played.task).toEqual({ run: "read" });
    played.feed({ is: "read", record: record(12, "me", "run-1") }, 2_020);
    expect(played.task).toMatchObject({ run: "write", what: "renew" });
    expect(played.body.metadata?.resourceVersion).toBe("12");
  });

  it("has lost it when another holds it, by a read or by a watch, with its own identity too", () => {
    const read = holding().feed({ is: "due" }, 2_000).feed({ is: "conflict" }, 2_010);
    expect(read.feed({ is: "read", record: record(12, "other", "x") }, 2_020).event).toEqual({
      tell: "follow",
      why: "taken",
    });
    expect(holding().feed(seen(9, "me", "run-2"), 100).event).toEqual({ tell: "follow", why: "taken" });
    expect(holding().feed({ is: "seen", record: undefined, version: "9" }, 100).event).toMatchObject({
      why: "deleted",
    });
  });

  it("does not heed what a watch shows late", () => {
    const played = holding().feed(seen(6, "other", "x"), 100);
    expect([played.event, played.state.renewed]).toEqual([undefined, moment(0)]);
  });

  it("does not heed a watch whose versions cannot be compared", () => {
    const strange: LeaseInput = { is: "seen", record: record(6, "other", "x"), version: "abc" };
    expect(holding().feed(strange, 100).event).toBeUndefined();
  });

  it("tries several times, and has lost it at the last moment", () => {
    const played = holding().feed({ is: "due" }, 2_000).feed({ is: "failed" }, 2_500);
    expect(played.task).toEqual({ run: "wait", until: 4_000 });
    played.feed({ is: "due" }, 4_000).feed({ is: "failed" }, 7_300);
    expect(played.task).toMatchObject({ run: "write", what: "renew" });
    played.feed({ is: "failed" }, 9_500);
    expect(played.task).toMatchObject({ run: "write", what: "renew" });
    expect(played.feed({ is: "failed" }, 10_000).event).toEqual({ tell: "follow", why: "late" });
  });

  it("has lost it when the clock on the wall says so: the machine may have slept", () => {
    expect(holding().feed({ is: "due" }, 1_000, WALL + 10_000).event).toEqual({ tell: "follow", why: "late" });
    expect(holding().feed({ is: "due" }, 1_000, WALL - 60_000).event).toBeUndefined();
  });

  it("takes nothing until what it lost has ended, however late the answer to its renewal", () => {
    const played = holding().feed({ is: "due" }, 2_000);
    const { body } = played;
    expect(played.feed({ is: "due" }, 10_000).event).toMatchObject({ why: "late" });
    const landed = { ...body, metadata: { ...body.metadata, resourceVersion: "9" } };
    played.feed({ is: "written", record: readLease(landed, claim), sentAt: moment(2_000) }, 10_500);
    expect([played.event, played.state.renewed]).toEqual([undefined, undefined]);
    expect(played.task).toEqual({ run: "wait", until: Number.POSITIVE_INFINITY });
    expect(played.feed({ is: "settled" }, 11_000).task).toMatchObject({ run: "write", what: "take" });
    expect(played.land(10, 11_010).event).toEqual({ tell: "lead" });
  });
});

describe("a process that ends", () => {
  it("keeps what it holds, and takes nothing", () => {
    expect(holding().feed({ is: "leave" }, 100).feed({ is: "due" }, 2_000).task).toMatchObject({ what: "renew" });
    const other = following().feed({ is: "leave" }, 100).feed(seen(8, undefined), 200);
    expect(other.task).toEqual({ run: "wait", until: Number.POSITIVE_INFINITY });
  });

  it("closes its fence before it gives the Lease back", () => {
    const played = holding().feed({ is: "release" }, 500);
    expect(played.event).toEqual({ tell: "follow", why: "released" });
    expect(played.state.renewed).toBeUndefined();
    expect(played.body).toMatchObject({
      metadata: { resourceVersion: "8" },
      spec: { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 4 },
    });
    expect(played.land(9, 510).task).toEqual({ run: "end" });
  });

  it("gives back what a renewal that was under way has written meanwhile", () => {
    const played = holding().feed({ is: "due" }, 2_000);
    const { body } = played;
    expect(played.feed({ is: "release" }, 2_001).task).toBeUndefined();
    const landed = { ...body, metadata: { ...body.metadata, resourceVersion: "9" } };
    played.feed({ is: "written", record: readLease(landed, claim), sentAt: moment(2_000) }, 2_010);
    expect(played.state.renewed).toBeUndefined();
    expect(played.task).toMatchObject({ run: "write", what: "release" });
    expect(played.body.metadata?.resourceVersion).toBe("9");
  });

  it("gives back what it took when it was already told to go", () => {
    const played = new Played().feed({ is: "read", record: record(7, undefined) }, 0);
    const { body } = played;
    played.feed({ is: "leave" }, 5);
    const landed = { ...body, metadata: { ...body.metadata, resourceVersion: "8" } };
    played.feed({ is: "written", record: readLease(landed, claim), sentAt: moment(0) }, 10);
    expect(played.state.renewed).toBeUndefined();
    expect(played.feed({ is: "release" }, 20).task).toMatchObject({ run: "write", what: "release" });
  });

  it("leaves alone what is not its own", () => {
    expect(following().feed({ is: "release" }, 10).task).toEqual({ run: "end" });
    const lost = holding().feed({ is: "release" }, 10).feed({ is: "conflict" }, 20);
    expect(lost.task).toEqual({ run: "read" });
    expect(lost.feed({ is: "read", record: record(9, "other", "x") }, 30).task).toEqual({ run: "end" });
  });

  it("tries to give it back for a while, and no longer", () => {
    const played = holding().feed({ is: "release" }, 0).feed({ is: "failed" }, 100);
    expect(played.task).toEqual({ run: "wait", until: 2_000 });
    expect(played.feed({ is: "due" }, 2 * requestMs(claim)).task).toEqual({ run: "end" });
  });
});

describe("the time of a request", () => {
  it("leaves room for several of them within the time to renew", () => {
    expect(requestMs(claim)).toBeCloseTo(3_333, 0);
    expect(requestMs({ renewMs: 3_000, retryMs: 2_400 })).toBe(1_500);
  });
});
