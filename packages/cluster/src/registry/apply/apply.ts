import { deepEqual, isObject } from "@lotse/client/meta";
import type { Resolver, Schema } from "../schema/index.ts";
import { type Comparison, compareValues, differingParts } from "./compare.ts";
import type { Conflict } from "./conflicts.ts";
import { FieldSet, fieldElement } from "./field-set.ts";
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  identityKey,
  isReset,
  type ManagedFieldsEntry,
  type ManagerIdentity,
  type Managers,
} from "./managers.ts";
import { withImplicitStructs } from "./shape.ts";
import { checkApplied, mergeValues, removeFields, toFieldSet, withNamedFields } from "./typed.ts";

/** What every change of an object brings along. */
interface Context {
  /** The name that the fields are recorded under. */
  readonly manager: string;
  /** The version that the request speaks: `apps/v1`. */
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  /** The schema of the whole object in that version. */
  readonly schema: Schema;
  readonly resolve: Resolver;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Fields that the endpoint does not change, and that no manager gets to own through it: `[["status"]]`. */
  readonly ignore?: readonly (readonly string[])[] | undefined;
}

type Obj = Readonly<Record<string, unknown>>;

/** A server-side apply. */
export interface ApplyInput extends Context {
  /** The object as it is stored; undefined when the apply creates it. */
  readonly live: Obj | undefined;
  readonly applied: Obj;
  /** Take fields from their owners instead of answering with conflicts. */
  readonly force: boolean;
}

/** The merged object without its managedFields, and these; or why it was not merged. */
export type ApplyResult =
  | {
      readonly object: Record<string, unknown>;
      readonly managedFields: ManagedFieldsEntry[];
      /** False when neither the object nor the ownership of its fields changed. */
      readonly changed: boolean;
    }
  | { readonly conflicts: readonly Conflict[] };

/** A change by any other request. */
export interface UpdateInput extends Context {
  /** The object before; undefined on creation. */
  readonly old: Obj | undefined;
  /** What a new object of the kind has by itself, and no manager adds. */
  readonly zero?: Obj | undefined;
  /** The object as it will be stored; its managedFields are those that the client sent. */
  readonly next: Obj;
}

/** A configuration that cannot be applied: an unknown field, a list with the same key twice. The server answers 500. */
export class ApplyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ApplyError";
  }
}

/** Fields of every object that no manager owns. */
const UNOWNED = FieldSet.of(
  ...[
    ["apiVersion"],
    ["kind"],
    ["metadata"],
    ...["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"].map((name) => [
      "metadata",
      name,
    ]),
    ["metadata", "managedFields"],
    ["metadata", "resourceVersion"],
  ].map((path) => path.map(fieldElement)),
);

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Merges an applied configuration into an object and keeps the record of who owns which field. Fields that this manager
 * applied before and no longer does are removed, unless another manager owns them; fields that others own with another
 * value are conflicts. Mutates nothing; throws {@link ApplyError} for a configuration that does not fit the schema.
 */
export function applyConfiguration(input: ApplyInput): ApplyResult {
  const result = apply(input, input.force);
  if (!("conflicts" in result) || input.manager !== "kubectl" || !input.live) return result;
  // kubectl may take over what it wrote itself by client-side apply, and left in an annotation.
  const own = toFieldSet(lastApplied(input.live), input.schema, input.resolve);
  const foreign = result.conflicts.filter(({ path }) => FieldSet.of(path).intersection(own).empty);
  return foreign.length > 0 ? { conflicts: foreign } : apply(input, true);
}

