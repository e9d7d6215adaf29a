import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiErrorFrom } from "../transport/index.ts";
import { begin, type Input, type MachineInputs, next, type State, type Step } from "./machine.ts";
import { backoffMs } from "./patience.ts";

type Body = { metadata: { name?: string; resourceVersion: string } };

const given = (now = 0): MachineInputs => ({ now, random: () => 0 });
const body = (resourceVersion: string): Body => ({ metadata: { resourceVersion } });
const failure = (code: number, extra: object = {}) => apiErrorFrom(code, extra, { method: "GET", path: "/x" });
const watching = (o: Partial<Extract<State<Body>, { at: "watching" }>> = {}): State<Body> => ({
  at: "watching",
  version: "7",
  openedAt: 0,
  alive: false,
  failures: 0,
  ...o,
});

describe("a stream that lists", () => {
  it("begins with the first page", () => {
    expect(begin()).toEqual({
      state: { at: "listing", items: [], version: undefined, failures: 0 },
      task: { run: "list", token: undefined },
    });
  });

  it("collects pages, and delivers them together with the first page's version", () => {
    const first = next(begin<Body>().state, { is: "page", items: [body("1")], version: "10", token: "t" }, given());
    expect(first.deliver).toBeUndefined();
    expect(first.task).toEqual({ run: "list", token: "t" });

    const second = next(first.state, { is: "page", items: [body("2")], version: "11", token: undefined }, given());
    expect(second.deliver).toEqual({ tell: "replace", items: [body("1"), body("2")], version: "10" });
    expect(second.task).toEqual({ run: "watch", version: "10" });
  });

  it("starts anew without what it has when the continue token expires, the second time after a wait", () => {
    const half = next(begin<Body>().state, { is: "page", items: [body("1")], version: "10", token: "t" }, given());
    const expired = next(half.state, { is: "failed", error: failure(410) }, given());
    expect(expired).toEqual({
      state: { at: "listing", items: [], version: undefined, failures: 1 },
      task: { run: "list", token: undefined },
    });
    expect(next(expired.state, { is: "failed", error: failure(410) }, given()).task).toMatchObject({ run: "wait" });
  });

  it.each([401, 403, 404, 500])("waits after %i, and lists again", (code) => {
    const error = failure(code);
    const failed = next(begin<Body>().state, { is: "failed", error }, given());
    expect(failed.task).toEqual({ run: "wait", ms: 800, error });
    expect(next(failed.state, { is: "due" }, given()).task).toEqual({ run: "list", token: undefined });
  });

  it("waits as long as the server asks", () => {
    const error = failure(429, { details: { retryAfterSeconds: 20 } });
    expect(next(begin<Body>().state, { is: "failed", error }, given()).task).toMatchObject({ run: "wait", ms: 20_000 });
  });
});

