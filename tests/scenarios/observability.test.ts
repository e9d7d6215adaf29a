/** What an operator shows of itself while it works: traces, measures of its requests, and log lines about its objects. */
import { ConfigMap } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { type Harness, startHarness } from "@lotse/testing";
import { type Context, context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { jsonSink, Operator, PermanentError, resource, TemporaryError } from "lotse";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

const Lamp = resource({
  group: "observe.example.com",
  version: "v1",
  kind: "Lamp",
  spec: z.object({ watts: z.number() }),
  status: z.object({ lit: z.boolean().optional() }),
});

const operator = new Operator({ name: "lamps" });

operator.on.create(Lamp, async function light({ retry, client, patch, adopt, name, logger }) {
  if (retry === 0) throw new TemporaryError("no current yet", { delay: "5s" });
  await client.create(adopt(ConfigMap.gen({ name: `${name}-notes`, data: { lit: "yes" } })));
  logger.info("lit");
  patch.status.lit = true;
});

operator.on.event(Lamp, function look({ logger }) {
  logger.debug("looked at");
});

operator.on.create(Lamp, { id: "explode", when: ({ spec }) => spec.watts > 100 }, function explode() {
  throw new PermanentError("too bright");
});

operator.daemon(Lamp, async function flicker({ sleep, logger }) {
  for (;;) {
    logger.debug("flickers");
    await sleep("10m");
  }
});

operator.timer(Lamp, { interval: "1h", initialDelay: "1h" }, function dust({ logger }) {
  logger.info("dusted");
});

operator.index(Lamp, function byWatts({ spec }) {
  if (spec.watts > 100) throw new Error("there are no such lamps");
  return { [String(spec.watts)]: true };
});

const lamp = (name: string, watts = 10) => new Lamp({ metadata: { name }, spec: { watts } });

const open = (log?: (line: string) => void) =>
  startHarness(operator, {
    clock: new VirtualClock(),
    ...(log && { start: { log: jsonSink({ write: log }), events: "all" } }),
  });

/** Two attempts of its creation, and an hour. */
async function live(harness: Harness, ...lamps: InstanceType<typeof Lamp>[]): Promise<void> {
  for (const one of lamps) await harness.client.create(one);
  await harness.advance("5s");
  await harness.advance("1h");
}

describe("traces", () => {
  const exporter = new InMemorySpanExporter();
  let broken = false;
  const saboteur: SpanProcessor = {
    onStart: () => {},
    onEnd: ({ name }) => {
      if (broken && name.startsWith("turn ")) throw new Error("the exporter is full");
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), saboteur] });
  provider.register();

  beforeEach(() => exporter.reset());
  afterAll(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });

  const spans = () => exporter.getFinishedSpans();
  const named = (name: string) => spans().filter((span) => span.name === name);
  const parentOf = ({ parentSpanContext }: ReadableSpan) =>
    spans().find((span) => span.spanContext().spanId === parentSpanContext?.spanId);

  it("have a span for each turn, in it one for each attempt, and in that one for each request", async () => {
    await using harness = await open();
    await live(harness, lamp("desk"));
    const [first, second, ...more] = named("handler light");
    expect(more).toEqual([]);
    expect(first?.attributes).toMatchObject({ "lotse.handler.retry": 0, "lotse.handler.outcome": "waits" });
    expect(first?.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(second?.attributes).toMatchObject({ "lotse.handler.retry": 1, "lotse.handler.outcome": "succeeded" });

    const [created] = named("POST /api/v1/namespaces/{namespace}/configmaps");
    expect(created?.attributes).toMatchObject({
      "http.response.status_code": 201,
      "lotse.request.resource": "configmaps",
      "k8s.namespace.name": "default",
    });
    expect(created && parentOf(created)).toBe(second);

    const turn = second && parentOf(second);
    expect(turn?.name).toBe("turn Lamp");
    expect(turn?.attributes).toMatchObject({
      "lotse.operator": "lamps",
      "lotse.object.kind": "Lamp",
      "lotse.object.name": "desk",
      "lotse.turn.woken_by": ["due"],
      "lotse.turn.cause": ["create"],
      "lotse.queue.wait_seconds": 0,
    });
    // The turn's own write is part of the turn, and of no handler.
    const writes = spans().filter(
      (span) => span.attributes["lotse.request.resource"] === "lamps.observe.example.com/status",
    );
    expect(writes.map(parentOf)).toContain(turn);
    expect(new Set(writes.map((span) => parentOf(span)?.name))).toEqual(new Set(["turn Lamp"]));
  });

  it("have no span for the streams of objects", async () => {
    await using harness = await open();
    await live(harness, lamp("desk"));
    expect(spans().filter((span) => span.attributes["lotse.request.watch"])).toEqual([]);
    expect(
      spans()
        .filter((span) => !span.parentSpanContext)
        .map(({ name }) => name),
    ).not.toContainEqual(expect.stringMatching(/^GET/));
  });

  it("show the timer in its turn, and the daemon in a trace of its own when it ends", async () => {
    const harness = await open();
    await live(harness, lamp("desk"));
    const [timer] = named("handler dust");
    expect(timer && parentOf(timer)?.name).toBe("turn Lamp");
    expect(named("handler flicker")).toEqual([]);
    await harness.stop();
    const [daemon] = named("handler flicker");
    expect(daemon?.parentSpanContext).toBeUndefined();
    expect(daemon?.attributes["lotse.handler.outcome"]).toBe("stopped");
    const begunBy = daemon?.links[0]?.context.spanId;
    expect(spans().find((span) => span.spanContext().spanId === begunBy)?.name).toBe("turn Lamp");
  });

  it("show what a daemon writes, while it runs and at its end, within its own; measures and `explain` tell of both", async () => {
    const blinking = new Operator({ name: "blinking" });
    blinking.daemon(Lamp, async function blink({ patch, sleep }) {
      patch.status.lit = true;
      await patch.flush();
      await sleep("10s");
      patch.status.lit = false;
    });
    await using harness = await startHarness(blinking, { clock: new VirtualClock() });
    await harness.client.create(lamp("desk"));
    await harness.settle();
    await harness.advance("10s");

    const [daemon, ...more] = named("handler blink");
    expect(more).toEqual([]);
    expect(daemon?.attributes).toMatchObject({
      "lotse.handler.type": "daemon",
      "lotse.handler.outcome": "succeeded",
      "lotse.object.name": "desk",
    });
    const writes = spans().filter(
      (span) => span.attributes["lotse.request.resource"] === "lamps.observe.example.com/status",
    );
    expect(writes.map(parentOf)).toEqual([daemon, daemon]);
    expect(writes.map((span) => span.attributes["http.response.status_code"])).toEqual([200, 200]);

    const metrics = harness.operator.metrics();
    expect(metrics).toContain('lotse_handler_runs_total{kind="Lamp",handler="blink",outcome="succeeded"} 1\n');
    expect(metrics).toContain('lotse_handler_seconds_sum{kind="Lamp",handler="blink"} 10\n');
    expect(metrics).toContain('lotse_writes_total{kind="Lamp"} 2\n');
    const { turns = [] } = harness.operator.explain({ kind: "lamp", name: "desk" }) ?? {};
    expect(turns.filter(({ ran }) => ran.length > 0)).toMatchObject([
      {
        woke: [{ by: "daemon" }],
        ran: [{ handler: "blink", reason: "daemon", outcome: "succeeded", tookMs: 10_000 }],
        wrote: [{ what: "status" }, { what: "status" }],
      },
    ]);
  });

  it("have one for each attempt of the operator's own handlers, of its sources and schedules, and so have measures", async () => {
    const own = new Operator({ name: "own" });
    own.on.startup(function prepare() {});
    own.on.create(Lamp, function light() {});
    own.schedule("nightly", "0 3 * * *", function tidy() {});
    own.source("doorbell", async function* ring({ signal }) {
      yield { kind: Lamp, name: "desk" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const harness = await startHarness(own, { clock: new VirtualClock() });
    await harness.advance("24h");
    const metrics = harness.operator.metrics();
    await harness.stop();
    const outcomes = (name: string) =>
      named(`handler ${name}`).map(({ attributes }) => [
        attributes["lotse.handler.type"],
        attributes["lotse.handler.outcome"],
        attributes["lotse.operator"],
      ]);
    expect(outcomes("prepare")).toEqual([["startup", "succeeded", "own"]]);
    expect(outcomes("nightly")).toEqual([["schedule", "succeeded", "own"]]);
    expect(outcomes("doorbell")).toEqual([["source", "succeeded", "own"]]);
    expect(named("handler nightly")[0]?.parentSpanContext).toBeUndefined();
    expect(metrics).toContain('lotse_handler_runs_total{handler="prepare",outcome="succeeded"} 1\n');
    expect(metrics).toContain('lotse_handler_runs_total{handler="nightly",outcome="succeeded"} 1\n');
  });

  it("let a handler add what it likes to its own span", async () => {
    const tagging = new Operator({ name: "tagging" });
    let seen: Context | undefined;
    tagging.on.create(Lamp, async function tag({ name }) {
      await Promise.resolve();
      seen = context.active();
      trace.getActiveSpan()?.setAttribute("my.lamp", name);
    });
    await using harness = await startHarness(tagging);
    await harness.client.create(lamp("desk"));
    await harness.settle();
    expect(named("handler tag")[0]?.attributes["my.lamp"]).toBe("desk");
    expect(seen && trace.getSpan(seen)?.spanContext()).toEqual(named("handler tag")[0]?.spanContext());
  });

  it("that fail are told, and neither end the operator nor lose an object", async () => {
    const quick = new Operator({ name: "quick" });
    quick.on.create(Lamp, function light({ patch }) {
      patch.status.lit = true;
    });
    await using harness = await startHarness(quick, { clock: new VirtualClock() });
    broken = true;
    await harness.client.create(lamp("desk"));
    await harness.settle();
    broken = false;
    const [line] = harness.logs.records.filter(({ level }) => level === "error");
    expect(line).toMatchObject({ object: { name: "desk" }, fields: { error: "the exporter is full" } });
    await harness.advance("2s");
    await harness.client.patch(Lamp, "desk", { spec: { watts: 20 } });
    await harness.settle();
    expect((await harness.client.get(Lamp, "desk")).status?.lit).toBe(true);
    expect(harness.operator.health().phase).toBe("ready");
  });
});

describe("the measures of requests", () => {
  it("are in the operator's metrics under the names of client-go", async () => {
    await using harness = await open();
    await live(harness, lamp("desk"));
    const { host } = new URL(harness.cluster.url);
    const lines = harness.operator.metrics().split("\n");
    const value = (series: string) => {
      const line = lines.find((one) => one.startsWith(`${series} `));
      return line && Number(line.slice(series.length + 1));
    };
    expect(value(`rest_client_requests_total{code="201",method="POST",host="${host}"}`)).toBeGreaterThanOrEqual(1);
    expect(value(`rest_client_requests_total{code="200",method="PATCH",host="${host}"}`)).toBe(
      harness.writes().filter(({ verb }) => verb === "patch").length,
    );
    expect(value(`rest_client_request_duration_seconds_count{verb="PATCH",host="${host}"}`)).toBe(
      value(`rest_client_requests_total{code="200",method="PATCH",host="${host}"}`),
    );
    expect(value(`rest_client_request_size_bytes_sum{verb="PATCH",host="${host}"}`)).toBeGreaterThan(0);
    expect(value(`rest_client_response_size_bytes_sum{verb="GET",host="${host}"}`)).toBeGreaterThan(0);
  });

  it("count repetitions by the code of each", async () => {
    await using harness = await open();
    const { host } = new URL(harness.cluster.url);
    harness.cluster.faults.add({ match: { verb: "create", resource: "configmaps", count: 1 }, status: 429 });
    await live(harness, lamp("desk"));
    expect(harness.operator.metrics()).toContain(
      `rest_client_request_retries_total{code="201",verb="POST",host="${host}"} 1`,
    );
  });
});

describe("log lines about an object", () => {
  it("all name its apiVersion, kind, namespace, name and uid, whoever writes them", async () => {
    const lines: string[] = [];
    const harness = await open((line) => lines.push(line));
    await live(harness, lamp("desk"), lamp("sun", 400));
    const uids = new Map<string, string>();
    for await (const { name, uid } of harness.client.list(Lamp)) uids.set(name, uid ?? "");
    await harness.client.delete(Lamp, "desk");
    await harness.settle();
    await harness.stop();

    const records = lines.map((line) => JSON.parse(line));
    const ofHandlers = records.filter(({ handler }) => handler !== undefined);
    const told = new Set(ofHandlers.map(({ message }) => message));
    for (const message of ["lit", "looked at", "flickers", "dusted", "handler succeeded", "handler failed for good"])
      expect(told).toContain(message);
    expect([...told]).toContainEqual(expect.stringMatching(/^index function failed/));
    for (const { message, object } of ofHandlers) {
      expect({ message, object }).toEqual({
        message,
        object: {
          apiVersion: "observe.example.com/v1",
          kind: "Lamp",
          namespace: "default",
          name: expect.stringMatching(/^(desk|sun)$/),
          uid: uids.get(object.name),
        },
      });
    }
  });
});

describe("what a handler throws", () => {
  const thrown = {
    cause: new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") }),
    object: { code: 5 },
  } as const;

  it.each([
    ["cause", "fetch failed: connect ECONNREFUSED 127.0.0.1:1"],
    ["object", '{"code":5}'],
  ] as const)("is told with its %s in the log, in the Event and by explain", async (what, words) => {
    const failing = new Operator({ name: "failing" });
    failing.on.create(Lamp, { errors: "permanent" }, async function fetchPrice() {
      throw thrown[what];
    });
    await using harness = await startHarness(failing, { clock: new VirtualClock() });
    await harness.client.create(lamp("desk"));
    await harness.settle();
    const [line] = harness.logs.records.filter(({ message }) => message === "handler failed for good");
    expect(line?.fields).toMatchObject({ handler: "fetchPrice", error: words });
    const events = await harness.client.list("events").toArray();
    expect(events.map(({ body }) => body.message)).toEqual([`fetchPrice failed for good: ${words}`]);
    const explained = harness.operator.explain({ kind: "lamp", name: "desk" });
    expect(explained?.turns.flatMap(({ ran }) => ran.map(({ message }) => message))).toContain(words);
  });
});

describe("the measures of streams", () => {
  const gauge = (harness: Harness, series: string) => {
    const line = harness.operator
      .metrics()
      .split("\n")
      .find((one) => one.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const age = (harness: Harness) =>
    gauge(harness, 'lotse_stream_last_event_age_seconds{kind="Lamp",namespace=""}') ?? Number.NaN;
  const phase = (harness: Harness, name: string) =>
    gauge(harness, `lotse_stream_phase{kind="Lamp",namespace="",phase="${name}"}`);

  it("tell how long ago each has brought something", async () => {
    await using harness = await open();
    expect(age(harness)).toBe(0);
    await harness.advance("30s");
    expect(age(harness)).toBeCloseTo(30, 1);
    expect(harness.operator.health().streams).toMatchObject([{ kind: "Lamp", phase: "watching" }]);
    expect(harness.operator.health().streams[0]?.quietMs).toBeCloseTo(30_000, -2);
    await harness.client.create(lamp("desk"));
    await harness.settle();
    expect(age(harness)).toBeLessThan(1);
  });

  it("tell which of them wait, and for what", async () => {
    await using harness = await open();
    await harness.settle();
    expect([phase(harness, "watching"), phase(harness, "waiting")]).toEqual([1, 0]);
    const match = { resource: "lamps.observe.example.com" };
    harness.cluster.faults.add({ match, status: 403 });
    harness.cluster.faults.add({ match: { ...match, count: 1 }, dropWatch: true });
    await harness.advance("10s");
    expect([phase(harness, "watching"), phase(harness, "waiting")]).toEqual([0, 1]);
    expect(harness.operator.health().streams).toMatchObject([{ phase: "waiting", error: expect.any(String) }]);
  });
});
