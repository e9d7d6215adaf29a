/**
 * The essence: what is wanted of an object. Only a change of it is a change; versions, generations, status,
 * finalizers, owners and the bookkeeping of clients are not.
 */
import { hash } from "node:crypto";
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { type ChangeHandler, type Essence, fieldKeys, valueAt } from "../declare/index.ts";
import { RECORD_FIELD } from "../schema/index.ts";
import { withoutField } from "./fields.ts";

export type { Essence } from "../declare/index.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Annotations of any Lotse operator: two of them on one object must not wake each other. */
const LOTSE_ANNOTATION = /(?:^|\.)lotse\.dev\//;

/** Kopf's own prefix, and any other that it has marked as its own. */
const KOPF_ANNOTATION = /^(?:[^/]+\.)?kopf\.zalando\.org\//;
const KOPF_MARK = "/kopf-managed";

/** Fields that handlers name: they are part of the essence wherever they are. */
export type EssenceFields = readonly (readonly string[])[];

/** The fields that `handlers` name. */
export function fieldsOf(handlers: readonly ChangeHandler[]): EssenceFields {
  return handlers.flatMap(({ filters }) => (filters.field === undefined ? [] : [fieldKeys(filters.field)]));
}

/** The essence of `body`: with the fields that handlers name, without those that the settings leave out. */
export function essenceOf(body: KubeBody, fields: EssenceFields = [], ignored: EssenceFields = []): Essence {
  let essence = wishesOf(body);
  for (const path of fields) {
    const value = withoutRecord(path, valueAt(body, path));
    if (value !== undefined) essence = withValue(essence, path, value) as Essence;
  }
  for (const path of ignored) essence = withoutField(essence, path);
  return essence;
}

/** A handler that names the whole status does not mean what Lotse keeps in it. */
function withoutRecord(path: readonly string[], value: unknown): unknown {
  if (path.length !== 1 || path[0] !== "status" || !isObject(value)) return value;
  const { [RECORD_FIELD]: _record, ...rest } = value;
  return nonEmpty(rest);
}

function withValue(target: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const object = isObject(target) ? target : {};
  return { ...object, [key]: withValue(object[key], rest, value) };
}

function wishesOf(body: KubeBody): Essence {
  const { apiVersion: _apiVersion, kind: _kind, metadata, status: _status, ...rest } = body;
  const kept: Record<string, unknown> = {};
  const labels = nonEmpty(metadata?.labels ?? {});
  const annotations = metadata?.annotations && nonEmpty(withoutBookkeeping(metadata.annotations));
  if (labels) kept.labels = labels;
  if (annotations) kept.annotations = annotations;
  return nonEmpty(kept) ? { ...rest, metadata: kept } : rest;
}

/** Annotations without the bookkeeping of kubectl, of Lotse, and of Kopf, which may work on the same object. */
export function withoutBookkeeping(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  let ofKopf: string[] | undefined;
  for (const key of Object.keys(annotations)) {
    if (key === LAST_APPLIED || LOTSE_ANNOTATION.test(key) || KOPF_ANNOTATION.test(key)) continue;
    ofKopf ??= Object.keys(annotations).flatMap((other) => (other.endsWith(KOPF_MARK) ? [prefixOf(other)] : []));
    if (!ofKopf.includes(prefixOf(key))) kept[key] = annotations[key] as string;
  }
  return kept;
}

function prefixOf(key: string): string {
  return key.slice(0, key.indexOf("/") + 1);
}

/** A short stable hash of an essence; the order of keys does not matter. */
export function digestOf(essence: Essence): string {
  // 96 bits: two different essences of one object never meet in practice, and the record stays small.
  return hash("sha256", canonical(essence), "base64url").slice(0, 16);
}

/** JSON with sorted keys and without undefined. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) parts.push(`${JSON.stringify(key)}:${canonical(value[key])}`);
  }
  return `{${parts.join(",")}}`;
}

function nonEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
