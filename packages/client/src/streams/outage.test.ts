/** What streams do while the server is away, and when it is back. */
import { setMaxListeners } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeKind } from "../kinds/index.ts";
import { VirtualClock } from "../meta/index.ts";
import {
  apiErrorFrom,
  ConnectionError,
  type RawRequest,
  type RawResponse,
  ServerReachability,
  tellingReachability,
} from "../transport/index.ts";
import type { StreamClient, StreamOptions } from "./contract.ts";
import { openStream } from "./stream.ts";

const refused = (request: RawRequest) => new ConnectionError("connection refused", { request, sent: false });
const status = (code: number) => (request: RawRequest) => apiErrorFrom(code, { message: `${code}` }, request);

/** The same numbers in [0, 1) each time. */
function chance(): () => number {
  let last = 1;
  return () => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
}

/** A server without objects. Whatever `fails` says of a request is thrown at it. */
function server() {
  const clock = new VirtualClock();
  const requests: { readonly at: number; readonly path: string; readonly watch: boolean }[] = [];
  const reachability = new ServerReachability(clock);
  const state = { fails: (_: RawRequest): Error | undefined => undefined };
  const transport = tellingReachability(
    {
      async request(request): Promise<RawResponse> {
        requests.push({ at: clock.monotonic(), path: request.path, watch: request.query?.watch === true });
        const error = state.fails(request);
        if (error) throw error;
        const json = async <T>() => ({ items: [], metadata: { resourceVersion: "1" } }) as T;
        const body = new PassThrough();
        request.signal?.addEventListener("abort", () => body.destroy(), { once: true });
        return { status: 200, headers: {}, json, text: async () => "", body };
      },
      close: async () => {},
    },
    reachability,
  );
  const client: StreamClient = { raw: (request) => transport.request(request), reachability };
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const random = chance();
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });
  const open = (kind: string, o: StreamOptions = {}, signal = stop.signal) =>
    openStream(
      client,
      describeKind({ group: "", version: "v1", kind }),
      { clock, random, ...o },
      { replace: () => {}, apply: () => {}, remove: () => {} },
      signal,
    );
  const ask = (path: string) => client.raw({ method: "GET", path }).catch(() => undefined);
  const since = (at: number) => requests.filter((request) => request.at >= at);
  return { clock, state, requests, open, ask, since };
}

const kinds = (count: number) => Array.from({ length: count }, (_, i) => `Kind${i}`);
const timesOf = (requests: readonly { readonly at: number; readonly path: string }[], path: string) =>
  requests.filter((one) => one.path.endsWith(path)).map(({ at }) => at);

describe("while the server is away", () => {
  it.each([20_000, 40_000])("for %i ms, one stream is open again within 3 s of its return", async (downMs) => {
    const { clock, state, open, since } = server();
    state.fails = refused;
    void open("Pod");
    await clock.advance(downMs);
    state.fails = () => undefined;
    await clock.advance(3_000);
    expect(since(downMs).some(({ watch }) => watch)).toBe(true);
  });

  it.each([20_000, 40_000])("and a proxy answers 503 for %i ms, it is the same", async (downMs) => {
    const { clock, state, open, since } = server();
    state.fails = status(503);
    void open("Pod");
    await clock.advance(downMs);
    state.fails = () => undefined;
    await clock.advance(3_000);
    expect(since(downMs).some(({ watch }) => watch)).toBe(true);
  });

  it("for half an hour, it is asked less and less, and one stream is open again within 15 s of its return", async () => {
    const { clock, state, open, requests, since } = server();
    state.fails = refused;
    void open("Pod");
    await clock.advance(1_800_000);
    expect(requests.length).toBeLessThan(300);
    state.fails = () => undefined;
    await clock.advance(15_000);
    expect(since(1_800_000).some(({ watch }) => watch)).toBe(true);
  });

  it("only one of many streams looks again and again, and all are open within 3 s of its return", async () => {
    const { clock, state, open, requests, since } = server();
    state.fails = refused;
    for (const kind of kinds(50)) void open(kind);
    await clock.advance(10_000);
    const before = requests.length;
    await clock.advance(30_000);
    // Fifty that wait between 6 and 30 s, and one scout that waits between 1.25 and 2.5 s.
    expect(requests.length - before).toBeLessThanOrEqual(50 * 4 + 24);
    state.fails = () => undefined;
    await clock.advance(3_000);
    expect(new Set(since(40_000).flatMap(({ watch, path }) => (watch ? [path] : []))).size).toBe(50);
  });

  it("any answer to anybody has all streams tried at once, but not in the same millisecond", async () => {
    const { clock, state, open, ask, since } = server();
    state.fails = refused;
    // Own patience: no stream is the scout, and their next tries are a minute away.
    for (const kind of kinds(20)) void open(kind, { backoff: () => 60_000 });
    await clock.advance(59_000);
    state.fails = () => undefined;
    await ask("/version");
    await clock.advance(300);
    const lists = since(59_000).filter(({ watch, path }) => !watch && path !== "/version");
    expect(lists).toHaveLength(20);
    expect(new Set(lists.map(({ at }) => at)).size).toBeGreaterThan(10);
  });

  it("another stream becomes the one that looks when the first is closed", async () => {
    const { clock, state, open, since } = server();
    state.fails = refused;
    const first = new AbortController();
    void open("First", {}, first.signal);
    await clock.advance(1);
    void open("Second");
    await clock.advance(60_000);
    first.abort();
    await clock.advance(300);
    const left = clock.monotonic();
    await clock.advance(30_000);
    const tries = timesOf(since(left), "seconds");
    expect(tries.length).toBeGreaterThanOrEqual(5);
  });
});

describe("what stays broken while everything else is answered", () => {
  it("is asked less and less, however often others are answered", async () => {
    const { clock, state, open, ask, requests, since } = server();
    state.fails = (request) => (request.path.endsWith("brokens") ? status(503)(request) : undefined);
    void open("Broken");
    for (let second = 0; second < 600; second++) {
      await ask("/version");
      await clock.advance(1_000);
    }
    expect(timesOf(requests, "brokens").length).toBeLessThan(150);
    // After eight minutes: no more than five times a minute.
    expect(timesOf(since(480_000), "brokens").length).toBeLessThanOrEqual(15);
  });
});

describe("a list that is forbidden", () => {
  it("is asked for at most every minute after a while, and streams by itself when it is allowed", async () => {
    const { clock, state, open, requests, since } = server();
    state.fails = status(403);
    void open("Secret");
    await clock.advance(600_000);
    expect(requests.length).toBeLessThan(20);
    expect(since(300_000).length).toBeLessThanOrEqual(10);
    state.fails = () => undefined;
    await clock.advance(60_000);
    expect(requests.at(-1)?.watch).toBe(true);
  });
});

describe("a kind that is not there", () => {
  it("is looked for every few seconds, and at once when somebody knows that it has come", async () => {
    const { clock, state, open, since } = server();
    state.fails = status(404);
    let wake = () => {};
    const waits: unknown[] = [];
    const onWait = (error: unknown, call: () => void) => {
      waits.push(error);
      wake = call;
      return () => {
        wake = () => {};
      };
    };
    void open("Rack", { onWait });
    await clock.advance(600_000);
    expect(timesOf(since(540_000), "racks").length).toBeGreaterThanOrEqual(6);
    expect(waits.at(-1)).toMatchObject({ status: 404 });
    state.fails = () => undefined;
    wake();
    await clock.advance(0);
    expect(since(600_000).some(({ watch }) => watch)).toBe(true);
  });
});