describe("a stream that watches", () => {
  const event = (type: string, object: object): Input<Body> => ({ is: "event", type, object: object as Body });

  it.each(["ADDED", "MODIFIED"] as const)("delivers %s and takes its version", (type) => {
    const step = next(watching({ failures: 3 }), event(type, body("8")), given());
    expect(step.deliver).toEqual({ tell: "apply", body: body("8"), type });
    expect(step.state).toMatchObject({ version: "8", alive: true, failures: 0 });
    expect(step.task).toBeUndefined();
  });

  it("delivers deletions and bookmarks, and takes their versions", () => {
    const removed = next(watching(), event("DELETED", body("8")), given());
    expect(removed.deliver).toEqual({ tell: "remove", body: body("8") });
    const marked = next(removed.state, event("BOOKMARK", body("9")), given());
    expect(marked.deliver).toEqual({ tell: "bookmark", version: "9" });
    expect(marked.state).toMatchObject({ version: "9" });
  });

  it("lists at once after a 410, as an answer or as an event; the second time in a row after a wait", () => {
    const inputs: Input<Body>[] = [
      { is: "failed", error: failure(410) },
      event("ERROR", { kind: "Status", code: 410, reason: "Expired" }),
    ];
    for (const input of inputs) {
      expect(next(watching(), input, given()).task).toEqual({ run: "list", token: undefined });
      expect(next(watching({ failures: 1 }), input, given()).task).toMatchObject({ run: "wait" });
    }
  });

  it("resumes from its version after another ERROR event, with a wait", () => {
    const failed = next(watching(), event("ERROR", { kind: "Status", code: 500, message: "etcd" }), given());
    expect(failed.deliver).toBeUndefined();
    expect(failed.task).toMatchObject({ run: "wait", ms: 800, error: { status: 500, message: "etcd" } });
    expect(next(failed.state, { is: "due" }, given()).task).toEqual({ run: "watch", version: "7" });
  });

  it("opens again at once when a watch that worked ends or goes silent", () => {
    for (const is of ["ended", "silent"] as const) {
      expect(next(watching({ alive: true }), { is }, given(10)).task).toEqual({ run: "watch", version: "7" });
    }
    expect(next(watching(), { is: "ended" }, given(1_000)).task).toEqual({ run: "watch", version: "7" });
  });

  it("backs off when a watch ends as soon as it began, or never says a word", () => {
    expect(next(watching(), { is: "ended" }, given(999)).task).toMatchObject({ run: "wait", ms: 800 });
    expect(next(watching(), { is: "silent" }, given(90_000)).task).toMatchObject({ run: "wait", ms: 800 });
  });

  it.each([401, 403, 404])("lists again after %i: what happens meanwhile is not in the version", (code) => {
    const failed = next(watching(), { is: "failed", error: failure(code) }, given());
    expect(next(failed.state, { is: "due" }, given()).task).toEqual({ run: "list", token: undefined });
  });

  it("doubts its version after five failures in a row", () => {
    let step: Step<Body> = { state: watching() };
    const goals: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      step = next(step.state, { is: "failed", error: failure(500) }, given());
      step = next(step.state, { is: "due" }, given());
      goals.push(step.task?.run);
    }
    expect(goals).toEqual(["watch", "watch", "watch", "watch", "list"]);
  });

  it("does not take a list for a success: lists and failing watches back off ever more", () => {
    let state: State<Body> = watching();
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) {
      let step = next(state, { is: "failed", error: failure(410) }, given());
      if (step.task?.run === "wait") {
        waits.push(step.task.ms);
        step = next(step.state, { is: "due" }, given());
      }
      state = next(step.state, { is: "page", items: [], version: "7", token: undefined }, given()).state;
    }
    expect(waits).toEqual([1_600, 3_200, 6_400, 12_800]);
  });
});

