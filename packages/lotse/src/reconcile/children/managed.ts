/**
 * Which fields of a child another client has changed since it was applied, by what the server records of every field
 * (`metadata.managedFields`). A client that changes a field takes it over, and one that removes it takes it away from its
 * manager. So a field that our last apply set and that is still ours has the value that the server made of ours, however
 * different it looks: an amount in another form, a default, something that it does not keep. Pure.
 */
import type { KubeBody, ManagedFieldsEntry } from "@lotse/client";
import { deepEqual, isObject } from "@lotse/client/meta";
import type { DriftedField } from "../../declare/index.ts";
import { type Same, shows } from "./compare.ts";

/** A tree of fields: `{ "f:spec": { "f:containers": { 'k:{"name":"web"}': { "f:image": {} } } } }`. */
type Fields = Readonly<Record<string, unknown>>;

/** Where something is, for people and for the server. */
interface Place {
  /** `spec.containers[name=web].image` */
  readonly text: string;
  /** The keys that lead to it in a tree of fields. */
  readonly keys: readonly string[];
  /** The names of the field and of the one above it, which tell amounts from texts. */
  readonly name: string;
  readonly above: string;
}

/** What everybody but us has, and what counts as the same. */
interface Look {
  readonly others: readonly ManagedFieldsEntry[];
  readonly same: Same | undefined;
}

/** Names that say which object this is: no manager owns them. */
const UNOWNED: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata.name", "metadata.namespace"]);

/** What differs between `live` and what `manager` applied last, because another client has changed it. */
export function driftIn(live: KubeBody, wanted: KubeBody, manager: string, same: Same | undefined): DriftedField[] {
  const entries = live.metadata?.managedFields ?? [];
  const own = entries.find((entry) => entry.manager === manager && entry.operation === "Apply" && !entry.subresource);
  const look: Look = { others: entries.filter((entry) => entry !== own), same };
  return inMembers(look, live, wanted, own?.fieldsV1, { text: "", keys: [], name: "", above: "" });
}

/** `owned`: what of it is still ours; undefined when nothing is. */
function inField(look: Look, live: unknown, wanted: unknown, owned: Fields | undefined, at: Place): DriftedField[] {
  if (UNOWNED.has(at.text) || shows(live, wanted, look.same, at.above, at.name)) return [];
  // Ours as a whole.
  if (owned && Object.keys(owned).length === 0) return [];
  if (isObject(wanted) && (isObject(live) || owned)) return inMembers(look, live, wanted, owned, at);
  if (Array.isArray(wanted)) {
    const theirs = look.others.map(({ fieldsV1 }) => fieldsAt(fieldsV1, at.keys));
    if ([owned, ...theirs].some(hasItems)) return inItems(look, live, wanted, owned, theirs, at);
  }
  return [{ path: at.text, live, wanted, by: managersOf(look.others, at.keys) }];
}

function inMembers(
  look: Look,
  live: unknown,
  wanted: Readonly<Record<string, unknown>>,
  owned: Fields | undefined,
  at: Place,
): DriftedField[] {
  const present = isObject(live) ? live : {};
  return Object.keys(wanted).flatMap((key) => {
    const text = at.text ? `${at.text}.${key}` : key;
    const place = { text, keys: [...at.keys, `f:${key}`], name: key, above: at.name };
    return inField(look, present[key], wanted[key], childOf(owned, `f:${key}`), place);
  });
}

/**
 * A list whose items have owners of their own: they are found by their keys, wherever they stand. What others add is
 * theirs, so no manager can say that such a list shall be empty.
 */
function inItems(
  look: Look,
  live: unknown,
  wanted: readonly unknown[],
  owned: Fields | undefined,
  theirs: readonly (Fields | undefined)[],
  at: Place,
): DriftedField[] {
  const present = Array.isArray(live) ? live : [];
  const ours = new Set(Object.keys(owned ?? {}));
  const foreign = new Set(theirs.flatMap((fields) => Object.keys(fields ?? {})));
  const names = keyNames([...ours, ...foreign]);
  return wanted.flatMap((item) => {
    const own = keyFor(item, ours);
    if (own !== undefined) ours.delete(own);
    const key = own ?? keyFor(item, foreign);
    const found = present.find((one) => (key === undefined ? isTwin(one, item, names) : isKeyed(one, key)));
    const place = { ...at, text: `${at.text}[${itemText(item, names)}]`, keys: [...at.keys, key ?? NOBODYS] };
    return inField(look, found, item, own === undefined ? undefined : childOf(owned, own), place);
  });
}

/** Stands for an item that is in no tree of fields. */
const NOBODYS = "";

/** Which entry of a list is about this item. Keys may have defaults that the item does not name, so the best one counts. */
function keyFor(item: unknown, free: ReadonlySet<string>): string | undefined {
  if (!isObject(item)) {
    const text = `v:${JSON.stringify(item)}`;
    return free.has(text) ? text : undefined;
  }
  let best: { readonly key: string; readonly named: number } | undefined;
  for (const key of free) {
    if (!key.startsWith("k:")) continue;
    const keys = Object.entries(keysIn(key));
    if (!keys.every(([name, value]) => item[name] === undefined || deepEqual(item[name], value))) continue;
    const named = keys.filter(([name]) => item[name] !== undefined).length;
    if (named > (best?.named ?? 0)) best = { key, named };
  }
  return best?.key;
}

function keysIn(key: string): Readonly<Record<string, unknown>> {
  if (!key.startsWith("k:")) return {};
  return JSON.parse(key.slice(2)) as Record<string, unknown>;
}

/** The names by which the items of a list are told apart. */
function keyNames(keys: readonly string[]): string[] {
  const first = keys.find((key) => key.startsWith("k:"));
  return first === undefined ? [] : Object.keys(keysIn(first));
}

function isKeyed(live: unknown, key: string): boolean {
  if (!key.startsWith("k:")) return key === `v:${JSON.stringify(live)}`;
  return isObject(live) && Object.entries(keysIn(key)).every(([name, value]) => deepEqual(live[name], value));
}

function isTwin(live: unknown, item: unknown, names: readonly string[]): boolean {
  if (!isObject(live) || !isObject(item)) return deepEqual(live, item);
  const named = names.filter((name) => item[name] !== undefined);
  return named.length > 0 && named.every((name) => deepEqual(live[name], item[name]));
}

function itemText(item: unknown, names: readonly string[]): string {
  if (!isObject(item)) return String(item);
  const parts = names.flatMap((name) => (item[name] === undefined ? [] : [`${name}=${String(item[name])}`]));
  return parts.join(",");
}

function childOf(fields: Fields | undefined, key: string): Fields | undefined {
  const child = fields?.[key];
  return isObject(child) ? child : undefined;
}

function hasItems(fields: Fields | undefined): boolean {
  return fields !== undefined && Object.keys(fields).some((key) => key.startsWith("k:") || key.startsWith("v:"));
}

/** The fields below a place; empty when something above it is owned as a whole. */
function fieldsAt(fields: Fields | undefined, keys: readonly string[]): Fields | undefined {
  let here = fields;
  for (const key of keys) {
    if (here && Object.keys(here).length === 0) return here;
    here = childOf(here, key);
  }
  return here;
}

/** Whose the field is now; undefined when a client took it away. */
function managersOf(entries: readonly ManagedFieldsEntry[], keys: readonly string[]): string[] {
  const names = entries.flatMap(({ manager, fieldsV1 }) =>
    manager !== undefined && fieldsAt(fieldsV1, keys) !== undefined ? [manager] : [],
  );
  return [...new Set(names)];
}
