import type { KubeBody } from "@lotse/client";
import { applyMergePatch } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { decide } from "../decide.ts";
import { canonical, digestOf, type Essence, essenceOf } from "../essence.ts";
import { withAnnotations } from "../fields.ts";
import { type ObjectRecord, packEssence, type RecordReading, type RunRecord, unpackEssence } from "../record.ts";
import { settle } from "../settle.ts";
import { changeHandler, thing } from "../test-builders.ts";
import { kopf } from "./kopf.ts";
import { golden } from "./test-golden.ts";

const BASE = "kopf.zalando.org/last-handled-configuration";
const STARTED = "2026-01-01T00:00:00.000000+00:00";
const DELETED = { deletionTimestamp: "2026-01-01T00:00:00Z" };

const annotated = (annotations: Record<string, string>, spec = { size: 1 }, metadata: KubeBody["metadata"] = {}) =>
  thing(spec, { ...metadata, annotations });
const base = (essence: Essence) => ({ [BASE]: `${JSON.stringify(essence)}\n` });
const progress = (id: string, more: Record<string, unknown> = {}) => ({
  [`kopf.zalando.org/${id}`]: JSON.stringify({ started: STARTED, purpose: "create", retries: 0, ...more }),
});
const packed = (essence: Essence) => ({ digest: digestOf(essence), essence: `j${canonical(essence)}` });
const handledAs = (essence: Essence) => ({ handled: digestOf(essence), base: `j${canonical(essence)}` });
const found = (record: object): RecordReading => ({ type: "found", record: { uid: "u1", ...record } });
type Found = Extract<RecordReading, { type: "found" }>;
const RUN = { attempts: 0, started: "2026-01-01T00:00:00.000Z" };

describe("what Kopf wrote", () => {
  it.each(golden.diffBase.map((vector) => [vector.body, JSON.stringify(vector.options), vector] as const))(
    "body %s with %s has the essence that Kopf finds, and gets the diff-base that it writes",
    (index, _options, { options, essence, written }) => {
      const storage = kopf(options);
      const body = golden.bodies[index] as KubeBody;
      const ours = storage.clear(essenceOf(body));
      expect(ours).toEqual(essence);
      const expected = applyMergePatch(body, written as never) as KubeBody;
      expect(storage.write(body, { uid: "u1", handled: digestOf(ours) }, [])).toEqual(expected);
      expect(storage.read(expected, [])).toEqual(found(handledAs(essence)));
    },
  );

  it.each(golden.progress.map((vector) => [vector.mode, JSON.stringify(vector.record), vector] as const))(
    "is read from %s: %s",
    (mode, _record, { options, id, record, written }) => {
      const storage = kopf({ ...options, progress: mode });
      const deleting = record.purpose === "delete" ? DELETED : {};
      const body = applyMergePatch(thing({}, deleting), written as never) as KubeBody;
      const key = `${options.prefix ?? "kopf.zalando.org"}/last-handled-configuration`;
      const { record: read } = storage.read(withAnnotations(body, { [key]: "{}" }), [id, "another"]) as Found;
      const run = read.runs?.[id];
      const outcome = record.success ? "done" : record.failure ? "failed" : undefined;
      expect({ ...run, started: Date.parse(run?.started ?? "") }).toEqual({
        attempts: record.retries,
        started: Date.parse(record.started as string),
        ...(outcome && { outcome }),
        ...(outcome && record.stopped !== null && { saw: digestOf(storage.clear(essenceOf(body))) }),
        ...(record.delayed !== null && { due: record.delayed }),
        ...(record.message !== null && { message: record.message }),
      });
      expect(read.open?.reason).toBe(record.purpose ?? "update");
    },
  );
});

