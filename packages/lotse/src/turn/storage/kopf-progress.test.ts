import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunRecord } from "../record.ts";
import {
  encodeProgress,
  kopfTime,
  type Progress,
  parseProgress,
  progressMembers,
  progressOf,
  pythonJson,
  runOf,
  stepProgressOf,
} from "./kopf-progress.ts";
import { golden } from "./test-golden.ts";

const progressFrom = (value: unknown) => parseProgress(value) as Progress;

describe("a progress record", () => {
  it.each(golden.progress.map((vector) => [vector.mode, JSON.stringify(vector.record), vector] as const))(
    "in %s is written as Kopf writes it: %s",
    (mode, _text, { id, options, record, written }) => {
      const progress = progressFrom(record);
      if (mode === "status") {
        const { [options.statusName ?? "kopf"]: stored } = written.status as Record<string, { progress: object }>;
        expect(stored?.progress).toEqual({ [id]: progressMembers(progress) });
      } else {
        const { [`${options.prefix}/kopf-managed`]: _marker, ...texts } = written.metadata?.annotations ?? {};
        expect(new Set(Object.values(texts))).toEqual(new Set([encodeProgress(progress, options.verbose ?? false)]));
      }
    },
  );

  it.each(golden.progress.map(({ record }) => [JSON.stringify(record), record] as const))(
    "comes back from our words unchanged: %s",
    (_text, record) => {
      const progress = progressFrom({ purpose: "create", ...record, stopped: null });
      const run = runOf(progress) as RunRecord;
      expect(progressOf(run, progress.purpose as "create", undefined, progress.subrefs)).toEqual(progress);
    },
  );

  it("keeps what only Kopf knows while its cycle goes on", () => {
    const stored = progressFrom({
      started: "2026-01-01T00:00:00Z",
      purpose: "create",
      success: true,
      stopped: "2026-01-01T00:00:05Z",
      subrefs: ["fn/a"],
    });
    const run = runOf(stored) as RunRecord;
    expect(progressOf(run, "create", stored, ["fn/a"])).toEqual(stored);
    expect(progressOf(run, "create", undefined, [])).toEqual({ ...stored, stopped: undefined, subrefs: undefined });
    const { outcome: _outcome, ...again } = run;
    expect(progressOf(again, "create", stored, ["fn/a"])).toMatchObject({ stopped: undefined, subrefs: ["fn/a"] });
  });

  it("that is finished stays finished, even without a beginning", () => {
    expect(runOf(progressFrom({ success: true }))).toMatchObject({ outcome: "done", attempts: 0 });
    expect(runOf(progressFrom({ failure: true, stopped: "2026-01-01T00:00:05Z", message: "no" }))).toEqual({
      attempts: 0,
      started: "2026-01-01T00:00:05.000Z",
      outcome: "failed",
      message: "no",
    });
  });

  it("that is unfinished and without a beginning is no run", () => {
    expect(runOf(progressFrom({ retries: 3 }))).toBeUndefined();
    expect(runOf(progressFrom({ retries: 3, started: "yesterday" }))).toBeUndefined();
  });

  it("takes members of a wrong type for absent", () => {
    expect(parseProgress("text")).toBeUndefined();
    expect(parseProgress([1])).toBeUndefined();
    const odd = { started: 5, retries: "3", success: "yes", failure: 1, message: {}, purpose: "", subrefs: ["a", 1] };
    expect(progressMembers(progressFrom(odd))).toEqual({ retries: 0, success: false, failure: false, subrefs: ["a"] });
  });
});

describe("a time", () => {
  it.each([
    ["2026-11-15T23:37:35.123Z", "2026-11-15T23:37:35.123000+00:00"],
    ["2026-11-15T23:37:35.123456+00:00", "2026-11-15T23:37:35.123456+00:00"],
    ["2026-11-15T23:37:35+02:00", "2026-11-15T21:37:35.000000+00:00"],
    ["2026-11-15T23:37:35.5-0130", "2026-11-16T01:07:35.500000+00:00"],
    ["2020-02-14T16:58:25.396364", "2020-02-14T16:58:25.396364+00:00"],
    ["2020-02-14 16:58:25,396364", "2020-02-14T16:58:25.396364+00:00"],
  ])("%s is %s in Kopf's form", (time, expected) => {
    expect(kopfTime(time)).toBe(expected);
  });

  it.each(["", "tomorrow", "2026-13-45T00:00:00Z", 7, null])("is none: %j", (time) => {
    expect(kopfTime(time)).toBeUndefined();
  });

  it("of ours survives the way through Kopf's form", () => {
    const max = new Date("9999-12-31T00:00:00Z");
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max, noInvalidDate: true }), (date) => {
        const run = { attempts: 1, started: date.toISOString(), due: date.toISOString() };
        expect(runOf(progressOf(run, "create", undefined, undefined))).toEqual(run);
      }),
    );
  });
});

describe("JSON in Python's way", () => {
  it("reads back as the same value and is pure ASCII", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (json, text) => {
        const value = JSON.parse(JSON.stringify([json, text])) as unknown;
        const written = pythonJson(value);
        expect(JSON.parse(written)).toEqual(value);
        expect(written).toMatch(/^[ -~]*$/);
      }),
    );
  });

  it.each([
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [-1.5e-7, "-1.5e-07"],
    [1e-300, "1e-300"],
    [1e21, "1e+21"],
    [100, "100"],
  ])("writes the number %s as %s", (value, expected) => {
    expect(pythonJson(value)).toBe(expected);
  });
});

describe("the progress of a step", () => {
  const stored = progressFrom({
    retries: 1,
    purpose: "create",
    failure: true,
    message: "the first error",
    started: "2026-01-01T00:00:00.000000+00:00",
  });

  it("stays as it is stored while it says the same, with what only Kopf knows", () => {
    const step = { attempts: 1, outcome: "failed", message: "the first error" } as const;
    expect(stepProgressOf(step, "create", stored)).toBe(stored);
  });

  it("tells another error when the step failed with another one", () => {
    const step = { attempts: 1, outcome: "failed", message: "another error" } as const;
    expect(stepProgressOf(step, "create", stored).message).toBe("another error");
  });
});
