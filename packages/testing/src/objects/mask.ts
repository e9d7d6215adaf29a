/**
 * Objects without what differs from run to run: versions, times, the names that a server makes up, and what Lotse keeps on
 * them for itself. A uid becomes a number that stays with it: an object that carries its predecessor's uid can be told.
 * Pure.
 */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { titleOf } from "./rows.ts";

/** Masked objects by their titles: `ConfigMap default/settings`. */
export type Snapshot = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const UID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** The volume with a pod's token. */
const TOKEN_VOLUME = /\bkube-api-access-[a-z0-9]{5}\b/g;
const LOTSE_KEY = /(?:^|\.)(?:lotse\.dev|kopf\.zalando\.org)\//;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** Of the metadata; the generation counts changes, which is history and not state. */
const VOLATILE = new Set(["uid", "resourceVersion", "managedFields", "creationTimestamp", "generation", "selfLink"]);
/** What a server gives out by itself. */
const ALLOCATED = new Set([
  "clusterIP",
  "clusterIPs",
  "nodePort",
  "healthCheckNodePort",
  "volumeName",
  "nodeName",
  "podIP",
  "podIPs",
  "hostIP",
  "hostIPs",
  "containerID",
  "imageID",
]);

/** The objects as a snapshot, in the order of their titles. */
export function maskObjects(bodies: readonly KubeBody[]): Snapshot {
  const plain = bodies.map((body) => ({ body, form: formOf(body) }));
  const names = generatedNames(plain);
  const numbers = new Map<string, string>();
  const text = (value: string) =>
    named(value, names)
      .replaceAll(UID, (uid) => {
        const known = numbers.get(uid) ?? `<uid ${numbers.size + 1}>`;
        numbers.set(uid, known);
        return known;
      })
      .replaceAll(TIME, "<time>")
      .replaceAll(TOKEN_VOLUME, "kube-api-access-<n>");
  const entries = plain
    .map(({ body, form }) => ({ title: named(titleOf(body), names), body, form }))
    .sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0));
  return Object.fromEntries(
    entries.map(({ title, body, form }) => {
      const uid = body.metadata?.uid;
      const metadata = { ...(form.metadata as object), ...(uid !== undefined && { uid }) };
      return [title, translate({ ...form, metadata }, text) as Record<string, unknown>];
    }),
  );
}

/** What is compared of a body: without what is volatile, still with its own names and uids. */
function formOf(body: KubeBody): Record<string, unknown> {
  const { metadata = {}, status, ...rest } = body;
  const kept = Object.entries(metadata).filter(([key]) => !VOLATILE.has(key));
  const annotations = isObject(metadata.annotations) && withoutKeys(metadata.annotations, isBookkeeping);
  const form: Record<string, unknown> = {
    ...withoutAllocated(rest, isSecret(body)),
    metadata: { ...Object.fromEntries(kept), annotations: annotations && nonEmpty(annotations) },
  };
  const said = statusOf(status, metadata.generation);
  if (said !== undefined) form.status = said;
  return withoutUndefined(form) as Record<string, unknown>;
}

function isBookkeeping(key: string): boolean {
  return LOTSE_KEY.test(key) || key === LAST_APPLIED;
}

function isSecret({ apiVersion, kind }: KubeBody): boolean {
  return apiVersion === "v1" && kind === "Secret";
}

/** Whether a status is up to date counts, and not by which number. */
function statusOf(status: unknown, generation: unknown): unknown {
  if (!isObject(status)) return status;
  const { lotse: _record, kopf: _other, ...rest } = status;
  const current = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(current);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        key === "observedGeneration" && member === generation ? "<current>" : current(member),
      ]),
    );
  };
  return nonEmpty(hideAllocated(current(rest)) as Record<string, unknown>);
}

/** What is secret is shown by its size alone; snapshots are kept in repositories. */
function withoutAllocated(value: Record<string, unknown>, secret: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (secret && (key === "data" || key === "stringData") && isObject(member)) return [key, sizesOf(member)];
      return [key, hideAllocated(member)];
    }),
  );
}

function sizesOf(data: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, `<${Buffer.from(String(value), "base64").length} bytes>`]),
  );
}

function hideAllocated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideAllocated);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      ALLOCATED.has(key) && member !== "None" ? "<allocated>" : hideAllocated(member),
    ]),
  );
}

/** Names that the server has made up, and what they are called instead: `rate-x7k2p` is `rate-<1>`. */
function generatedNames(plain: readonly { body: KubeBody; form: object }[]): ReadonlyMap<string, string> {
  const groups = new Map<string, { name: string; text: string }[]>();
  for (const { body, form } of plain) {
    const { generateName, name } = body.metadata ?? {};
    if (!generateName || !name?.startsWith(generateName)) continue;
    const key = `${body.kind} ${body.metadata?.namespace ?? ""} ${generateName}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    // Two of them are told apart by what is in them, never by what was drawn.
    group.push({ name, text: JSON.stringify(form).replaceAll(name, "").replaceAll(UID, "").replaceAll(TIME, "") });
  }
  const names = new Map<string, string>();
  for (const [key, group] of groups) {
    const prefix = key.split(" ").at(-1) ?? "";
    group.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
    for (const [i, { name }] of group.entries()) names.set(name, `${prefix}<${i + 1}>`);
  }
  return names;
}

function named(value: string, names: ReadonlyMap<string, string>): string {
  let text = value;
  for (const [name, instead] of names) if (text.includes(name)) text = text.replaceAll(name, instead);
  return text;
}

function translate(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return value.map((item) => translate(item, text));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, translate(member, text)]));
}

function withoutKeys(value: Record<string, unknown>, drop: (key: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !drop(key)));
}

function nonEmpty(value: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, withoutUndefined(member)]])),
  );
}
