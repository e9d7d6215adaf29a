/** Where `kopf({ progress })` reads the progress of handlers, where it writes it, and what it takes away. */
import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import type { RecordReading } from "../record.ts";
import { thing } from "../test-builders.ts";
import { kopf } from "./kopf.ts";
import { migrateStorage } from "./migrate-storage.ts";
import { annotationStorage } from "./own.ts";

const STARTED = "2026-01-01T00:00:00.000000+00:00";
const progress = (retries: number) => ({ started: STARTED, purpose: "create", retries });
const KEY = "kopf.zalando.org/a";

/** An object with the progress of the handler `a` in the annotations, in the status, or in both. */
function object(annotated: number | undefined, inStatus: number | undefined): KubeBody {
  const annotations = annotated === undefined ? {} : { [KEY]: JSON.stringify(progress(annotated)) };
  const status = inStatus === undefined ? {} : { kopf: { progress: { a: progress(inStatus) } } };
  return { ...thing({}, { annotations }), status };
}

const attemptsOf = (reading: RecordReading) =>
  reading.type === "found" ? (reading.record.runs?.a?.attempts ?? "none") : reading.type;

const record = {
  uid: "u1",
  open: { reason: "create" as const, digest: "d" },
  runs: { a: { attempts: 9, started: "2026-01-01T00:00:00.000Z" } },
};

/** The attempts that lie in the annotations and in the status. */
const placesOf = (body: KubeBody) => {
  const text = body.metadata?.annotations?.[KEY];
  const { kopf: own } = (body.status ?? {}) as { kopf?: { progress?: { a?: { retries: number } } } };
  return [text === undefined ? undefined : JSON.parse(text).retries, own?.progress?.a?.retries];
};

describe("progress", () => {
  it.each([
    ["smart", 4, 3, 4],
    ["smart", undefined, 3, 3],
    ["annotations", 4, 3, 4],
    ["annotations", undefined, 3, "absent"],
    ["status", 4, 3, 3],
    ["status", 4, undefined, "absent"],
  ] as const)("in %s with %s in the annotations and %s in the status is %s", (mode, annotated, inStatus, attempts) => {
    expect(attemptsOf(kopf({ progress: mode }).read(object(annotated, inStatus), ["a"]))).toBe(attempts);
  });

  it("is smart by default", () => {
    expect(attemptsOf(kopf().read(object(undefined, 3), ["a"]))).toBe(3);
    expect(attemptsOf(kopf().read(object(4, 3), ["a"]))).toBe(4);
  });

  it.each([
    ["smart", 9, 3],
    ["annotations", 9, 3],
    ["status", 4, 9],
  ] as const)("in %s is written to its own place alone", (mode, annotated, inStatus) => {
    expect(placesOf(kopf({ progress: mode }).write(object(4, 3), record, ["a"]))).toEqual([annotated, inStatus]);
  });

  it.each([
    ["smart", undefined, undefined],
    ["annotations", undefined, 3],
    ["status", 4, undefined],
  ] as const)("in %s is taken from every place that is read when the cycle ends", (mode, annotated, inStatus) => {
    const closed = { uid: "u1", handled: "d" };
    expect(placesOf(kopf({ progress: mode }).write(object(4, 3), closed, ["a"]))).toEqual([annotated, inStatus]);
  });

  it("of several storages is read from the first that has some, and written to the last", () => {
    const storage = migrateStorage(kopf({ progress: "status" }), annotationStorage("shop"));
    const old = object(undefined, 3);
    expect(attemptsOf(storage.read(old, ["a"]))).toBe(3);
    const written = storage.write(old, record, ["a"]);
    expect(attemptsOf(storage.read(written, ["a"]))).toBe(9);
    expect(attemptsOf(annotationStorage("shop").read(written, ["a"]))).toBe(9);
  });
});