describe("what lies on the object, in our words", () => {
  const storage = kopf();
  const read = (body: KubeBody) => storage.read(body, ["a", "b"]);

  it("nothing at all is no record", () => {
    expect(read(thing())).toEqual({ type: "absent" });
    expect(read(annotated({ [BASE]: "null" }))).toEqual({ type: "absent" });
  });

  it("a diff-base alone is a closed cycle", () => {
    expect(read(annotated(base({ spec: { size: 1 } })))).toEqual(found(handledAs({ spec: { size: 1 } })));
  });

  it("progress of a creation that nobody has finished a part of is the creation of what is there now", () => {
    const body = annotated({ ...progress("a", { delayed: STARTED }), note: "n" }, { size: 2 });
    const current = { spec: { size: 2 }, metadata: { annotations: { note: "n" } } };
    expect(read(body)).toEqual(
      found({ open: { reason: "create", ...packed(current) }, runs: { a: { ...RUN, due: RUN.started } } }),
    );
  });

  it("progress of a creation with a diff-base is what was left when it ended, with that diff-base", () => {
    const old = { spec: { size: 0 } };
    const stopped = { success: true, stopped: STARTED };
    expect(read(annotated({ ...base(old), ...progress("a"), ...progress("b", stopped) }))).toEqual(
      found({
        ...handledAs(old),
        open: { reason: "create", ...packed(old) },
        runs: { a: RUN, b: { ...RUN, outcome: "done", saw: digestOf(old) } },
      }),
    );
  });

  it("progress without a diff-base is an open creation", () => {
    const body = annotated({ ...progress("a", { success: true, retries: 2 }), ...progress("b", { delayed: STARTED }) });
    expect(read(body)).toEqual(
      found({
        open: { reason: "create", ...packed({}) },
        runs: { a: { ...RUN, attempts: 2, outcome: "done" }, b: { ...RUN, due: RUN.started } },
      }),
    );
  });

  it("progress with a diff-base is an open cycle for its purpose, opened with the base at the latest", () => {
    const old = { spec: { size: 0 } };
    const body = annotated({ ...base(old), ...progress("a", { purpose: "update" }) });
    expect(read(body)).toEqual(
      found({ ...handledAs(old), open: { reason: "update", ...packed(old) }, runs: { a: RUN } }),
    );
  });

  it.each([
    ["delete, with a deletion mark", DELETED, {}, "delete"],
    ["create, without a diff-base", {}, {}, "create"],
    ["resume, without a difference", {}, base({ spec: { size: 1 } }), "resume"],
    ["update otherwise", {}, base({ spec: { size: 0 } }), "update"],
  ])("progress without a purpose is for %s", (_name, metadata, stored, reason) => {
    const body = annotated({ ...stored, ...progress("a", { purpose: undefined }) }, { size: 1 }, metadata);
    expect(read(body)).toMatchObject(found({ open: { reason }, runs: { a: RUN } }));
  });

  it("progress for two purposes counts for what Kopf would find, and handlers of the other one run again", () => {
    const body = annotated({
      ...base({ spec: { size: 0 } }),
      ...progress("a", { purpose: "create", success: true }),
      ...progress("b", { purpose: "update" }),
    });
    expect(read(body)).toMatchObject(found({ open: { reason: "update" }, runs: { b: RUN } }));
    expect(Object.keys((read(body) as Found).record.runs ?? {})).toEqual(["b"]);
  });

  it("a creation is not over before there is a diff-base, whatever the progress says", () => {
    const body = annotated(progress("a", { purpose: "update", success: true }));
    expect(read(body)).toEqual(found({ open: { reason: "create", ...packed({ spec: { size: 1 } }) } }));
  });

  it("the deletion of an object that is not being deleted is nothing", () => {
    const body = annotated(progress("a", { purpose: "delete", success: true }));
    expect(read(body)).toEqual({ type: "absent" });
    expect(read({ ...body, metadata: { ...body.metadata, ...DELETED } })).toMatchObject(
      found({ open: { reason: "delete" } }),
    );
  });

  it("damaged progress is an open cycle whose handler runs again", () => {
    const body = annotated({ "kopf.zalando.org/a": "{", ...progress("b", { success: true }) });
    expect(read(body)).toMatchObject(found({ open: { reason: "create" }, runs: { b: { outcome: "done" } } }));
    expect((read(body) as Found).record.runs).not.toHaveProperty("a");
    expect(read(annotated({ "kopf.zalando.org/a": "7" }))).toEqual(
      found({ open: { reason: "create", ...packed({ spec: { size: 1 } }) } }),
    );
  });

  it("progress of handlers that are not ours is not ours", () => {
    expect(read(annotated(progress("theirs")))).toEqual({ type: "absent" });
  });

  it("progress that an old version left in the status counts until there is some in the annotations", () => {
    const status = { kopf: { progress: { a: { started: STARTED, retries: 3, purpose: "create" } } } };
    expect(read({ ...thing(), status })).toMatchObject(found({ runs: { a: { attempts: 3 } } }));
    const both = { ...annotated(progress("a", { retries: 4 })), status };
    expect(read(both)).toMatchObject(found({ runs: { a: { attempts: 4 } } }));
    expect(kopf({ progress: "annotations" }).read({ ...thing(), status }, ["a"])).toEqual({ type: "absent" });
  });

  it("annotations of Lotse operators in a diff-base are no part of it, fields that handlers name are", () => {
    const stored = {
      spec: 1,
      metadata: { annotations: { "x.lotse.dev/state": "{}", note: "n" } },
      status: { phase: "A" },
    };
    const reading = read(annotated(base(stored))) as Found;
    expect(unpackEssence(reading.record.base)).toEqual({
      spec: 1,
      metadata: { annotations: { note: "n" } },
      status: { phase: "A" },
    });
  });
});