function apply(input: ApplyInput, force: boolean): ApplyResult {
  const { schema, resolve } = input;
  const problems = checkApplied(input.applied, schema, resolve);
  if (problems.length > 0) throw new ApplyError(describe(input, problems));
  const live = withoutManagedFields(input.live ?? {});
  const before = decodeManagers(managedFieldsOf(input.live)) ?? new Map();
  const managers: Managers = new Map(before);
  if (managers.size === 0 && input.live) ownEverything(input, live, managers);

  const identity = identityOf(input, "Apply");
  const key = identityKey(identity);
  const last = managers.get(key);
  const claimed = toFieldSet(input.applied, schema, resolve).without(ignored(input));
  managers.set(key, { identity, set: claimed, time: last?.time });
  const merged = mergeValues(live, input.applied, schema, resolve);
  const pruned = last ? pruneFields(merged, last.set, managers, schema, resolve) : { kept: merged, marked: merged };

  const conflicts = takeFields(managers, key, compare(input, live, asObject(pruned.marked)), force);
  if (conflicts.length > 0) return { conflicts };
  const object = refreshLastApplied(input, asObject(pruned.kept));
  const set = claimed.difference(UNOWNED);
  if (set.empty) managers.delete(key);
  else {
    // An apply that only claims or gives up fields leaves no mark in time.
    const moved = !deepEqual(live, object);
    managers.set(key, { identity, set, time: moved ? timestamp(input.now) : last?.time });
  }
  const managedFields = encodeManagers(managers);
  const changed = !deepEqual(live, object) || !deepEqual(managedFields, encodeManagers(before));
  return { object, managedFields, changed };
}

/** The record of who owns which field after a change that was no apply. */
export function trackUpdate(input: UpdateInput): ManagedFieldsEntry[] {
  const managers = managersOf(input);
  // Clients that cleared the record do not want one; it starts again with the first apply.
  if (managers.size === 0 && input.old) return [];
  const before = withoutManagedFields(input.old ?? input.zero ?? {});
  recordUpdate(input, before, withoutManagedFields(input.next), managers);
  capUpdaters(managers);
  return encodeManagers(managers);
}

function recordUpdate(context: Context, before: Obj, after: Obj, managers: Managers): void {
  const comparison = compare(context, before, after);
  takeFields(managers, undefined, comparison, true);
  const taken = comparison.added.union(comparison.modified).difference(UNOWNED);
  if (taken.empty) return;
  const identity = identityOf(context, "Update");
  const key = identityKey(identity);
  const previous = managers.get(key);
  managers.set(key, { identity, set: previous ? taken.union(previous.set) : taken, time: timestamp(context.now) });
}

/** Who owned the fields of an object that was never applied to is unknown: one manager stands for all of them. */
function ownEverything(input: ApplyInput, live: Obj, managers: Managers): void {
  recordUpdate(
    { ...input, manager: "before-first-apply" },
    { apiVersion: live.apiVersion, kind: live.kind },
    live,
    managers,
  );
}

/** The client may correct the record itself, but neither through a subresource nor with entries that make no sense. */
function managersOf({ old, next, subresource }: UpdateInput): Managers {
  const stored = () => decodeManagers(managedFieldsOf(old)) ?? new Map();
  if (subresource) return stored();
  const sent = managedFieldsOf(next);
  if (isReset(sent)) return new Map();
  const managers = decodeManagers(sent);
  return managers && managers.size > 0 ? managers : stored();
}

function compare(context: Context, before: Obj, after: Obj): Comparison {
  const { schema, resolve } = context;
  const [old, next] = differingParts(before, after) ?? [{}, {}];
  const fill = (value: unknown) => withImplicitStructs(value, schema, resolve);
  // Once more, because both sides were filled with the same structs.
  const [left, right] = differingParts(fill(old), fill(next)) ?? [{}, {}];
  const comparison = compareValues(left, right, schema, resolve);
  const skip = ignored(context);
  if (skip.empty) return comparison;
  return {
    added: comparison.added.without(skip),
    modified: comparison.modified.without(skip),
    removed: comparison.removed.without(skip),
  };
}

