import { type Client, type KubeBody, KubeObject } from "@lotse/client";
import { applyJsonPatch, type JsonPatchOperation, VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  AdmissionError,
  Declarations,
  type Indexes,
  type Memo,
  PermanentError,
  planSettings,
  resource,
  settingsFor,
  TemporaryError,
} from "../../declare/index.ts";
import { HandlerMeasures, Logger, type LogRecord, Metrics } from "../../report/index.ts";
import { runIds } from "../../runtime/index.ts";
import { handlerOfPath, judgedKinds } from "../configurations/index.ts";
import { answerReview, type ReviewOutcome, type ReviewParts } from "./review.ts";

const Machine = resource({
  group: "machines.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({
    size: z.number().optional(),
    tags: z.array(z.string()).optional(),
    disks: z.array(z.object({ name: z.string() })).optional(),
    limits: z.record(z.string(), z.number()).optional(),
  }),
  status: z.object({ phase: z.string().optional() }),
});

const machine = (spec: object = {}, metadata: object = {}): KubeBody =>
  ({
    apiVersion: "machines.example.com/v1",
    kind: "Machine",
    metadata: { name: "one", namespace: "shops", ...metadata },
    spec,
  }) as KubeBody;

function review(object: KubeBody | null, more: object = {}) {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "u-1",
      operation: "CREATE",
      kind: { group: "machines.example.com", version: "v1", kind: "Machine" },
      resource: { group: "machines.example.com", version: "v1", resource: "machines" },
      name: "one",
      namespace: "shops",
      userInfo: { username: "ann", groups: ["people"] },
      object,
      oldObject: null,
      dryRun: false,
      options: { kind: "CreateOptions" },
      ...more,
    },
  };
}

interface Response {
  readonly allowed: boolean;
  readonly status?: {
    readonly message: string;
    readonly code: number;
    readonly reason: string;
    readonly details?: object;
  };
  readonly warnings?: string[];
  readonly patch?: string;
}

