/**
 * The essence: what is wanted of an object. Only a change of it is a change; versions, generations, status,
 * finalizers, owners and the bookkeeping of clients are not.
 */
import { hash } from "node:crypto";
import type { KubeBody } from "@lotse/client";
import { deepEqual, isObject, setKey } from "@lotse/client/meta";
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
  const wishes: Record<string, unknown> = {};
  for (const key of Object.keys(body)) if (!NOT_WISHED.has(key)) setKey(wishes, key, body[key]);
  const labels = body.metadata?.labels && nonEmpty(body.metadata.labels);
  const annotations = body.metadata?.annotations && nonEmpty(withoutBookkeeping(body.metadata.annotations));
  if (!labels && !annotations) return wishes;
  const kept: Record<string, unknown> = {};
  if (labels) kept.labels = labels;
  if (annotations) kept.annotations = annotations;
  wishes.metadata = kept;
  return wishes;
}

/**
 * Whether all that an essence can be made of is equal in two bodies, so that nothing has to be made of it. False says
 * nothing: they may differ in bookkeeping alone, or in a field that no handler names.
 */
export function areAlike(a: KubeBody, b: KubeBody): boolean {
  if (!deepEqual(a.metadata?.labels, b.metadata?.labels)) return false;
  if (!deepEqual(a.metadata?.annotations, b.metadata?.annotations)) return false;
  let others = 0;
  for (const key of Object.keys(a)) {
    if (NOT_WISHED.has(key)) continue;
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    others++;
  }
  for (const key of Object.keys(b)) if (!NOT_WISHED.has(key)) others--;
  return others === 0;
}

const NOT_WISHED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

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
  return digestOfText(canonical(essence));
}

/** The same of its {@link canonical} text. */
function digestOfText(text: string): string {
  // 96 bits: two different essences of one object never meet in practice, and the record stays small.
  return hash("sha256", text, "base64url").slice(0, 16);
}

/** An essence, and what is made of it more than once in a turn. */
export class KnownEssence {
  readonly essence: Essence;
  readonly digest: string;
  /** Its {@link canonical} text. */
  readonly text: string;

  constructor(essence: Essence) {
    this.essence = essence;
    this.text = canonical(essence);
    this.digest = digestOfText(this.text);
  }
}

/** JSON with sorted keys and without undefined. */
export function canonical(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) {
    let text = "[";
    for (let i = 0; i < value.length; i++)
      text += i === 0 ? canonical(value[i] ?? null) : `,${canonical(value[i] ?? null)}`;
    return `${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  if (!isSorted(keys)) keys.sort();
  let text = "{";
  for (const key of keys) {
    const member = members[key];
    if (member === undefined) continue;
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${canonical(member)}`;
  }
  return `${text}}`;
}

/** What an API server sends of its own kinds, and of most others, is sorted already. */
function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

function nonEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