/** Takes what changed from all other managers; without force, what they own and lose is told instead. */
function takeFields(managers: Managers, own: string | undefined, comparison: Comparison, force: boolean): Conflict[] {
  const changed = comparison.modified.union(comparison.added);
  const conflicts: Conflict[] = [];
  const rest: Managers = new Map();
  for (const [key, managed] of managers) {
    if (key === own) continue;
    const lost = managed.set.intersection(changed);
    if (!force) conflicts.push(...lost.paths().map((path) => ({ manager: managed.identity, path })));
    rest.set(key, { ...managed, set: managed.set.difference(lost).difference(comparison.removed) });
  }
  if (conflicts.length > 0) return conflicts;
  for (const [key, managed] of rest) {
    if (managed.set.empty) managers.delete(key);
    else managers.set(key, managed);
  }
  return [];
}

/**
 * Removes what the manager applied last time and not now, as far as no other manager owns it. `marked` is the same with
 * null where a container was emptied, for those who own the container keep it.
 */
function pruneFields(
  merged: unknown,
  last: FieldSet,
  managers: Managers,
  schema: Schema,
  resolve: Resolver,
): { kept: unknown; marked: unknown } {
  const named = (set: FieldSet) => withNamedFields(set, schema, resolve);
  const fields = (value: unknown) => named(toFieldSet(value, schema, resolve));
  const without = (set: FieldSet) => removeFields(merged, set, schema, resolve, null);
  const all = fields(merged);
  const applied = named(last);
  let owned = new FieldSet();
  for (const { set } of managers.values()) owned = owned.union(set);
  const rest = fields(without(applied)).union(named(owned));
  const gone = all.difference(fields(without(all.difference(rest)))).intersection(applied);
  return { kept: removeFields(merged, gone, schema, resolve, undefined), marked: without(gone) };
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function identityOf({ manager, apiVersion, subresource }: Context, operation: "Apply" | "Update"): ManagerIdentity {
  return { manager: manager || "unknown", operation, apiVersion, ...(subresource ? { subresource } : {}) };
}

function ignored({ ignore }: Context): FieldSet {
  return FieldSet.of(...(ignore ?? []).map((path) => path.map(fieldElement)));
}

function timestamp(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

function managedFieldsOf(object: Obj | undefined): unknown {
  return isObject(object?.metadata) ? object.metadata.managedFields : undefined;
}

function withoutManagedFields(object: Obj): Record<string, unknown> {
  if (!isObject(object.metadata) || !Object.hasOwn(object.metadata, "managedFields")) return { ...object };
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function lastApplied(object: Obj): unknown {
  const annotations = isObject(object.metadata) ? object.metadata.annotations : undefined;
  const text = isObject(annotations) ? annotations[LAST_APPLIED] : undefined;
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Client-side apply compares with its annotation: where one is, an apply of kubectl keeps it true, owning it or not. */
function refreshLastApplied(
  { applied, manager }: ApplyInput,
  object: Record<string, unknown>,
): Record<string, unknown> {
  if (manager !== "kubectl" || lastApplied(object) === undefined) return object;
  const { annotations: sent, ...rest } = isObject(applied.metadata) ? applied.metadata : {};
  const { [LAST_APPLIED]: _, ...kept } = isObject(sent) ? sent : {};
  // Keys are in order. Annotations that were not applied are not remembered, unlike those of which none are left.
  const config = sortKeys({ ...applied, metadata: isObject(sent) ? { ...rest, annotations: kept } : rest });
  const metadata = object.metadata as Obj;
  const annotations = { ...(metadata.annotations as Obj), [LAST_APPLIED]: `${JSON.stringify(config)}\n` };
  return { ...object, metadata: { ...metadata, annotations } };
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}

function describe({ applied, apiVersion }: ApplyInput, problems: readonly string[]): string {
  const { name = "", namespace = "" } = isObject(applied.metadata) ? applied.metadata : {};
  const group = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  const text = problems.length === 1 ? problems[0] : `errors:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
  return `failed to create typed patch object (${namespace}/${name}; ${group}, Kind=${applied.kind}): ${text}`;
}
