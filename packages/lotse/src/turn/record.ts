/**
 * The record: what Lotse remembers on an object. It is all that survives a crash, so every promise is a promise about
 * what it says. Compact, and absent when there is nothing to remember.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type { Essence, ObjectRecord, OpenCycle, RecordPlace, RecordReading, RunRecord } from "../declare/index.ts";
import { RECORD_FIELD } from "../generate/index.ts";
import { canonical } from "./essence.ts";

export type { ObjectRecord, OpenCycle, RecordPlace, RecordReading, RunRecord, StepRecord } from "../declare/index.ts";

/** Key of the annotation that holds the record of `operator`. */
export function recordAnnotation(operator: string): string {
  return `${operator}.lotse.dev/state`;
}

/** The raw record in `body`, as it is stored. */
export function storedRecord(body: KubeBody, place: RecordPlace, operator: string): unknown {
  if (place === "annotation") return body.metadata?.annotations?.[recordAnnotation(operator)];
  const records = isObject(body.status) ? body.status[RECORD_FIELD] : undefined;
  return isObject(records) ? records[operator] : undefined;
}

/** Reads the record of `operator` in `body`. */
export function readRecord(body: KubeBody, place: RecordPlace, operator: string): RecordReading {
  const stored = storedRecord(body, place, operator);
  if (stored === undefined || stored === null) return { type: "absent" };
  const record = typeof stored === "string" ? parse(stored) : stored;
  if (!isRecord(record)) return { type: "unreadable" };
  return record.uid === body.metadata?.uid ? { type: "found", record } : { type: "foreign" };
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
  const { handled, base, open, runs } = value;
  return (
    (handled === undefined || typeof handled === "string") &&
    (base === undefined || typeof base === "string") &&
    (open === undefined || isOpen(open)) &&
    (runs === undefined || (isObject(runs) && Object.values(runs).every(isRun)))
  );
}

function isOpen(value: unknown): value is OpenCycle {
  if (!isObject(value)) return false;
  const { reason, digest, only } = value;
  return typeof reason === "string" && typeof digest === "string" && (only === undefined || Array.isArray(only));
}

function isRun(value: unknown): value is RunRecord {
  if (!isObject(value) || typeof value.attempts !== "number" || typeof value.started !== "string") return false;
  return value.steps === undefined || isObject(value.steps);
}

/** Prefixes that tell how an essence is packed: as it is, or deflated. */
const PLAIN = "j";
const DEFLATED = "z";
const WORTH_DEFLATING = 256;

/** An essence as one short string. */
export function packEssence(essence: Essence): string {
  const json = canonical(essence);
  // Deflating takes ten times as long as everything else here, and gains nothing on what is this short.
  if (json.length < WORTH_DEFLATING) return PLAIN + json;
  const deflated = deflateRawSync(json, { level: 9 }).toString("base64");
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