describe("what is written", () => {
  const storage = kopf();
  const own = { spec: { size: 1 } };
  const closed = { uid: "u1", ...handledAs(own) };

  it("a closed cycle has no progress, no progress of sub-handlers, no touch mark, and none in the status", () => {
    const before = {
      ...annotated({
        ...progress("a", { subrefs: ["a/x", "a/x/y"] }),
        ...progress("a.x"),
        ...progress("a.x.y"),
        ...progress("theirs"),
        "kopf.zalando.org/touch-dummy": "now",
      }),
      status: { phase: "A", kopf: { progress: { a: { retries: 1 }, theirs: { retries: 1 } } } },
    };
    expect(storage.write(before, closed, ["a", "b"])).toEqual({
      ...annotated({ ...progress("theirs"), ...base(own) }),
      status: { phase: "A", kopf: { progress: { theirs: { retries: 1 } } } },
    });
  });

  it("a touch mark alone is no reason to write", () => {
    const quiet = annotated({ ...base(own), "kopf.zalando.org/touch-dummy": "now" });
    expect(storage.write(quiet, closed, ["a"])).toBe(quiet);
  });

  it("a diff-base that says the same in other bytes stays as it is", () => {
    const stored = annotated({ [BASE]: '{ "metadata": {}, "spec": {"size": 1.0} }' });
    const reading = storage.read(stored, []) as Found;
    expect(storage.write(stored, reading.record, [])).toBe(stored);
  });

  it("a handled state that nobody kept is an empty diff-base: everything looks changed, nothing looks new", () => {
    const written = storage.write(thing({ size: 2 }), { uid: "u1", handled: "unknown" }, []);
    expect(written.metadata?.annotations).toEqual({ [BASE]: "{}\n" });
    const [create, update] = [changeHandler("c", ["create"]), changeHandler("u", ["update"])];
    const reading = storage.read(written, ["c", "u"]) as Found;
    expect(decided(written, reading.record, [create, update]).due).toEqual([update]);
  });

  it("progress is in Kopf's bytes, under both generations of its key, with the marker", () => {
    const id = "x".repeat(50);
    const open = {
      uid: "u1",
      open: { reason: "create" as const, digest: "d" },
      runs: { [id]: { ...RUN, attempts: 1, due: RUN.started, message: "ü" } },
    };
    const text = `{"started":"${STARTED}","delayed":"${STARTED}","purpose":"create","retries":1,"success":false,"failure":false,"message":"\\u00fc"}`;
    const written = kopf({ prefix: "shop.example.com" }).write(thing(), open, [id]);
    const keys = Object.keys(written.metadata?.annotations ?? {});
    expect(keys).toHaveLength(3);
    expect(written.metadata?.annotations).toMatchObject({
      [`shop.example.com/${id}`]: text,
      "shop.example.com/kopf-managed": "yes",
    });
    expect(new Set(Object.values(written.metadata?.annotations ?? {}))).toEqual(new Set([text, "yes"]));
  });

  it("progress that Kopf would read as the same stays as it is", () => {
    const stored = annotated(progress("a", { success: false, failure: false, stopped: null }));
    const reading = storage.read(stored, ["a"]) as Found;
    expect(storage.write(stored, reading.record, ["a"])).toBe(stored);
  });

  it("what a cycle supersedes goes, sub-handlers included", () => {
    const before = annotated({
      ...base(own),
      ...progress("a", { purpose: "update", subrefs: ["a/x"] }),
      ...progress("a.x"),
    });
    const open = { ...closed, open: { reason: "delete" as const, digest: "d" }, runs: { a: RUN } };
    const written = storage.write(before, open, ["a", "b"]);
    expect(Object.keys(written.metadata?.annotations ?? {}).sort()).toEqual(["kopf.zalando.org/a", BASE]);
    expect(written.metadata?.annotations?.["kopf.zalando.org/a"]).not.toContain("subrefs");
  });

  describe("steps", () => {
    const sub = {
      ...progress("a.x", { success: true, retries: 1, stopped: STARTED }),
      ...progress("a.y", { retries: 2 }),
    };
    const before = {
      ...annotated({ ...progress("a", { subrefs: ["a/x", "a/y"] }), ...sub }),
      status: { "a/x": { made: 1 } },
    };
    const { record } = storage.read(before, ["a"]) as Found;

    it("are what Kopf calls sub-handlers, with the results that it left in the status", () => {
      expect(record.runs?.a?.steps).toEqual({
        x: { attempts: 1, outcome: "done", result: { made: 1 } },
        y: { attempts: 2, started: RUN.started },
      });
      expect(storage.write(before, record, ["a"])).toBe(before);
    });

    it("stay while their handler goes on, also when it is finished, and go with the cycle", () => {
      const next = (run: RunRecord) =>
        storage.write(before, { ...record, runs: { a: run } }, ["a"]).metadata?.annotations;
      expect(next({ ...record.runs?.a, ...RUN, attempts: 1 })).toMatchObject(sub);
      expect(next({ ...RUN, attempts: 1, outcome: "done" })).toMatchObject(sub);
      expect(storage.write(before, { uid: "u1", ...handledAs({}) }, ["a"]).metadata?.annotations).toEqual(base({}));
    });

    it("are written under the ids of sub-handlers, and listed by their handler", () => {
      const run = {
        ...RUN,
        steps: { z: { attempts: 1, outcome: "done" as const }, b: { attempts: 1, started: RUN.started } },
      };
      const open = { uid: "u1", open: { reason: "create" as const, digest: "d" }, runs: { a: run } };
      const { annotations } = storage.write(thing(), open, ["a"]).metadata ?? {};
      expect(Object.keys(annotations ?? {}).sort()).toEqual(
        ["a", "a.b", "a.z"].map((name) => `kopf.zalando.org/${name}`),
      );
      expect(annotations?.["kopf.zalando.org/a"]).toContain('"subrefs":["a/b","a/z"]');
      expect(annotations?.["kopf.zalando.org/a.z"]).toBe(
        '{"purpose":"create","retries":1,"success":true,"failure":false}',
      );
    });

    it("with a result that is nowhere on the object run again, rather than end without it", () => {
      const run = { ...RUN, steps: { x: { attempts: 1, outcome: "done" as const, result: { made: 2 } } } };
      const open = { uid: "u1", open: { reason: "create" as const, digest: "d" }, runs: { a: run } };
      const written = storage.write(before, open, ["a"]);
      expect((storage.read(written, ["a"]) as Found).record.runs).toEqual({ a: RUN });
    });

    it("of a superseded cycle are none of this one", () => {
      const superseded = annotated({
        ...progress("a", { subrefs: ["a/x"] }),
        ...progress("a.x", { purpose: "update" }),
      });
      expect((storage.read(superseded, ["a"]) as Found).record.runs).toEqual({ a: RUN });
    });

    it("are not mistaken for a handler of a field", () => {
      const both = annotated({ ...progress("a", { subrefs: ["a/spec"] }), ...progress("a.spec") });
      const read = (storage.read(both, ["a", "a/spec"]) as Found).record;
      expect(read.runs).toEqual({ a: RUN, "a/spec": RUN });
      const written = storage.write(both, { ...read, runs: { "a/spec": RUN } }, ["a", "a/spec"]);
      expect(written.metadata?.annotations).toEqual(progress("a.spec"));
    });
  });

  it("a Deployment's ReplicaSet has keys of its own", () => {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "d", uid: "d1" };
    const body = { ...annotated(base({ spec: 0 }), { size: 1 }, { ownerReferences: [owner] }), kind: "ReplicaSet" };
    expect(storage.read(body, [])).toEqual({ type: "absent" });
    const written = storage.write(body, closed, []);
    expect(written.metadata?.annotations).toEqual({
      ...base({ spec: 0 }),
      [`${BASE}-ofDRS`]: '{"spec":{"size":1}}\n',
    });
  });

  it("erasing leaves the marker while somebody else uses the prefix", () => {
    const shop = kopf({ prefix: "shop.example.com" });
    const written = shop.write(thing(), { uid: "u1", ...handledAs({}) }, []);
    const shared = {
      ...written,
      metadata: {
        ...written.metadata,
        annotations: { ...written.metadata?.annotations, "shop.example.com/theirs": "{}" },
      },
    };
    expect(shop.write(written, undefined, [])).toEqual(thing());
    expect(shop.write(shared, undefined, []).metadata?.annotations).toEqual({
      "shop.example.com/kopf-managed": "yes",
      "shop.example.com/theirs": "{}",
    });
  });

  it("an essence comes from the record in whatever form it is packed, when the object has moved on", () => {
    const essence = { spec: { items: Array.from({ length: 80 }, (_, index) => ({ name: `item-${index}` })) } };
    const record = { uid: "u1", handled: digestOf(essence), base: packEssence(essence) };
    expect(record.base).toMatch(/^z/);
    const written = storage.write(thing(), record, []);
    expect(JSON.parse(written.metadata?.annotations?.[BASE] ?? "")).toEqual(essence);
    const read = (storage.read(written, []) as Found).record;
    expect(unpackEssence(read.base)).toEqual(essence);
  });

  it("needs a prefix", () => {
    expect(() => kopf({ prefix: "" })).toThrow(/needs a prefix/);
  });

  it("travels with the progress", () => {
    expect(kopf()).toMatchObject({
      place: "annotation",
      finalizer: "kopf.zalando.org/KopfFinalizerMarker",
      needsEssence: true,
    });
    expect(kopf({ progress: "status", finalizer: "a/b" })).toMatchObject({ place: "status", finalizer: "a/b" });
  });
});