/** Answers of one operator. */
function desk(declare: (operator: Declarations) => void, more: Partial<ReviewParts> = {}) {
  const operator = new Declarations();
  declare(operator);
  const logs: LogRecord[] = [];
  const outcomes: ReviewOutcome[] = [];
  const settings = settingsFor({ name: "shops" });
  const clock = new VirtualClock();
  const memos = new Map<string, Memo>();
  const parts: ReviewParts = {
    kinds: () => judgedKinds(operator.admission, []),
    surroundings: {
      runtime: { clock, plan: planSettings(settings), nextRunId: runIds(() => 0) },
      reporting: { traces: undefined, measures: new HandlerMeasures(new Metrics()) },
    },
    logger: new Logger(
      (line) => logs.push(line),
      () => 0,
    ),
    settings,
    indexes: (() => undefined) as unknown as Indexes,
    client: () => ({}) as Client,
    memoOf: (_, { metadata }) => memos.get(metadata?.uid ?? ""),
    newMemo: () => ({ fresh: true }),
    serves: () => true,
    onReviewed: (_, outcome) => void outcomes.push(outcome),
    ...more,
  };
  const ask = async (path: string, body: unknown, signal = new AbortController().signal) => {
    const id = handlerOfPath(path);
    if (!id) throw new Error("no path of a handler");
    return answerReview(parts, id, {
      body,
      headers: { "user-agent": "test" },
      source: "10.0.0.1",
      peer: undefined,
      signal,
    });
  };
  const judge = async (path: string, body: unknown, signal?: AbortSignal): Promise<Response> => {
    const { status, body: answer } = await ask(path, body, signal);
    expect(status).toBe(200);
    const { response, ...rest } = answer as { response: Response & { uid: string } };
    expect([rest, response.uid]).toEqual([{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" }, "u-1"]);
    return response;
  };
  return { ask, judge, logs, outcomes, clock, memos };
}

const patchIn = ({ patch = "" }: Response): JsonPatchOperation[] =>
  JSON.parse(Buffer.from(patch, "base64").toString() || "[]");

describe("a review", () => {
  it.each<[string, unknown, string]>([
    ["nothing", null, "the body is not an AdmissionReview, but no JSON object at all"],
    [
      "another kind",
      { apiVersion: "v1", kind: "Pod" },
      'the body is not an AdmissionReview of admission.k8s.io/v1, but "Pod" of "v1"',
    ],
    [
      "an older version",
      { ...review(machine()), apiVersion: "admission.k8s.io/v1beta1" },
      'the body is not an AdmissionReview of admission.k8s.io/v1, but "AdmissionReview" of "admission.k8s.io/v1beta1"',
    ],
    ["no request", { ...review(machine()), request: undefined }, "the AdmissionReview has no request"],
    ["no uid", review(machine(), { uid: "" }), "the request of the AdmissionReview has no uid"],
    [
      "an operation that there is not",
      review(machine(), { operation: "PATCH" }),
      'the request of the AdmissionReview has no operation that there is, but "PATCH"',
    ],
    [
      "no kind",
      review(machine(), { resource: {} }),
      "the request of the AdmissionReview does not say which kind it is about",
    ],
    ["no user", review(machine(), { userInfo: null }), "the request of the AdmissionReview does not say who sent it"],
    ["no object", review(null), "the request of the AdmissionReview has no object"],
  ])("that is %s is answered with 400", async (_, body, message) => {
    const { ask, outcomes } = desk(({ on }) => on.validate(Machine, { id: "check" }, () => {}));
    expect(await ask("/validate/check", body)).toMatchObject({ status: 400, body: { code: 400, message } });
    expect(outcomes).toEqual([]);
  });

  it.each([
    ["/validate/other", machine(), 'this operator has no validate handler "other"'],
    ["/mutate/check", machine(), 'this operator has no mutate handler "check"'],
  ])("for a handler that is not there is answered with 404: %s", async (path, object, message) => {
    const { ask } = desk(({ on }) => on.validate(Machine, { id: "check" }, () => {}));
    expect(await ask(path, review(object))).toMatchObject({ status: 404, body: { code: 404, message } });
  });

  it("for a kind that the handler is not for is answered with 404", async () => {
    const { ask } = desk(({ on }) => on.validate(Machine, { id: "check" }, () => {}));
    const other = review(machine(), { resource: { group: "", version: "v1", resource: "pods" } });
    const message = 'the validate handler "check" is not for pods';
    expect(await ask("/validate/check", other)).toMatchObject({ status: 404, body: { message } });
  });

  it("shows the handler everything that the API server says", async () => {
    const { judge } = desk(({ on }) =>
      on.validate(Machine, { id: "check", operations: ["UPDATE"], param: 7 }, (context) => {
        const { object, body, spec, status, meta, labels, annotations, name, namespace, uid, old, new: now } = context;
        expect(object).toBeInstanceOf(Machine);
        expect(object.spec).toEqual({ size: 2 });
        expect([body, now, old]).toEqual([
          machine({ size: 2 }, { uid: "x" }),
          machine({ size: 2 }, { uid: "x" }),
          machine({ size: 1 }, { uid: "x" }),
        ]);
        expect([spec, status, meta.name, labels, annotations, name, namespace, uid]).toEqual([
          { size: 2 },
          {},
          "one",
          {},
          {},
          "one",
          "shops",
          "x",
        ]);
        expect(context.diff).toEqual([{ op: "change", path: ["spec", "size"], old: 1, new: 2 }]);
        expect([context.operation, context.subresource, context.dryRun, context.param]).toEqual([
          "UPDATE",
          undefined,
          true,
          7,
        ]);
        expect(context.userInfo).toEqual({ username: "ann", groups: ["people"] });
        expect(context.request).toMatchObject({ uid: "u-1", source: "10.0.0.1", options: { kind: "UpdateOptions" } });
        expect(context.request.requestKind).toEqual(context.request.kind);
        expect(context.headers).toEqual({ "user-agent": "test" });
        expect(context.resource.plural).toBe("machines");
        expect(() => Object.assign(spec, { size: 3 })).toThrow(TypeError);
      }),
    );
    const [old, now] = [machine({ size: 1 }, { uid: "x" }), machine({ size: 2 }, { uid: "x" })];
    const more = { operation: "UPDATE", oldObject: old, dryRun: true, options: { kind: "UpdateOptions" } };
    expect(await judge("/validate/check", review(now, more))).toEqual({ uid: "u-1", allowed: true });
  });

  it("of a deletion shows the stored object", async () => {
    const seen: unknown[] = [];
    const { judge } = desk(({ on }) =>
      on.validate(Machine, { id: "check", operations: ["DELETE"] }, ({ spec, old, new: now, object }) => {
        seen.push(spec, old?.spec, now, object.name);
      }),
    );
    await judge("/validate/check", review(null, { operation: "DELETE", oldObject: machine({ size: 1 }) }));
    expect(seen).toEqual([{ size: 1 }, { size: 1 }, undefined, "one"]);
  });
});

describe("what the API server could not decide", () => {
  it.each<[string, object, object, boolean]>([
    ["another operation", { operations: ["DELETE"] }, {}, false],
    ["another subresource", {}, { subResource: "status" }, false],
    ["the subresource", { subresource: "status" }, { subResource: "status" }, true],
    ["any subresource", { subresource: "*" }, { subResource: "scale" }, true],
    ["another namespace", { namespaces: ["other"] }, {}, false],
    ["a namespace that is left out", { namespaces: ["!shops"] }, {}, false],
    ["a label that fits a pattern", { labels: { tier: /^go/ } }, {}, true],
    ["a label that does not", { labels: { tier: /^si/ } }, {}, false],
    ["a field with such a value", { field: "spec.size", value: (size: number) => size > 1 }, {}, true],
    ["a field with another", { field: "spec.size", value: (size: number) => size > 5 }, {}, false],
    ["a question about the object", { when: ({ name }: { name: string }) => name === "two" }, {}, false],
  ])("is decided by the operator: %s", async (_, options, more, called) => {
    let calls = 0;
    const { judge, outcomes } = desk(({ on }) => on.validate(Machine, { id: "check", ...options }, () => void calls++));
    const object = machine({ size: 2 }, { labels: { tier: "gold" } });
    const id = "field" in options ? "check/spec.size" : "check";
    expect((await judge(`/validate/${id}`, review(object, more))).allowed).toBe(true);
    expect([calls, outcomes]).toEqual(called ? [1, ["allowed"]] : [0, ["passed over"]]);
  });

  it("is that a namespace is not served", async () => {
    const { judge, outcomes } = desk(
      ({ on }) =>
        on.validate(Machine, { id: "check" }, () => {
          throw new AdmissionError("no");
        }),
      { serves: (namespace) => namespace !== "shops" },
    );
    expect((await judge("/validate/check", review(machine()))).allowed).toBe(true);
    expect(outcomes).toEqual(["passed over"]);
  });

  it("refuses when a filter fails, and says no more than that", async () => {
    const { judge, logs } = desk(({ on }) =>
      on.validate(
        Machine,
        {
          id: "check",
          when: () => {
            throw new Error("password 123");
          },
        },
        () => {},
      ),
    );
    const { status } = await judge("/validate/check", review(machine()));
    expect(status).toMatchObject({ code: 500, message: "the handler check failed, the log of the operator says why" });
    expect(logs[0]).toMatchObject({
      level: "warn",
      message: "a filter of the handler failed, the request is refused",
      fields: { error: "password 123" },
    });
  });
});

describe("the id of a run", () => {
  it("is in the handler's own lines and in those about it, and each request has another one", async () => {
    const seen: string[] = [];
    const { judge, logs } = desk(({ on }) =>
      on.validate(Machine, { id: "check" }, ({ runId, logger }) => {
        seen.push(runId);
        logger.info("asked");
        throw new AdmissionError("no");
      }),
    );
    await judge("/validate/check", review(machine()));
    await judge("/validate/check", review(machine()));
    expect(seen).toEqual(["00000-1", "00000-2"]);
    expect(logs.map(({ message, fields }) => [message, fields.handler, fields.runId])).toEqual([
      ["asked", "check", "00000-1"],
      ["request refused", "check", "00000-1"],
      ["asked", "check", "00000-2"],
      ["request refused", "check", "00000-2"],
    ]);
  });
});

describe("a handler that throws", () => {
  const thrown = (error: unknown) =>
    desk(({ on }) =>
      on.validate(Machine, { id: "check" }, ({ warn }) => {
        warn("look out");
        throw error;
      }),
    );

  it.each<[string, unknown, object]>([
    [
      "an AdmissionError",
      new AdmissionError("too large", {
        causes: [{ field: "spec.size", message: "at most 100", reason: "FieldValueInvalid" }],
      }),
      {
        message: "too large",
        code: 422,
        reason: "Invalid",
        details: { causes: [{ field: "spec.size", message: "at most 100", reason: "FieldValueInvalid" }] },
      },
    ],
    [
      "its own code and reason",
      new AdmissionError("no", { code: 418, reason: "Teapot" }),
      { code: 418, reason: "Teapot" },
    ],
    ["a PermanentError", new PermanentError("never"), { message: "never", code: 403, reason: "Forbidden" }],
    ["a TemporaryError", new TemporaryError("later"), { message: "later", code: 503, reason: "ServiceUnavailable" }],
  ])("refuses in its own words: %s", async (_, error, status) => {
    const { judge, logs, outcomes } = thrown(error);
    const response = await judge("/validate/check", review(machine()));
    expect(response).toMatchObject({
      allowed: false,
      warnings: ["look out"],
      status: { status: "Failure", ...status },
    });
    expect(logs).toMatchObject([
      { level: "info", message: "request refused", fields: { handler: "check", user: "ann" } },
    ]);
    expect(outcomes).toEqual(["refused"]);
  });

  it("anything else refuses without a word of it, and is logged with its stack", async () => {
    const { judge, logs, outcomes } = thrown(new TypeError("postgres://admin:secret@db"));
    const response = await judge("/validate/check", review(machine()));
    expect(JSON.stringify(response)).not.toContain("secret");
    expect(response.status).toMatchObject({
      code: 500,
      reason: "InternalError",
      message: "the handler check failed, the log of the operator says why",
    });
    expect(logs[0]).toMatchObject({
      level: "warn",
      message: "handler failed, the request is refused",
      object: { kind: "Machine", namespace: "shops", name: "one" },
      fields: {
        handler: "check",
        operation: "CREATE",
        error: "postgres://admin:secret@db",
        stack: expect.stringContaining("TypeError"),
      },
    });
    expect(outcomes).toEqual(["failed"]);
  });

  it("in time or not: whoever does not end gets no second chance", async () => {
    const { judge, logs, clock } = desk(({ on }) => on.validate(Machine, { id: "slow" }, () => new Promise(() => {})));
    const over = new AbortController();
    const answer = judge("/validate/slow", review(machine()), over.signal);
    over.abort();
    await clock.advance(2_000);
    expect((await answer).status).toMatchObject({ code: 504, message: "the handler slow did not answer in time" });
    expect(logs.map(({ message }) => message)).toEqual([
      "handler ignores its signal and was abandoned",
      "handler did not answer in time, the request is refused",
    ]);
  });

  it("because its signal has ended", async () => {
    const { judge } = desk(({ on }) =>
      on.validate(Machine, { id: "slow" }, async ({ signal }) => {
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }),
    );
    const over = new AbortController();
    const answer = judge("/validate/slow", review(machine()), over.signal);
    over.abort();
    expect((await answer).status).toMatchObject({ code: 504 });
  });
});

describe("warnings", () => {
  const warned = async (...texts: string[]) => {
    const { judge } = desk(({ on }) => on.validate(Machine, { id: "check" }, ({ warn }) => texts.forEach(warn)));
    return (await judge("/validate/check", review(machine()))).warnings;
  };

  it("are what the handler says, once, in one line", async () => {
    expect(await warned("a", "b\nc\u0000", "a", " ")).toEqual(["a", "b c"]);
    expect(await warned()).toBeUndefined();
  });

  it("are no longer than the API server lets through", async () => {
    const [long] = (await warned("x".repeat(300))) ?? [];
    expect([long?.length, long?.at(-1)]).toEqual([256, "…"]);
    const many = (await warned(...Array.from({ length: 100 }, (_, i) => `${i} ${"x".repeat(200)}`))) ?? [];
    expect(many.at(-1)).toBe("and 80 more warnings");
    expect(many.join("").length).toBeLessThan(4_096);
  });

  it("may be put into the list as well", async () => {
    const { judge } = desk(({ on }) =>
      on.validate(Machine, { id: "check" }, ({ warnings }) => void warnings.push("a")),
    );
    expect((await judge("/validate/check", review(machine()))).warnings).toEqual(["a"]);
  });
});

describe("a patch", () => {
  type Mutate = Parameters<Declarations["on"]["mutate"]>[1];
  const mutated = (handler: (context: never) => unknown) =>
    desk(({ on }) => on.mutate(Machine, { id: "fill" }, handler as unknown as Mutate as never));

  it("tests what it replaces and takes away, and only adds what was not there", async () => {
    const sent = machine({ size: 1, tags: ["a"] }, { labels: { old: "x", "a/b~c": "1" } });
    const { judge, outcomes } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill" }, ({ patch }) => {
        patch.spec.size = 2;
        patch.spec.tags = ["a", "b"];
        patch.metadata.labels.old = null;
        patch.metadata.labels["a/b~c"] = "2";
        patch.metadata.annotations.new = "y";
      }),
    );
    const response = await judge("/mutate/fill", review(sent));
    expect(response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
    const operations = patchIn(response);
    expect(operations).toEqual([
      { op: "test", path: "/metadata/labels/old", value: "x" },
      { op: "remove", path: "/metadata/labels/old" },
      { op: "test", path: "/metadata/labels/a~1b~0c", value: "1" },
      { op: "replace", path: "/metadata/labels/a~1b~0c", value: "2" },
      { op: "add", path: "/metadata/annotations", value: { new: "y" } },
      { op: "test", path: "/spec/size", value: 1 },
      { op: "replace", path: "/spec/size", value: 2 },
      { op: "test", path: "/spec/tags", value: ["a"] },
      { op: "replace", path: "/spec/tags", value: ["a", "b"] },
    ]);
    expect(applyJsonPatch(sent, operations)).toEqual(
      machine({ size: 2, tags: ["a", "b"] }, { labels: { "a/b~c": "2" }, annotations: { new: "y" } }),
    );
    expect(outcomes).toEqual(["changed"]);
  });

  it("may change the object in place", async () => {
    const { judge } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill" }, ({ patch }) => patch.transform((body) => void body.spec.tags?.push("b"))),
    );
    const operations = patchIn(await judge("/mutate/fill", review(machine({ tags: ["a"] }))));
    expect(operations.at(-1)).toEqual({ op: "replace", path: "/spec/tags", value: ["a", "b"] });
  });

  it("that changes nothing is none", async () => {
    const { judge } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill" }, ({ patch }) => {
        patch.spec.size = 1;
      }),
    );
    expect(await judge("/mutate/fill", review(machine({ size: 1 })))).toEqual({ uid: "u-1", allowed: true });
  });

  it("of a handler that refuses is not sent", async () => {
    const { judge } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill" }, ({ patch }) => {
        patch.spec.size = 2;
        throw new AdmissionError("no");
      }),
    );
    expect(await judge("/mutate/fill", review(machine()))).not.toHaveProperty("patch");
  });

  const write = (change: (patch: Record<string, never>) => void) => mutated(({ patch }: never) => change(patch));
  it.each<[string, (patch: never) => void, string]>([
    [
      "the name",
      (patch) => Object.assign(patch, { metadata: { name: "two" } }),
      "change metadata.name, which no webhook may change",
    ],
    [
      "the namespace",
      (patch) => Object.assign(patch, { metadata: { namespace: "x" } }),
      "change metadata.namespace, which no webhook may change",
    ],
    [
      "the uid",
      (patch) => Object.assign(patch, { metadata: { uid: "x" } }),
      "change metadata.uid, which no webhook may change",
    ],
    [
      "the version",
      (patch) => Object.assign(patch, { apiVersion: "v2" }),
      "change apiVersion, which says what the object is",
    ],
    ["the kind", (patch) => Object.assign(patch, { kind: "Other" }), "change kind, which says what the object is"],
    [
      "something outside of the object",
      (patch) => Object.assign(patch, { colour: "red" }),
      "write colour, which Machine does not have",
    ],
    [
      "a field that the kind does not have",
      (patch) => Object.assign(patch, { spec: { sizze: 1 } }),
      "write spec.sizze, which Machine does not have",
    ],
    [
      "one in a list",
      (patch) => Object.assign(patch, { spec: { disks: [{ name: "a" }, { name: "b", colour: "red" }] } }),
      "write spec.disks.1.colour, which Machine does not have",
    ],
  ])("that would change %s is refused, and told", async (_, change, why) => {
    const { judge, logs, outcomes } = write(change as never);
    const response = await judge("/mutate/fill", review(machine({ size: 1 })));
    expect(response.status).toMatchObject({ code: 500, message: `the handler fill wants to ${why}` });
    expect(response).not.toHaveProperty("patch");
    expect(logs).toMatchObject([
      { level: "error", message: "a handler wants to change what it cannot, the request is refused" },
    ]);
    expect(outcomes).toEqual(["failed"]);
  });

  it("may write whatever the schema has room for", async () => {
    const { judge } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill" }, ({ patch }) => {
        patch.spec.limits = { cpu: 1 };
        patch.spec.disks = [{ name: "a" }];
        patch.status.phase = "New";
      }),
    );
    expect((await judge("/mutate/fill", review(machine()))).allowed).toBe(true);
  });

  it("of something that is no JSON is refused", async () => {
    const { judge } = write((patch) => Object.assign(patch, { spec: { size: 1n } }));
    expect((await judge("/mutate/fill", review(machine()))).status).toMatchObject({ code: 500 });
  });

  it("of an object that is deleted is refused", async () => {
    const { judge } = desk(({ on }) =>
      on.mutate(Machine, { id: "fill", operations: ["DELETE"] }, ({ patch }) => {
        patch.spec.size = 2;
      }),
    );
    const deletion = review(null, { operation: "DELETE", oldObject: machine() });
    expect((await judge("/mutate/fill", deletion)).status?.message).toBe(
      "the handler fill wants to change an object that is deleted",
    );
  });

  it("is not for those who only judge, and they hear why", async () => {
    const { judge, logs } = desk(({ on }) =>
      on.validate(Machine, { id: "check" }, (context) => {
        (context as never as { patch: { spec: object } }).patch.spec = {};
      }),
    );
    expect((await judge("/validate/check", review(machine()))).status?.code).toBe(500);
    expect(logs[0]?.fields.error).toBe("the validating handler check cannot change the object");
  });
});

