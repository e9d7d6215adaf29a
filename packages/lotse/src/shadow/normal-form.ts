/**
 * What of an object is compared: what somebody wants of it or says of it, and nothing that a server, a clock or Lotse
 * itself keeps there. Pure.
 */
import type { KubeBody, OwnerReference } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { withoutBookkeeping } from "../turn/index.ts";
import type { Aliases } from "./aliases.ts";

/** What counts as Lotse's own, and what names mean. */
export interface Lens {
  readonly aliases: Aliases;
  readonly bookkeeping: Bookkeeping;
}

/** What an operator keeps on objects for itself. */
export interface Bookkeeping {
  /** The body without records. */
  clear(body: KubeBody): KubeBody;
  readonly finalizers: ReadonlySet<string>;
}

/** See the module comment. */
export type NormalForm = Readonly<Record<string, unknown>>;

/** See the module comment. */
export function normalForm(body: KubeBody, { aliases, bookkeeping }: Lens): NormalForm {
  const { apiVersion: _, kind: __, metadata: ___, status, ...rest } = bookkeeping.clear(body);
  const form = { metadata: metadataOf(body, bookkeeping), ...rest, status: statusOf(status, body) };
  return (tidy(form, aliases) ?? {}) as NormalForm;
}

function metadataOf({ metadata = {} }: KubeBody, { finalizers }: Bookkeeping): Record<string, unknown> {
  return {
    labels: metadata.labels && withoutName(metadata.labels),
    annotations: metadata.annotations && withoutBookkeeping(metadata.annotations),
    ownerReferences: metadata.ownerReferences?.map(({ kind, name, uid }: OwnerReference) => ({ kind, name, uid })),
    finalizers: metadata.finalizers?.filter((name) => !finalizers.has(name)),
  };
}

/** The server says the name of a namespace once more: what was tried under another name has that one there, or none. */
function withoutName({ "kubernetes.io/metadata.name": _, ...labels }: Readonly<Record<string, string>>) {
  return labels;
}

/** Times in conditions tell when something was noticed, which is never the same moment. */
const NOTICED = ["lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime", "observedGeneration"];

function statusOf(status: unknown, { metadata }: KubeBody): unknown {
  if (!isObject(status)) return status;
  const { conditions, observedGeneration, ...rest } = status;
  return {
    ...rest,
    // Up to date is up to date, whichever number that is.
    ...(observedGeneration !== metadata?.generation && { observedGeneration }),
    conditions: Array.isArray(conditions) ? conditions.map(withoutTimes) : conditions,
  };
}

function withoutTimes(condition: unknown): unknown {
  if (!isObject(condition)) return condition;
  return Object.fromEntries(Object.entries(condition).filter(([key]) => !NOTICED.includes(key)));
}

/** Without what is empty, and with the names that the version that works has given. */
function tidy(value: unknown, aliases: Aliases): unknown {
  if (typeof value === "string") return aliases.translate(value);
  if (value === null) return undefined;
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => tidy(item, aliases) ?? (isObject(item) ? {} : null));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const kept = tidy(member, aliases);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
