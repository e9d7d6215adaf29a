import type { KindDescription, RawRequest } from "@lotse/client";
import { kindKey, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it, onTestFinished } from "vitest";
import { Declarations, everything, type KindPlan } from "../declare/index.ts";
import { Logger, type LogRecord } from "../report/index.ts";
import { KindScanner } from "./kind-scanner.ts";
import { FAULTS, kindOf, TestApi } from "./test-api.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const everyKind = ({ on }: Declarations) => on.event(everything, function look() {});

/** A scanner that has looked once and looks on; `news` is what it tells. */
async function scanning(api: TestApi, clock: VirtualClock, declare: (declarations: Declarations) => void = everyKind) {
  const declarations = new Declarations();
  declare(declarations);
  const lines: LogRecord[] = [];
  const stop = new AbortController();
  const scanner = new KindScanner({
    client: await api.connect(),
    declarations: declarations.resources,
    clock,
    random: () => 0.5,
    logger: new Logger((line) => void lines.push(line), clock.now.bind(clock)),
    signal: stop.signal,
    namespace: () => undefined,
    intervalMs: 30_000,
  });
  const first = (await scanner.first()).map(({ kind }) => kindKey(kind));
  const news: string[] = [];
  const ended = scanner.follow({
    found: ({ kind }: KindPlan) => void news.push(`found ${kindKey(kind)}`),
    there: () => {},
    vanished: (kind: KindDescription) => void news.push(`vanished ${kindKey(kind)}`),
  });
  await clock.advance(1_000);
  onTestFinished(async () => {
    stop.abort();
    await ended;
    expect(clock.pending).toBe(0);
  });
  const told = (message: string | RegExp) =>
    lines.filter((line) => (typeof message === "string" ? line.message === message : message.test(line.message)));
  return { scanner, first, news, told };
}

const discovers = ({ path }: RawRequest) => path === "/api" || path === "/apis";

describe("kinds that are being found out", () => {
  it.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])(
    "are found although a discovery ended with %s, which is told once",
    async (fault) => {
      const clock = new VirtualClock();
      const api = new TestApi(clock);
      api.kinds = [kindOf("racks")];
      const { first, news, told, scanner } = await scanning(api, clock);
      expect(first).toEqual(["racks.example.com"]);
      api.fails = (request) => (discovers(request) ? FAULTS[fault](request) : undefined);
      api.kinds = [kindOf("racks"), kindOf("bolts")];
      api.define("bolts");
      await clock.advance(60_000);
      expect(news).toEqual([]);
      expect(told(/cannot be found out/)).toHaveLength(1);
      expect(scanner.health().error).toEqual(expect.any(String));
      api.fails = () => undefined;
      await clock.advance(30_000);
      expect(news).toEqual(["found bolts.example.com"]);
      expect(told("the kinds of the cluster can be found out again")).toHaveLength(1);
      expect(scanner.health().error).toBeUndefined();
    },
  );

  it("are kept, and nobody is said to be missing, while the list of groups cannot be had", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    api.kinds = [kindOf("racks")];
    const { first, news, told, scanner } = await scanning(api, clock, ({ on }) => {
      on.create("racks.example.com", function own() {});
      on.create("bolts.example.com", function other() {});
    });
    expect(first).toEqual(["racks.example.com"]);
    expect(scanner.health().missing).toEqual(["bolts.example.com"]);
    api.fails = (request) => (request.path === "/apis" ? FAULTS["a server error"](request) : undefined);
    api.define("bolts");
    await clock.advance(120_000);
    expect([news, scanner.health().missing]).toEqual([[], ["bolts.example.com"]]);
    expect(told("waiting for a kind that the cluster does not have")).toHaveLength(1);
    expect(scanner.health()).toMatchObject({ error: "away", broken: [] });
    api.kinds = [kindOf("racks"), kindOf("bolts")];
    api.fails = () => undefined;
    await clock.advance(3_000);
    expect(news).toEqual(["found bolts.example.com"]);
  });

  it("are waited for at the start while the list of groups cannot be had", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    api.fails = (request) => (request.path === "/apis" ? FAULTS["a server error"](request) : undefined);
    await expect(scanning(api, clock)).rejects.toThrow("away");
  });

  it("are asked for with growing pauses while the answer is no", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    await scanning(api, clock);
    const before = api.looks;
    api.fails = (request) => (discovers(request) ? FAULTS["a refusal"](request) : undefined);
    api.define("bolts");
    await clock.advance(600_000);
    expect(api.looks - before).toBeLessThan(40);
  });

  it("are found within three seconds when a server is back that was away for half a minute", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    const { news } = await scanning(api, clock);
    api.fails = FAULTS["a reset"];
    api.define("bolts");
    await clock.advance(30_000);
    api.kinds = [kindOf("bolts")];
    api.fails = () => undefined;
    await clock.advance(3_000);
    expect(news).toEqual(["found bolts.example.com"]);
  });

  it("are found at once when they come while others are being looked up", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    const { news } = await scanning(api, clock);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    api.holds = (request) => (request.path === "/apis" ? held : undefined);
    api.kinds = [kindOf("racks")];
    api.define("racks");
    await clock.advance(1_000);
    // The answer to this look is made already, without the next kind.
    api.kinds = [kindOf("racks"), kindOf("bolts")];
    api.define("bolts");
    await clock.advance(1_000);
    api.holds = () => undefined;
    release();
    await clock.advance(1_000);
    expect(news).toEqual(["found racks.example.com", "found bolts.example.com"]);
  });

  it("are found as soon as discovery knows them, when it knows them later than their definitions", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    const { news } = await scanning(api, clock);
    api.define("racks");
    await clock.advance(2_500);
    expect(news).toEqual([]);
    api.kinds = [kindOf("racks")];
    await clock.advance(2_500);
    expect(news).toEqual(["found racks.example.com"]);
    const before = api.looks;
    await clock.advance(25_000);
    expect(api.looks).toBe(before);
  });

  it("are found later where their definitions may not be watched, which is told once and asked for less and less", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    api.fails = (request) => (request.path === CRDS ? FAULTS["a refusal"](request) : undefined);
    const { news, told, scanner } = await scanning(api, clock);
    await clock.advance(600_000);
    expect(told("custom resource definitions cannot be watched, new kinds are noticed later")).toHaveLength(1);
    expect(api.count(CRDS)).toBeLessThan(20);
    expect(scanner.health().streams).toMatchObject([{ phase: "waiting", error: "no", optional: true }]);
    api.kinds = [kindOf("racks")];
    await clock.advance(30_000);
    expect(news).toEqual(["found racks.example.com"]);
    // And without a restart when it is allowed.
    api.fails = () => undefined;
    await clock.advance(60_000);
    expect(scanner.health().streams).toMatchObject([{ phase: "watching" }]);
  });

  it("are an error at the start when a declaration does not fit them", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    api.kinds = [kindOf("racks")];
    const declare = ({ on }: Declarations) => {
      on.create("racks.example.com", function same() {});
      on.update({ kind: "racks" }, function same() {});
    };
    await expect(scanning(api, clock, declare)).rejects.toThrow(/"same" is used twice/);
  });
});

