/**
 * Where an object carries what another version of it holds and its own does not: in one annotation, and for the status,
 * which has a right of its own to be written, beside Lotse's record in the status. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { byteLength, isObject } from "@lotse/client/meta";
import { RECORD_FIELD } from "../../schema/index.ts";
import { type KeptFields, readKept } from "./kept.ts";

/** What a version cannot hold, by the version that can. */
export const KEPT_ANNOTATION = "lotse.dev/kept";

/** The same of the status, as `status.lotse._kept`: no operator has such a name. */
export const KEPT_IN_STATUS = "_kept";

/** All annotations of an object together may have 256 KiB; half of it is left to others. */
const MOST_BYTES = 128 * 1024;
const MOST_BYTES_OF_ALL = 256 * 1024;

/** Deeper than any object that the API server takes; what is deeper was made to harm. */
const DEEPEST = 1_000;

/** What an object carries. */
export interface Carried {
  /** By the version that holds it: differences of `spec` and `status`. */
  readonly kept: ReadonlyMap<string, KeptFields>;
  /** Versions of which more would have to be kept than there is room for, with that many bytes. */
  readonly tooLarge: ReadonlyMap<string, number>;
  /** Whether a client has edited it so that it cannot be read. */
  readonly damaged: boolean;
}

/** What `body` carries, and `body` without it. */
export function unload(body: KubeBody): { readonly body: KubeBody; readonly carried: Carried } {
  const annotation = body.metadata?.annotations?.[KEPT_ANNOTATION];
  const records = isObject(body.status) ? body.status[RECORD_FIELD] : undefined;
  const inStatus = isObject(records) ? records[KEPT_IN_STATUS] : undefined;
  if (annotation === undefined && inStatus === undefined) return { body, carried: NOTHING };
  const kept = new Map<string, KeptFields>();
  const tooLarge = new Map<string, number>();
  const readable = [parsed(annotation), inStatus].map((part, i) => read(part, i === 1, kept, tooLarge));
  return { body: without(body), carried: { kept, tooLarge, damaged: !readable.every(Boolean) } };
}

const NOTHING: Carried = { kept: new Map(), tooLarge: new Map(), damaged: false };

/** `body` with what it has to carry; and what there is no room for, by version with its bytes. */
export function load(
  body: KubeBody,
  { kept, tooLarge }: Omit<Carried, "damaged">,
): { readonly body: KubeBody; readonly left: ReadonlyMap<string, number> } {
  const annotation: Record<string, unknown> = {};
  const inStatus: Record<string, unknown> = {};
  for (const [version, bytes] of tooLarge) annotation[version] = bytes;
  for (const [version, fields] of kept) {
    const { status, ...rest } = fields as Record<string, KeptFields>;
    if (status !== undefined) inStatus[version] = { status };
    if (Object.keys(rest).length > 0) annotation[version] = rest;
  }
  const others = annotationBytes(body) + KEPT_ANNOTATION.length;
  const left = new Map([
    ...bound(annotation, Math.min(MOST_BYTES, MOST_BYTES_OF_ALL - others)),
    ...bound(inStatus, MOST_BYTES),
  ]);
  const marked = Object.keys(annotation).length > 0 ? withAnnotation(body, JSON.stringify(annotation)) : body;
  return { body: Object.keys(inStatus).length > 0 ? withStatus(marked, inStatus) : marked, left };
}

/** In the place of what has no room stands the number of its bytes. */
function bound(parts: Record<string, unknown>, room: number): [version: string, bytes: number][] {
  const left: [string, number][] = [];
  for (const version of Object.keys(parts).sort((a, b) => size(parts[b]) - size(parts[a]))) {
    if (size(parts) <= room) break;
    if (typeof parts[version] === "number") continue;
    const bytes = size(parts[version]);
    parts[version] = bytes;
    left.push([version, bytes]);
  }
  return left;
}

function size(value: unknown): number {
  return byteLength(JSON.stringify(value));
}

function annotationBytes({ metadata }: KubeBody): number {
  const all = Object.entries(metadata?.annotations ?? {});
  return all.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(String(value)), 0);
}

function parsed(text: unknown): unknown {
  if (text === undefined) return undefined;
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : null;
  } catch {
    return null;
  }
}

/** Adds what was read of one of the two places; false if it is not what {@link load} writes. */
function read(part: unknown, ofStatus: boolean, kept: Map<string, KeptFields>, tooLarge: Map<string, number>): boolean {
  if (part === undefined) return true;
  if (!isObject(part) || isDeep(part, DEEPEST)) return false;
  let readable = true;
  for (const [version, value] of Object.entries(part)) {
    const fields = isObject(value) ? readKept(value) : undefined;
    if (typeof value === "number") tooLarge.set(version, Math.max(value, tooLarge.get(version) ?? 0));
    // Each place speaks of its own part of the object: who may write the one may not have a right to write the other.
    else if (fields && Object.keys(fields).every((key) => (ofStatus ? key === "status" : key === "spec"))) {
      kept.set(version, { ...(kept.get(version) as Record<string, KeptFields>), ...(fields as object) });
    } else readable = false;
  }
  return readable;
}

function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((member) => isDeep(member, left - 1));
}

function without(body: KubeBody): KubeBody {
  const { [KEPT_ANNOTATION]: _kept, ...annotations } = body.metadata?.annotations ?? {};
  const { annotations: _all, ...metadata } = body.metadata ?? {};
  const bare = {
    ...body,
    metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata,
  } as KubeBody;
  if (!isObject(bare.status)) return bare;
  const { [RECORD_FIELD]: records, ...rest } = bare.status;
  if (!isObject(records) || !Object.hasOwn(records, KEPT_IN_STATUS)) return bare;
  const { [KEPT_IN_STATUS]: _keptToo, ...others } = records;
  if (Object.keys(others).length > 0) return { ...bare, status: { ...rest, [RECORD_FIELD]: others } };
  if (Object.keys(rest).length > 0) return { ...bare, status: rest };
  const { status: _status, ...whole } = bare;
  return whole;
}

function withAnnotation(body: KubeBody, text: string): KubeBody {
  const { metadata } = body;
  return { ...body, metadata: { ...metadata, annotations: { ...metadata?.annotations, [KEPT_ANNOTATION]: text } } };
}

function withStatus(body: KubeBody, kept: Record<string, unknown>): KubeBody {
  const status = isObject(body.status) ? body.status : {};
  const records = isObject(status[RECORD_FIELD]) ? status[RECORD_FIELD] : {};
  return { ...body, status: { ...status, [RECORD_FIELD]: { ...records, [KEPT_IN_STATUS]: kept } } };
}