describe("taking over from Kopf", () => {
  const storage = kopf();
  const create = changeHandler("create_fn", ["create"]);
  const second = changeHandler("second_fn", ["create"]);
  const update = changeHandler("update_fn", ["update"]);
  const handlers = [create, second, update];
  const ids = handlers.map(({ id }) => id);

  it("a handled object is not handled again", () => {
    const body = annotated(base({ spec: { size: 1 } }));
    const { record } = storage.read(body, ids) as Found;
    expect(decided(body, record, handlers).cycle).toBeUndefined();
  });

  it("a half-done creation goes on with the handlers that are left, and closes as Kopf closes it", () => {
    const body = annotated({ ...progress("create_fn", { success: true, retries: 1 }), ...progress("second_fn") });
    const { record } = storage.read(body, ids) as Found;
    const decision = decided(body, record, [create, second]);
    expect(decision.due).toEqual([second]);
    const settled = settle("u1", decision as never, [done(second)], true, record, () => 0);
    expect(storage.write(body, settled.record, ids).metadata?.annotations).toEqual(base({ spec: { size: 1 } }));
  });

  const ended = { success: true, retries: 1, stopped: STARTED };

  it.each([
    ["a creation", {}, "create"],
    ["an update", base({ spec: { size: 0 } }), "update"],
  ] as const)("%s that Kopf had half done tells nobody twice, and nobody else", (_name, stored, purpose) => {
    const both = changeHandler("both_fn", ["create", "update"]);
    const flaky = changeHandler("flaky_fn", ["create", "update"]);
    const all = [both, flaky, ...(purpose === "create" ? [update] : [])];
    const names = all.map(({ id }) => id);
    const body = annotated({
      ...stored,
      ...progress("both_fn", { purpose, ...ended }),
      ...progress("flaky_fn", { purpose, retries: 1 }),
    });
    const { record } = storage.read(body, names) as Found;
    const decision = decided(body, record, all);
    expect(decision.due).toEqual([flaky]);
    const settled = settle("u1", decision as never, [done(flaky)], true, record, () => 0);
    expect(settled.record?.open).toBeUndefined();
    expect(storage.write(body, settled.record, names).metadata?.annotations).toEqual(base({ spec: { size: 1 } }));
  });

  it("a creation that Kopf had only begun ends with its handlers, and is no update for anybody", () => {
    const body = annotated(progress("create_fn", { retries: 1 }));
    const { record } = storage.read(body, ids) as Found;
    const decision = decided(body, record, [create, update]);
    expect(decision.due).toEqual([create]);
    const settled = settle("u1", decision as never, [done(create)], true, record, () => 0);
    expect(settled.record).toEqual({ uid: "u1", ...handledAs({ spec: { size: 1 } }) });
    expect(decided(body, settled.record, [create, update]).cycle).toBeUndefined();
  });

  it("a change after the end of a creation is told, also when Kopf could not take its progress away any more", () => {
    const both = changeHandler("both_fn", ["create", "update"]);
    const all = [create, both, update];
    const body = annotated({
      ...base({ spec: { size: 0 } }),
      ...progress("create_fn", { retries: 1 }),
      ...progress("both_fn", ended),
    });
    const { record } = storage.read(
      body,
      all.map(({ id }) => id),
    ) as Found;
    const decision = decided(body, record, all);
    expect(decision.due).toEqual([create]);
    const settled = settle("u1", decision as never, [done(create)], true, record, () => 0);
    const after = decided(body, settled.record, all);
    expect(after.due).toEqual([both, update]);
    expect(after.cycle?.old).toEqual({ spec: { size: 0 } });
  });

  it("a change after the take-over is told to handlers that Kopf had finished", () => {
    const both = changeHandler("both_fn", ["create", "update"]);
    const flaky = changeHandler("flaky_fn", ["create"]);
    const halfDone = { ...progress("both_fn", ended), ...progress("flaky_fn") };
    const { record } = storage.read(annotated(halfDone), ["both_fn", "flaky_fn"]) as Found;
    const moved = annotated(halfDone, { size: 2 });
    const decision = decided(moved, record, [both, flaky]);
    const settled = settle("u1", decision as never, [done(flaky)], true, record, () => 0);
    const after = decided(moved, settled.record, [both, flaky]);
    expect(after.due).toEqual([both]);
    expect(after.cycle?.old).toEqual({ spec: { size: 1 } });
  });

  it("a resume that Kopf had half done does not swallow a change", () => {
    const body = annotated({
      ...base({ spec: { size: 0 } }),
      ...progress("resume_fn", { purpose: "resume", ...ended }),
    });
    const { record } = storage.read(body, ["resume_fn", "update_fn"]) as Found;
    const all = [changeHandler("resume_fn", ["resume"]), update];
    const settled = settle("u1", decided(body, record, all) as never, [], true, record, () => 0);
    const after = decided(body, settled.record, all);
    expect(after.due).toEqual([update]);
    expect(after.cycle?.old).toEqual({ spec: { size: 0 } });
  });

  it("a change that somebody made in the middle of a cycle of ours is seen by handlers that had finished", () => {
    const body = annotated({
      ...base({ spec: { size: 0 } }),
      ...progress("update_fn", { purpose: "update", success: true, retries: 1 }),
    });
    const { record } = storage.read(body, ids) as Found;
    const decision = decided(body, record, handlers);
    expect(decision.due).toEqual([]);
    const settled = settle("u1", decision as never, [], true, record, () => 0);
    const after = decided(body, settled.record, handlers);
    expect(after.due).toEqual([update]);
    expect(after.cycle?.old).toEqual({ spec: { size: 0 } });
  });
});