describe("a kind that goes", () => {
  async function withRacks() {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    api.kinds = [kindOf("racks"), kindOf("bolts")];
    api.define("racks");
    return { clock, api, ...(await scanning(api, clock)) };
  }

  it("is given up, and found again when it comes back", async () => {
    const { clock, api, news } = await withRacks();
    api.kinds = [kindOf("bolts")];
    api.undefine("racks");
    await clock.advance(500);
    expect(news).toEqual(["vanished racks.example.com"]);
    api.kinds = [kindOf("racks"), kindOf("bolts")];
    api.define("racks");
    await clock.advance(500);
    expect(news).toEqual(["vanished racks.example.com", "found racks.example.com"]);
  });

  it("is kept as long as its own path answers, because discovery may be behind", async () => {
    const { clock, api, news } = await withRacks();
    api.served.add("racks");
    api.kinds = [kindOf("bolts")];
    await clock.advance(120_000);
    expect(news).toEqual([]);
    api.served.delete("racks");
    await clock.advance(30_000);
    expect(news).toEqual(["vanished racks.example.com"]);
  });

  it("is kept while nobody can tell whether it is gone", async () => {
    const { clock, api, news } = await withRacks();
    api.kinds = [kindOf("bolts")];
    api.fails = (request) => (request.path.endsWith("/racks") ? FAULTS["a server error"](request) : undefined);
    await clock.advance(120_000);
    expect(news).toEqual([]);
  });

  it("is kept while its part of the API does not answer, which is named once, and when it answers again", async () => {
    const { clock, api, news, told, scanner } = await withRacks();
    api.broken = ["example.com"];
    await clock.advance(120_000);
    expect(news).toEqual([]);
    const [line, ...more] = told("a part of the API does not answer, its kinds are waited for");
    expect(line?.fields).toMatchObject({ apiVersion: "example.com/v1" });
    expect(more).toEqual([]);
    expect(scanner.health().broken).toMatchObject([{ apiVersion: "example.com/v1" }]);
    api.broken = [];
    await clock.advance(30_000);
    expect(told("a part of the API answers again")).toHaveLength(1);
    expect(scanner.health().broken).toEqual([]);
  });

  it("is kept when it was declared by its class, and waited for", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    const racks = kindOf("racks");
    api.kinds = [racks];
    const { first, news } = await scanning(api, clock, ({ on }) => {
      on.create(racks, function own() {});
      on.event(everything, function look() {});
    });
    expect(first).toEqual(["racks.example.com"]);
    api.kinds = [];
    await clock.advance(120_000);
    expect(news).toEqual([]);
  });

  it("is said to be missing where it was named, each time that it goes", async () => {
    const clock = new VirtualClock();
    const api = new TestApi(clock);
    const { told, scanner } = await scanning(api, clock, ({ on }) => on.create("racks", function own() {}));
    const missing = () => told("waiting for a kind that the cluster does not have").length;
    expect([missing(), scanner.health().missing]).toEqual([1, ["racks"]]);
    api.kinds = [kindOf("racks")];
    await clock.advance(60_000);
    expect([missing(), scanner.health().missing]).toEqual([1, []]);
    api.kinds = [];
    await clock.advance(60_000);
    expect([missing(), scanner.health().missing]).toEqual([2, ["racks"]]);
  });
});
