import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as api from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { build } from "esbuild";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { JournalTurn } from "./journal.ts";
import { type TracedEnd, Traces } from "./traces.ts";
import { findTraces } from "./traces-find.ts";

const exporter = new InMemorySpanExporter();

function register(options: { readonly sampler?: AlwaysOffSampler } = {}): void {
  new NodeTracerProvider({ ...options, spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
}

afterEach(() => {
  exporter.reset();
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
});

const web = { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", uid: "u1" };
const create = { id: "greet", type: "change", runId: "k3x9f-1", reason: "create", retry: 0 };
const quiet: JournalTurn = {
  at: 0,
  tookMs: 1,
  woke: [{ by: "added" }],
  version: "7",
  ran: [],
  wrote: [],
  after: "waits",
};
const done: TracedEnd = { outcome: "succeeded", error: undefined };

const traces = () => new Traces(api, "greeter", "0.1.0");
const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name) as ReadableSpan;
const names = () => exporter.getFinishedSpans().map(({ name }) => name);

/** A turn that notes `turn` in its journal. */
function turnOf(of: Traces, work: () => unknown, turn: JournalTurn | undefined = quiet): Promise<unknown> {
  let noted: JournalTurn | undefined;
  const all = async () => {
    await work();
    noted = turn;
  };
  return of.turn(
    () => web,
    "Pod",
    250,
    all,
    () => noted,
  );
}

describe("the span of a turn", () => {
  it("says whose turn it was, how long it waited, what woke it, and how it ended", async () => {
    register();
    const ran = [{ handler: "greet", runId: "k3x9f-1", reason: "create", outcome: "succeeded", tookMs: 1 }] as const;
    const turn: JournalTurn = { ...quiet, ran, wrote: [{ what: "status" }], nextAt: 5_000 };
    await turnOf(traces(), async () => {}, turn);
    const span = named("turn Pod");
    expect(span.attributes).toEqual({
      "k8s.namespace.name": "default",
      "k8s.pod.name": "web",
      "k8s.pod.uid": "u1",
      "lotse.object.api_version": "v1",
      "lotse.object.kind": "Pod",
      "lotse.object.name": "web",
      "lotse.object.resource_version": "7",
      "lotse.object.uid": "u1",
      "lotse.operator": "greeter",
      "lotse.queue.wait_seconds": 0.25,
      "lotse.turn.cause": ["create"],
      "lotse.turn.handlers": 1,
      "lotse.turn.result": "requeue_after",
      "lotse.turn.woken_by": ["added"],
      "lotse.turn.writes": 1,
    });
    expect(span.status.code).toBe(api.SpanStatusCode.UNSET);
    expect(span.instrumentationScope).toMatchObject({ name: "lotse", version: "0.1.0" });
  });

  it.each([
    ["success", quiet],
    ["requeue", { ...quiet, after: "goes on" as const }],
    ["error", { ...quiet, problem: "no such field" }],
  ])("has the result %s", async (result, turn) => {
    register();
    await turnOf(traces(), async () => {}, turn);
    expect(named("turn Pod").attributes["lotse.turn.result"]).toBe(result);
  });

  it("is an error when the framework could not do its work", async () => {
    register();
    await turnOf(traces(), async () => {}, { ...quiet, problem: "no such field" });
    expect(named("turn Pod").status).toEqual({ code: api.SpanStatusCode.ERROR, message: "no such field" });
  });

  it("says nothing of what was noted before, when there was no turn to take", async () => {
    register();
    await traces().turn(
      () => web,
      "Pod",
      0,
      async () => {},
      () => quiet,
    );
    expect(named("turn Pod").attributes).not.toHaveProperty(["lotse.turn.result"]);
  });

  it("has no parent, though another object's turn woke it", async () => {
    register();
    const of = traces();
    await turnOf(of, () => turnOf(of, async () => {}));
    expect(exporter.getFinishedSpans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([
      undefined,
      undefined,
    ]);
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(2);
  });
});

describe("the span of a handler", () => {
  it("is part of its turn, and of the work that the handler does", async () => {
    register();
    const of = traces();
    const attempt = async () => {
      await Promise.resolve();
      api.trace.getTracer("mine").startSpan("my own").end();
    };
    await turnOf(of, () =>
      of.attempt(
        () => web,
        { ...create, retry: 2 },
        attempt,
        () => done,
      ),
    );
    const span = named("handler greet");
    expect(span.parentSpanContext?.spanId).toBe(named("turn Pod").spanContext().spanId);
    expect(named("my own").parentSpanContext?.spanId).toBe(span.spanContext().spanId);
    expect(span.attributes).toMatchObject({
      "lotse.handler.id": "greet",
      "lotse.handler.type": "change",
      "lotse.handler.run_id": "k3x9f-1",
      "lotse.handler.reason": "create",
      "lotse.handler.retry": 2,
      "lotse.handler.outcome": "succeeded",
      "lotse.object.name": "web",
    });
  });

  it("carries the exception of an attempt that failed", async () => {
    register();
    const error = new TypeError("no bank answers");
    const ended: TracedEnd = { outcome: "failed", error };
    await traces().attempt(
      () => web,
      create,
      async () => {},
      () => ended,
    );
    const span = named("handler greet");
    expect(span.status).toEqual({ code: api.SpanStatusCode.ERROR, message: "no bank answers" });
    expect(span.attributes).toMatchObject({ "error.type": "TypeError", "lotse.handler.outcome": "failed" });
    expect(span.events[0]).toMatchObject({
      name: "exception",
      attributes: { "exception.type": "TypeError", "exception.message": "no bank answers" },
    });
  });

  it.each(["waits for a step", "stopped"] as const)("that %s is no error", async (outcome) => {
    register();
    const ended: TracedEnd = { outcome, error: new Error("later") };
    await traces().attempt(
      () => web,
      create,
      async () => {},
      () => ended,
    );
    const span = named("handler greet");
    expect(span.status.code).toBe(api.SpanStatusCode.UNSET);
    expect(span.events).toEqual([]);
  });

  it("of a daemon has a trace of its own, linked with the turn that began it", async () => {
    register();
    const of = traces();
    const daemon = { id: "watchman", type: "daemon", runId: "k3x9f-1", retry: 0 };
    await turnOf(of, () =>
      of.attempt(
        () => web,
        daemon,
        async () => {},
        () => done,
      ),
    );
    const span = named("handler watchman");
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.links.map(({ context }) => context.spanId)).toEqual([named("turn Pod").spanContext().spanId]);
  });
});

describe("the span of a request", () => {
  const scale = { method: "PATCH", path: "/apis/apps/v1/namespaces/default/deployments/web/scale", watch: false };
  const follow = (of: Traces) =>
    of.requestsTo("https://me:secret@api.example.com/prefix/")({ ...scale, websocket: false });

  it("is part of the handler that makes it, and tells the template of its path instead of names", async () => {
    register();
    const of = traces();
    const attempt = async () => {
      const follower = follow(of);
      follower?.attempted?.({ status: 503, sentBytes: 1, receivedBytes: 1 });
      follower?.attempted?.({ status: 200, sentBytes: 1, receivedBytes: 1 });
      follower?.ended?.({ status: 200 });
    };
    await of.attempt(
      () => web,
      create,
      attempt,
      () => done,
    );
    const span = named("PATCH /prefix/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale");
    expect(span.kind).toBe(api.SpanKind.CLIENT);
    expect(span.parentSpanContext?.spanId).toBe(named("handler greet").spanContext().spanId);
    expect(span.attributes).toEqual({
      "http.request.method": "PATCH",
      "http.request.resend_count": 1,
      "http.response.status_code": 200,
      "k8s.namespace.name": "default",
      "lotse.request.resource": "deployments.apps/scale",
      "server.address": "api.example.com",
      "server.port": 443,
      "url.full": "https://api.example.com/prefix/apis/apps/v1/namespaces/default/deployments/web/scale",
      "url.template": "/prefix/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
    });
  });

  it.each([
    ["refused", 409, "409"],
    ["not answered", undefined, "ConnectionError"],
  ])("is an error when the request is %s", async (_, status, type) => {
    register();
    const of = traces();
    const error = Object.assign(new Error("no"), { name: "ConnectionError" });
    const attempt = async () => {
      const follower = follow(of);
      follower?.attempted?.({ status, sentBytes: 1, receivedBytes: 1 });
      follower?.ended?.({ error });
    };
    await of.attempt(
      () => web,
      create,
      attempt,
      () => done,
    );
    const span = named("PATCH /prefix/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale");
    expect(span.status).toEqual({ code: api.SpanStatusCode.ERROR, message: "no" });
    expect(span.attributes["error.type"]).toBe(type);
    expect(span.attributes["http.response.status_code"]).toBe(status);
  });

  it("does not exist outside of a turn", () => {
    register();
    expect(follow(traces())).toBeUndefined();
  });
});

describe("without spans", () => {
  it("everything works when no SDK is set up", async () => {
    const of = traces();
    await turnOf(of, () =>
      of.attempt(
        () => web,
        create,
        async () => expect(follow(of)).toBeUndefined(),
        () => done,
      ),
    );
    expect(names()).toEqual([]);
  });

  it("a turn that is not sampled has no part that is", async () => {
    register({ sampler: new AlwaysOffSampler() });
    const of = traces();
    const attempt = async () => {
      expect(follow(of)).toBeUndefined();
      expect(api.trace.getActiveSpan()?.spanContext().traceFlags).toBe(api.TraceFlags.NONE);
    };
    await turnOf(of, () =>
      of.attempt(
        () => web,
        create,
        attempt,
        () => done,
      ),
    );
    expect(names()).toEqual([]);
  });

  it("what the work throws comes through, and the span ends", async () => {
    register();
    const work = async () => {
      throw new Error("broken");
    };
    await expect(turnOf(traces(), work)).rejects.toThrow("broken");
    expect(names()).toEqual(["turn Pod"]);
  });

  function follow(of: Traces) {
    return of.requestsTo("https://a")({ method: "GET", path: "/api/v1/pods", watch: false, websocket: false });
  }
});

describe("OpenTelemetry", () => {
  const problems: unknown[] = [];
  const find = (load?: () => Promise<never>) =>
    findTraces({ operator: "greeter", onProblem: (error) => problems.push(error) }, load);

  it("is found where the project has it, and spans say the version of the package", async () => {
    register();
    const found = await find();
    await turnOf(found as Traces, async () => {});
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(named("turn Pod").instrumentationScope.version).toBe(manifest.version);
    expect(problems).toEqual([]);
  });

  it("may be missing, which is no problem", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    expect(await find(() => Promise.reject(missing))).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it("may be missing when an operator is bundled, and is left to be found at run time", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "lotse-traces-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const file of ["traces-find.ts", "traces.ts", "rest-path.ts"]) {
      copyFileSync(new URL(file, import.meta.url), path.join(folder, file));
    }
    const { outputFiles, warnings } = await build({
      entryPoints: [path.join(folder, "traces-find.ts")],
      bundle: true,
      external: ["@lotse/client/meta"],
      platform: "node",
      format: "esm",
      write: false,
      logLevel: "silent",
    });
    expect(outputFiles[0]?.text).toContain('import("@opentelemetry/api")');
    expect(warnings).toEqual([]);
  });

  it("that is there and broken is told, and nobody fails for it", async () => {
    const broken = new SyntaxError("Unexpected token");
    expect(await find(() => Promise.reject(broken))).toBeUndefined();
    expect(problems.splice(0)).toEqual([broken]);
  });
});
