/**
 * The record: what Lotse remembers on an object. It is all that survives a crash, so every promise is a promise about
 * what it says. Compact, and absent when there is nothing to remember.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isObject } from "@lotse/client/meta";
import type { Essence, FailedRun, ObjectRecord, OpenCycle, RecordReading, RunRecord } from "../declare/index.ts";
import { canonical } from "./essence.ts";

export type {
  FailedRun,
  ObjectRecord,
  OpenCycle,
  RecordPlace,
  RecordReading,
  RunRecord,
  StepRecord,
} from "../declare/index.ts";

/** Key of the annotation that holds the record of `operator`. */
export function recordAnnotation(operator: string): string {
  return `${operator}.lotse.dev/state`;
}

/** There is no record. */
export const ABSENT: RecordReading = { type: "absent" };

/** What a stored record says about the object with `uid`. */
export function readRecord(stored: unknown, uid: string | undefined): RecordReading {
  if (stored === undefined || stored === null) return ABSENT;
  const record = typeof stored === "string" ? parse(stored) : stored;
  if (!isRecord(record)) return { type: "unreadable" };
  return record.uid === uid ? { type: "found", record } : { type: "foreign" };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ObjectRecord {
  if (!isObject(value) || typeof value.uid !== "string") return false;
  const { handled, base, open, runs, failed, later, timers } = value;
  return (
    (handled === undefined || typeof handled === "string") &&
    (base === undefined || typeof base === "string") &&
    (open === undefined || isOpen(open)) &&
    (runs === undefined || (isObject(runs) && Object.values(runs).every(isRun))) &&
    (failed === undefined || (isObject(failed) && Object.values(failed).every(isFailed))) &&
    (later === undefined || (isObject(later) && Object.values(later).every(isObject))) &&
    (timers === undefined || isObject(timers))
  );
}

function isOpen(value: unknown): value is OpenCycle {
  if (!isObject(value)) return false;
  const { reason, digest, only, owed } = value;
  return (
    typeof reason === "string" &&
    typeof digest === "string" &&
    (only === undefined || Array.isArray(only)) &&
    (owed === undefined || isObject(owed))
  );
}

function isFailed(value: unknown): value is FailedRun {
  return isObject(value) && typeof value.reason === "string" && typeof value.saw === "string";
}

function isRun(value: unknown): value is RunRecord {
  if (!isObject(value) || typeof value.attempts !== "number" || typeof value.started !== "string") return false;
  return value.steps === undefined || isObject(value.steps);
}

/** The handlers that wait for their next attempt, or have failed for good. */
export function retriable(record: ObjectRecord | undefined): string[] {
  const runs = record?.open ? Object.entries(record.runs ?? {}) : [];
  const open = runs.filter(
    ([, { outcome, due }]) => outcome === "failed" || (outcome === undefined && due !== undefined),
  );
  return [...new Set([...open.map(([id]) => id), ...Object.keys(record?.failed ?? {})])];
}

/** Prefixes that tell how an essence is packed: as it is, or deflated. */
const PLAIN = "j";
const DEFLATED = "z";
/**
 * What is shorter than this fits as it is. Deflating it would save the server less than it costs the operator: it takes
 * ten times as long as everything else here.
 */
const WORTH_DEFLATING = 1_024;

/** An essence as one short string. */
export function packEssence(essence: Essence): string {
  return packText(canonical(essence));
}

/** The same from its canonical text. */
export function packText(json: string): string {
  // At zlib's usual level: the highest one takes twice as long, and saves one byte in a hundred.
  if (json.length < WORTH_DEFLATING) return PLAIN + json;
  const deflated = deflateRawSync(json).toString("base64");
  return deflated.length < json.length ? DEFLATED + deflated : PLAIN + json;
}

/** The essence in `packed`; undefined when it is none. */
export function unpackEssence(packed: string | undefined): Essence | undefined {
  if (packed === undefined) return undefined;
  try {
    const rest = packed.slice(1);
    const json = packed[0] === DEFLATED ? inflateRawSync(Buffer.from(rest, "base64")).toString() : rest;
    const essence: unknown = JSON.parse(json);
    return isObject(essence) ? essence : undefined;
  } catch {
    return undefined;
  }
}
