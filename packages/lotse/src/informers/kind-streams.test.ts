import type { KubeBody } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it, onTestFinished } from "vitest";
import { Logger, type LogRecord } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { KindStreams } from "./kind-streams.ts";
import { FAULTS, kindOf, TestApi } from "./test-api.ts";

async function streaming(scopes: readonly (string | undefined)[], fails: TestApi["fails"] = () => undefined) {
  const clock = new VirtualClock();
  const api = new TestApi(clock);
  api.fails = fails;
  api.kinds = [kindOf("racks")];
  const stopping = new AbortController();
  const lines: LogRecord[] = [];
  const runtime = {
    client: await api.connect(),
    clock,
    random: () => 0.5,
    stopping: stopping.signal,
    plan: { inactivityMs: 90_000, serverTimeoutMs: 600_000, reconnect: undefined },
    settings: { watching: { pageSize: 500 } },
  } as unknown as Runtime;
  const logger = new Logger((line) => void lines.push(line), clock.now.bind(clock));
  const listener = { changed: () => {}, echoed: () => {}, gone: (_: KubeBody) => {} };
  const streams = new KindStreams(runtime, { current: scopes }, kindOf("racks"), logger, listener);
  let ended = false;
  const end = streams.ended().then(() => {
    ended = true;
  });
  streams.begin();
  await clock.advance(0);
  onTestFinished(async () => {
    stopping.abort();
    await end;
    expect(clock.pending).toBe(0);
  });
  const messages = () => lines.filter(({ level }) => level !== "debug").map(({ message }) => message);
  const phases = () => streams.health().map(({ namespace, phase }) => `${namespace ?? "*"} ${phase}`);
  return { api, clock, streams, messages, phases, isEnded: () => ended };
}

describe("the streams of a kind", () => {
  it("are one for each scope, and a scope that is shut may be opened again at once", async () => {
    const { clock, streams, phases } = await streaming(["a", "b"]);
    expect(phases()).toEqual(["a watching", "b watching"]);
    streams.shut("a");
    streams.open("a");
    await clock.advance(0);
    expect(phases()).toEqual(["b watching", "a watching"]);
  });

  it("are known when those are that are left", async () => {
    await (await streaming([])).streams.synced;
    const { streams, phases } = await streaming(["a", "b"], (request) =>
      request.path.includes("/b/") ? FAULTS["a refusal"](request) : undefined,
    );
    expect(phases()).toEqual(["a watching", "b waiting"]);
    streams.shut("b");
    await streams.synced;
  });

  it("tell a trouble once, however many they are, and once that it is over", async () => {
    const { api, clock, messages } = await streaming(["a", "b", "c"], FAULTS["a refusal"]);
    await clock.advance(700_000);
    expect(messages()).toEqual(["the stream is interrupted, it will be opened again"]);
    api.fails = () => undefined;
    await clock.advance(60_000);
    expect(messages().slice(1)).toEqual(["the stream is open again"]);
  });

  it("try at once when the kind is served again that they wait for", async () => {
    const { api, clock, streams, phases } = await streaming([undefined]);
    api.kinds = [];
    api.fails = (request) => (request.query?.watch ? FAULTS["a refusal"](request) : undefined);
    await clock.advance(700_000);
    expect(phases()).toEqual(["* waiting"]);
    api.fails = () => undefined;
    await clock.advance(5_000);
    expect(phases()).toEqual(["* waiting"]);
    api.kinds = [kindOf("racks")];
    streams.served();
    await clock.advance(0);
    expect(phases()).toEqual(["* watching"]);
  });

  it("end when the kind is given up, and leave no timer", async () => {
    const { clock, streams, phases, isEnded } = await streaming(["a", "b"]);
    expect(streams.close()).toEqual([]);
    await clock.advance(0);
    expect([phases(), isEnded(), clock.pending]).toEqual([[], true, 0]);
  });
});