function done(handler: ReturnType<typeof changeHandler>) {
  return { handler, outcome: { type: "done", result: undefined } as const, startedAt: 0, endedAt: 1 };
}

function decided(body: KubeBody, record: Parameters<typeof settle>[4], handlers: ReturnType<typeof changeHandler>[]) {
  const essence = kopf().clear(essenceOf(body));
  return decide({ body, essence, record, unreadable: false, firstSight: false, handlers, finalizer: "a/b", now: 0 });
}

describe("a creation that Kopf has left open", () => {
  it.each<[string, string[][], string[][], object]>([
    ["a field of the status that a handler names", [["status", "phase"]], [], {}],
    ["a field that is ignored", [], [["spec", "size"]], {}],
    [
      "a handler that Kopf has finished",
      [["status", "phase"]],
      [],
      { success: true, stopped: "2026-01-01T00:00:00.000000+00:00" },
    ],
  ])("is no update for others when it is finished, with %s", (_what, fields, ignored, more) => {
    const storage = kopf();
    const created = changeHandler("c", ["create"]);
    const both = changeHandler("b", ["create", "update"]);
    const handlers = [created, both, changeHandler("u", ["update"])];
    const progress = (of: object) =>
      JSON.stringify({ started: "2026-01-01T00:00:00.000000+00:00", purpose: "create", retries: 1, ...of });
    const annotations = { "kopf.zalando.org/c": progress({}), "kopf.zalando.org/b": progress(more) };
    const body = { ...thing({ size: 1 }, { annotations }), status: { phase: "A" } } as KubeBody;
    const essence = storage.clear(essenceOf(body, fields, ignored));
    const decideWith = (record: ObjectRecord) =>
      decide({ body, essence, record, unreadable: false, firstSight: false, handlers, finalizer: "a/b", now: 0 });
    const { record } = storage.read(body, ["c", "b", "u"], essence) as { record: ObjectRecord };
    const decision = decideWith(record);
    const attempts = decision.due.map((handler) => ({
      handler,
      outcome: { type: "done" as const, result: undefined },
      startedAt: 0,
      endedAt: 1,
    }));
    const settled = settle("u1", decision as never, attempts, true, record, () => 0);
    expect(decideWith(settled.record as ObjectRecord).due).toEqual([]);
  });
});
