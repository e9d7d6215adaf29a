import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { AdaptiveLimit, kindOfRequest, type LimitSample, MOST_IN_FLIGHT } from "./limit.ts";

const KIND = "GET pods/";

/** A client with endless work against a server with `workers` of them; more requests wait there, or are turned away. */
async function work(
  limit: AdaptiveLimit,
  server: { workers: number; serviceMs: number; queue?: number },
  rounds: number,
): Promise<{ refused: number; answered: number }> {
  const clock = new VirtualClock();
  const outcome = { refused: 0, answered: 0 };
  let [inFlight, started] = [0, 0];
  const freeAt = new Array<number>(server.workers).fill(0);
  const send = () => {
    while (inFlight < limit.current && started < rounds) {
      started++;
      inFlight++;
      const sample = { kind: KIND, startedAt: clock.monotonic(), inFlight };
      const finish = (overloaded: boolean) => {
        inFlight--;
        outcome[overloaded ? "refused" : "answered"]++;
        const endedAt = clock.monotonic();
        limit.observe({ ...sample, endedAt, latencyMs: endedAt - sample.startedAt, overloaded });
        send();
      };
      if (inFlight > server.workers + (server.queue ?? Number.POSITIVE_INFINITY)) {
        clock.after(1, () => finish(true));
        continue;
      }
      const worker = freeAt.indexOf(Math.min(...freeAt));
      freeAt[worker] = Math.max(freeAt[worker] as number, clock.monotonic()) + server.serviceMs;
      clock.after((freeAt[worker] as number) - clock.monotonic(), () => finish(false));
    }
  };
  send();
  while (clock.pending > 0) await clock.advance(server.serviceMs);
  return outcome;
}

const sample = (o: Partial<LimitSample>): LimitSample => ({
  kind: KIND,
  startedAt: 0,
  endedAt: 10,
  latencyMs: 10,
  inFlight: 32,
  overloaded: false,
  ...o,
});

describe("the limit on requests in flight", () => {
  it("begins at 32, and grows to its maximum with a server that keeps up", async () => {
    const limit = new AdaptiveLimit();
    expect(limit.current).toBe(32);
    await work(limit, { workers: 1_000, serviceMs: 10 }, 60_000);
    expect(limit.current).toBe(MOST_IN_FLIGHT);
  });

  it("grows by one for each round trip that used it up", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 33; i++) limit.observe(sample({}));
    expect(limit.current).toBe(33);
  });

  it("does not grow while it is not used up", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 1_000; i++) limit.observe(sample({ inFlight: 20 }));
    expect(limit.current).toBe(32);
  });

  it("halves once for all requests that were turned away together, and again for later ones", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 20; i++) limit.observe(sample({ startedAt: 0, endedAt: 5 + i, overloaded: true }));
    expect(limit.current).toBe(16);
    limit.observe(sample({ startedAt: 30, endedAt: 31, overloaded: true, inFlight: 1 }));
    expect(limit.current).toBe(8);
  });

  it("never falls below two", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 50; i++) limit.observe(sample({ startedAt: i, endedAt: i, overloaded: true }));
    expect(limit.current).toBe(2);
  });

  it("stays near what a server takes that turns others away, and turns few away", async () => {
    const limit = new AdaptiveLimit();
    const { refused, answered } = await work(limit, { workers: 20, serviceMs: 10, queue: 0 }, 20_000);
    expect(limit.current).toBeGreaterThanOrEqual(8);
    expect(limit.current).toBeLessThanOrEqual(24);
    expect(refused / answered).toBeLessThan(0.1);
  });

  it("falls when answers become slow, but not below eight", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 50; i++) limit.observe(sample({ latencyMs: 10 }));
    let at = 100;
    for (let i = 0; i < 200; i++, at += 500) {
      limit.observe(sample({ startedAt: at, endedAt: at + 500, latencyMs: 500, inFlight: 64 }));
      if (i === 20) expect(limit.current).toBeLessThan(20);
      expect(limit.current).toBeGreaterThanOrEqual(8);
    }
  });

  it("takes no offence at a slow kind of request beside a fast one, nor at a few milliseconds", () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 500; i++) {
      limit.observe(sample({ kind: "GET pods", latencyMs: 900, inFlight: 64 }));
      limit.observe(sample({ latencyMs: i % 2 === 0 ? 1 : 20, inFlight: 64 }));
    }
    expect(limit.current).toBeGreaterThan(40);
  });

  it("recovers when the server does", async () => {
    const limit = new AdaptiveLimit();
    for (let i = 0; i < 50; i++) limit.observe(sample({ startedAt: -50 + i, endedAt: -50 + i, overloaded: true }));
    await work(limit, { workers: 1_000, serviceMs: 5 }, 5_000);
    expect(limit.current).toBeGreaterThan(64);
  });

  it("stays between two and its maximum whatever happens", () => {
    const time = fc.double({ min: 0, max: 1e6, noNaN: true });
    const anySample = fc.record({
      kind: fc.constantFrom("a", "b"),
      startedAt: time,
      endedAt: time,
      latencyMs: fc.option(time, { nil: undefined }),
      inFlight: fc.integer({ min: 1, max: 500 }),
      overloaded: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anySample, { maxLength: 200 }), (samples) => {
        const limit = new AdaptiveLimit();
        for (const each of samples) limit.observe(each);
        expect(limit.current).toBeGreaterThanOrEqual(2);
        expect(limit.current).toBeLessThanOrEqual(MOST_IN_FLIGHT);
      }),
    );
  });
});

describe("the kind of a request", () => {
  it.each([
    ["GET", "/api/v1/pods", "GET pods"],
    ["GET", "/api/v1/namespaces/a/pods", "GET pods"],
    ["GET", "/api/v1/namespaces/a/pods/web", "GET pods/"],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/web/status", "PATCH deployments/status"],
    ["GET", "/api/v1/namespaces", "GET namespaces"],
    ["GET", "/api/v1/namespaces/a", "GET namespaces/"],
    ["GET", "/version", "GET /version"],
  ])("of %s %s is %s", (method, path, kind) => {
    expect(kindOfRequest({ method, path })).toBe(kind);
  });
});