describe("a stream that gathers all there is from a watch", () => {
  const auto = (now = 0): MachineInputs => ({ ...given(now), gathers: true });
  const event = (type: string, object: object): Input<Body> => ({ is: "event", type, object: object as Body });
  const end = (version: string) =>
    event("BOOKMARK", { metadata: { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } } });
  const gathering = (o: { openedAt?: number | undefined; failures?: number } = {}): State<Body> => ({
    at: "gathering",
    openedAt: 0,
    failures: 0,
    ...o,
  });

  it("asks for a watch without a version, and has everything when the server says so", () => {
    const { state, task } = begin<Body>(auto());
    expect(task).toEqual({ run: "gather" });
    const opened = next(state, { is: "opened" }, auto(5)).state;
    const added = next(opened, event("ADDED", body("3")), auto());
    expect(added).toEqual({ state: opened, deliver: { tell: "gather", body: body("3"), gone: false } });
    const gone = next(added.state, event("DELETED", body("4")), auto());
    expect(gone.deliver).toEqual({ tell: "gather", body: body("4"), gone: true });
    expect(next(gone.state, end("9"), auto(6))).toEqual({
      state: watching({ version: "9", openedAt: 6 }),
      deliver: { tell: "gathered", version: "9" },
    });
  });

  it.each([400, 422])("lists at once where the server answers %i, and remembers why", (code) => {
    const error = failure(code);
    const list = { ...begin<Body>(), listsInstead: error };
    expect(next(gathering(), { is: "failed", error }, auto())).toEqual(list);
    expect(next(gathering(), event("ERROR", { code }), auto())).toMatchObject({ task: { run: "list" } });
  });

  it("lists where the server ignores the question: a bookmark that ends nothing, silence, or changes without end", () => {
    const inputs: [Input<Body>, number][] = [
      [event("BOOKMARK", body("9")), 1],
      [{ is: "silent" }, 10_000],
      [event("MODIFIED", body("9")), 120_001],
    ];
    for (const [input, now] of inputs) {
      const step = next(gathering(), input, auto(now));
      expect(step).toMatchObject({ task: { run: "list" }, listsInstead: expect.any(Error) });
      expect(step.deliver).toBeUndefined();
    }
  });

  it("begins anew after a break in the middle, and page by page after three of them", () => {
    let step: Step<Body> = { state: gathering() };
    const tasks: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      step = next(step.state, step.state.at === "gathering" ? { is: "ended" } : { is: "failed", error: 0 }, auto());
      expect(step).toMatchObject({ task: { run: "wait" } });
      expect(step).not.toHaveProperty("deliver");
      step = next(step.state, { is: "due" }, auto());
      tasks.push(step.task?.run);
    }
    expect(tasks).toEqual(["gather", "gather", "list", "list"]);
  });

  it("does not take a server for one that ignores it which has not answered at all", () => {
    const unanswered = next(gathering({ openedAt: undefined }), { is: "silent" }, auto(90_000));
    expect(unanswered).toMatchObject({ state: { at: "waiting" }, task: { run: "wait" } });
    expect(unanswered).not.toHaveProperty("listsInstead");
  });

  it("does not take the end of it for a success: a watch that always expires then backs off ever more", () => {
    let state: State<Body> = gathering();
    const waits: number[] = [];
    for (let i = 0; i < 3; i++) {
      state = next(state, end("9"), auto()).state;
      let step = next(state, { is: "failed", error: failure(410) }, auto());
      if (step.task?.run === "wait") {
        waits.push(step.task.ms);
        step = next(step.state, { is: "due" }, auto());
      }
      state = step.state;
    }
    expect(waits).toEqual([1_600, 3_200]);
  });
});

describe("the back-off", () => {
  it("stays between 0.8 s and 30 s and never shrinks", () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
        const ms = backoffMs(failures, random);
        expect(ms).toBeGreaterThanOrEqual(800);
        expect(ms).toBeLessThanOrEqual(30_000);
        expect(backoffMs(failures + 1, random)).toBeGreaterThanOrEqual(ms);
      }),
    );
  });
});

describe("any stream", () => {
  it("keeps a version that it has delivered, whatever happens", () => {
    const error = fc
      .constantFrom(410, 500, 403, 429)
      .map((code): Input<Body> => ({ is: "failed", error: failure(code) }));
    const events = fc
      .constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
      .map((type): Input<Body> => ({ is: "event", type, object: body("0") }));
    const end = { metadata: { resourceVersion: "0", annotations: { "k8s.io/initial-events-end": "true" } } };
    const ends = fc.constant<Input<Body>>({ is: "event", type: "BOOKMARK", object: end });
    const others = fc.constantFrom<Input<Body>>({ is: "ended" }, { is: "silent" }, { is: "due" }, { is: "opened" });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(error, events, ends, others), { maxLength: 60 }),
        fc.boolean(),
        (inputs, gathers) => {
          const auto: MachineInputs = { ...given(), gathers };
          let state: State<Body> = begin<Body>(auto).state;
          let served = 100;
          let delivered: string | undefined;
          for (let input of inputs) {
            // The server's versions grow, and a list is answered at once.
            if (input.is === "event") {
              const { metadata } = input.object;
              input = { ...input, object: { metadata: { ...metadata, resourceVersion: String(++served) } } };
            }
            if (state.at === "listing") input = { is: "page", items: [], version: String(++served), token: undefined };
            const step: Step<Body> = next(state, input, auto);
            // What is only gathered is not delivered yet.
            if (step.deliver && "version" in step.deliver) delivered = step.deliver.version;
            else if (step.deliver && step.deliver.tell !== "gather")
              delivered = step.deliver.body.metadata.resourceVersion;
            if (step.task?.run === "watch") expect(step.task.version).toBe(delivered);
            state = step.state;
          }
        },
      ),
    );
  });
});