describe("the memo", () => {
  it("is that of the object where it is known, and thrown away at its creation", async () => {
    const seen: Memo[] = [];
    const { judge, memos } = desk(({ on }) =>
      on.validate(Machine, { id: "check" }, ({ memo }) => void seen.push(memo)),
    );
    const known: Memo = { known: true };
    memos.set("x", known);
    const stored = machine({}, { uid: "x" });
    await judge("/validate/check", review(stored, { operation: "UPDATE", oldObject: stored }));
    await judge("/validate/check", review(stored));
    await judge(
      "/validate/check",
      review(machine({}, { uid: "y" }), { operation: "UPDATE", oldObject: machine({}, { uid: "y" }) }),
    );
    expect(seen[0]).toBe(known);
    expect(seen.slice(1)).toEqual([{ fresh: true }, { fresh: true }]);
  });
});

describe("an object that a handler is given", () => {
  it("is of no class where the request is about something else, such as a scale", async () => {
    const seen: unknown[] = [];
    const { judge } = desk(({ on }) =>
      on.validate(Machine, { id: "check", subresource: "scale" }, ({ object }) => {
        seen.push(object instanceof Machine, (object as unknown) instanceof KubeObject);
      }),
    );
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "one" }, spec: { replicas: 1 } };
    await judge("/validate/check", review(scale as never, { subResource: "scale", operation: "UPDATE" }));
    expect(seen).toEqual([false, true]);
  });
});
