import { apiErrorFrom, type KubeBody, type RawRequest } from "@lotse/client";
import { type LabelSelector, parseLabelSelector, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it, onTestFinished } from "vitest";
import { everything, type KindSelectors, planFieldSelectors, planLabelSelectors } from "../declare/index.ts";
import { Logger, type LogRecord } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { KindStreams } from "./kind-streams.ts";
import { FAULTS, kindOf, TestApi } from "./test-api.ts";

async function streaming(
  scopes: readonly (string | undefined)[],
  fails: TestApi["fails"] = () => undefined,
  { labels = {}, fields = {}, common = () => [], initialStreaming = "never" }: Selecting = {},
) {
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
    plan: {
      inactivityMs: 90_000,
      serverTimeoutMs: 600_000,
      reconnect: undefined,
      selectors: { labels: planLabelSelectors(labels), fields: planFieldSelectors(fields) },
    },
    settings: { watching: { pageSize: 500, initialStreaming } },
  } as unknown as Runtime;
  const logger = new Logger((line) => void lines.push(line), clock.now.bind(clock));
  const listener = { changed: () => {}, echoed: () => {}, gone: (_: KubeBody) => {}, commonLabels: () => common() };
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

interface Selecting {
  readonly labels?: KindSelectors<string>;
  readonly fields?: KindSelectors<string>;
  readonly common?: () => LabelSelector;
  readonly initialStreaming?: "never" | "auto";
}

describe("the streams of a kind", () => {
  it("ask for what the settings and the handlers have in common, in lists and watches, each time that they begin", async () => {
    const asked: string[] = [];
    const note = ({ path, query }: RawRequest) => {
      if (path.endsWith("/racks"))
        asked.push(`${query?.watch ? "watch" : "list"} ${query?.labelSelector} ${query?.fieldSelector}`);
      return undefined;
    };
    let common = parseLabelSelector("row=1");
    const { streams, clock, messages } = await streaming([undefined], note, {
      labels: { racks: "site=a", "machines.example.com": "never=asked" },
      fields: [[everything, "metadata.name!=spare"]],
      common: () => common,
    });
    const both = "row=1,site=a metadata.name!=spare";
    expect(asked.splice(0)).toEqual([`list ${both}`, `watch ${both}`]);
    expect(messages()).toEqual(["only some objects of the kind are asked for, the settings say so"]);
    common = [];
    const anew = streams.listAnew();
    await clock.advance(0);
    await anew;
    expect(asked).toEqual(["list site=a metadata.name!=spare", "watch site=a metadata.name!=spare"]);
  });

  it("say once that the server does not begin watches with all objects, however many scopes there are", async () => {
    const refuses = (request: RawRequest) =>
      request.query?.sendInitialEvents ? apiErrorFrom(422, { message: "no such feature" }, request) : undefined;
    const { phases, messages } = await streaming(["a", "b"], refuses, { initialStreaming: "auto" });
    expect(phases()).toEqual(["a watching", "b watching"]);
    expect(messages()).toEqual(["the server does not begin a watch with all objects, they are listed instead"]);
  });

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
