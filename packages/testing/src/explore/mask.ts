/**
 * Objects as far as they may be compared between two runs: without times and versions, and with uids and generated names
 * replaced by what they stand for. A uid is not blanked: an object that carries the data of its predecessor must show.
 */
import type { ObjectBody } from "@lotse/client";

/** What is known of an object that is, or was, in the cluster. */
export interface KnownObject {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The name without what the server has made up. */
  readonly masked: string;
  readonly uid: string;
  isGone: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/g;
const ADDRESS = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/;
const OWN_KEY = /(?:^|\.)(?:lotse\.dev|kopf\.dev|kopf\.zalando\.org)\//;

/** The name of an object without what the server has made up. */
export function maskedName({ metadata = {} }: ObjectBody): string {
  const { name = "", generateName } = metadata;
  return generateName && name.startsWith(generateName) && name !== generateName ? `${generateName}*` : name;
}

/** See the module comment. */
export class Mask {
  readonly #byUid = new Map<string, KnownObject>();
  readonly #byName = new Map<string, string>();

  /** An object is there. */
  created(resource: string, body: ObjectBody): void {
    const { uid = "", name = "", namespace } = body.metadata ?? {};
    const masked = maskedName(body);
    this.#byUid.set(uid, { resource, namespace, name, masked, uid, isGone: false });
    if (masked !== name) this.#byName.set(name, masked);
  }

  /** An object is there no longer. */
  deleted(uid: string): void {
    const known = this.#byUid.get(uid);
    if (known) known.isGone = true;
  }

  /** The name, as far as it may be compared. */
  name(name: string): string {
    return this.#byName.get(name) ?? name;
  }

  /** A text, as far as it may be compared. */
  text(text: string): string {
    if (ADDRESS.test(text)) return "<address>";
    let masked = text.replace(TIME, "<time>").replace(UUID, (uid) => this.#uid(uid));
    for (const [name, stands] of this.#byName) if (masked.includes(name)) masked = masked.replaceAll(name, stands);
    return masked;
  }

  /** Any value, as far as it may be compared. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return sortedConditions(value.map((one) => this.value(one)));
    if (typeof value !== "object" || value === null) return value;
    // When something happened is a matter of the run, and so is whether it was seen to happen at all.
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, one]) => [this.text(key), this.value(one)])
        .filter(([, one]) => one !== "<time>"),
    );
  }

  /** An object, as far as it may be compared. */
  object(body: ObjectBody): unknown {
    const { metadata = {}, status, ...rest } = body as ObjectBody & { status?: Record<string, unknown> };
    const { labels, annotations, ownerReferences, finalizers, generation } = metadata;
    const own = (map: Readonly<Record<string, string>> | undefined) =>
      map && Object.fromEntries(Object.entries(map).filter(([key]) => !OWN_KEY.test(key)));
    const { lotse: _, kopf: __, conditions, ...left } = status ?? {};
    const said = Array.isArray(conditions) ? conditions.filter((one) => !isOwnProgress(one)) : conditions;
    return dropEmpty({
      ...(this.value(rest) as object),
      metadata: dropEmpty({
        labels: this.value(own(labels)),
        annotations: this.value(own(annotations)),
        ownerReferences: this.value(ownerReferences),
        finalizers: finalizers?.filter((name) => !OWN_KEY.test(name)),
        deleted: metadata.deletionTimestamp === undefined ? undefined : "is waiting for its finalizers",
      }),
      status: dropEmpty(this.value(withGeneration({ ...left, conditions: said }, generation)) as object),
    });
  }

  #uid(uid: string): string {
    const known = this.#byUid.get(uid);
    if (!known) return "<uuid>";
    const { resource, namespace, masked, isGone } = known;
    return `<uid of ${isGone ? "a former " : ""}${[resource, namespace, masked].filter(Boolean).join(" ")}>`;
  }
}

/** That work goes on or waits is Lotse's own note of how far it has got, as its record is. */
function isOwnProgress(condition: unknown): boolean {
  return (condition as { type?: unknown } | null)?.type === "Reconciling";
}

/** A generation is only a number; what counts is whether the newest one was seen. */
function withGeneration(value: unknown, generation: number | undefined): unknown {
  if (Array.isArray(value)) return value.map((one) => withGeneration(one, generation));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (key !== "observedGeneration" || typeof one !== "number") return [key, withGeneration(one, generation)];
      return [key, one === generation ? "<newest>" : "<behind>"];
    }),
  );
}

function sortedConditions(items: unknown[]): unknown[] {
  const types = items.map((item) => (item as { type?: unknown; status?: unknown } | null)?.type);
  const areConditions =
    items.length > 1 && types.every((type) => typeof type === "string") && new Set(types).size === types.length;
  if (!areConditions || !items.every((item) => typeof item === "object" && item !== null && "status" in item))
    return items;
  return items
    .map((item, i) => ({ item, type: types[i] as string }))
    .sort((a, b) => (a.type < b.type ? -1 : 1))
    .map(({ item }) => item);
}

function dropEmpty(object: object): object | undefined {
  const entries = Object.entries(object).filter(([, value]) => {
    if (value === undefined) return false;
    return typeof value !== "object" || value === null || Object.keys(value).length > 0;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
