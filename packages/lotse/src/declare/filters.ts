/**
 * Filters say which objects, and which changes of them, a handler is for. They look at what they are given and nothing
 * else, so they can be asked at any time and as often as wanted.
 */
import { deepEqual, diff, isObject } from "@lotse/client/meta";
import type { Difference, Memo, Reason } from "./cause.ts";
import { isCut } from "./cut.ts";
import { type FieldPath, fieldKeys, type PathIn } from "./field-path.ts";
import type { DeepReadonly } from "./readonly.ts";

/** Matches when the value is there, whatever it is. */
export const present: unique symbol = Symbol.for("lotse.present");
/** Matches when the value is not there. */
export const absent: unique symbol = Symbol.for("lotse.absent");

/** What a value has to be: a literal, a pattern, {@link present}, {@link absent} or a predicate. */
export type ValueFilter<T = unknown> =
  | (T extends (...args: never[]) => unknown ? never : T)
  | RegExp
  | typeof present
  | typeof absent
  | ((value: T | undefined) => boolean);

/** Label or annotation keys and what their values have to be; all must match. */
export type MapFilter = Readonly<Record<string, ValueFilter<string>>>;

/** What a `when` filter gets: one object. */
export interface FilterContext<B> {
  readonly body: DeepReadonly<B>;
  readonly metadata: DeepReadonly<Part<B, "metadata">>;
  readonly spec: DeepReadonly<Part<B, "spec">>;
  readonly status: DeepReadonly<Partial<Part<B, "status">>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
}

/** What a `when` filter of a handler gets: the object, and what has become of it where that is known. */
export interface WhenContext<B> extends FilterContext<B>, Partial<FilterCause> {
  /** For handlers of changes: the differences from `old` to `new`. */
  readonly diff: readonly Difference[];
}

/** Beside the object itself. */
export interface FilterCause {
  /** For handlers of changes: why they would be called. */
  readonly reason: Reason | undefined;
  /** For handlers of changes: what users wanted of the object before. */
  readonly old: object | undefined;
  /** For handlers of changes: what users want of it now. */
  readonly new: object | undefined;
  /** For handlers of events. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | undefined;
  readonly memo: Memo;
  readonly param: unknown;
}

type Part<B, Key extends string> = Key extends keyof B ? NonNullable<B[Key]> : Record<string, unknown>;

/** Which objects a handler is for. */
export interface Filters<B, F extends FieldPath = FieldPath> {
  /** Labels that the object must have. */
  readonly labels?: MapFilter;
  /** Annotations that the object must have. */
  readonly annotations?: MapFilter;
  /** Any other question about the object. Must not have side effects. */
  readonly when?: (context: WhenContext<B>) => boolean;
  /** A field that the object must have; `old`, `new` and `diff` are reduced to it. */
  readonly field?: [F] extends [PathIn<B, F>] ? F : PathIn<B, F>;
  /** What the value of `field` has to be. */
  readonly value?: ValueFilter;
}

/** Which changes a handler is for; the handler needs a `field`. */
export interface ChangeFilters {
  /** What the value of `field` has to have been. */
  readonly old?: ValueFilter;
  /** What the value of `field` has to be now. */
  readonly new?: ValueFilter;
}

interface Filterable {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

const NOTHING = Object.freeze({});

/**
 * Whether `body` passes all of `filters`. The value of `field` is looked for in `sources`, and one of them is enough:
 * a change is of interest to a handler when either side of it is.
 */
export function matchesFilters<B extends object>(
  filters: Filters<B>,
  body: B,
  sources: readonly (object | undefined)[] = [body],
  cause?: Partial<FilterCause>,
): boolean {
  const metadata = (body as Filterable).metadata;
  return (
    matchesMap(filters.labels, metadata?.labels) &&
    matchesMap(filters.annotations, metadata?.annotations) &&
    matchesField(filters, sources) &&
    (filters.when?.(whenContext(body, cause)) ?? true)
  );
}

/** What a `when` filter or an index function gets. */
export function filterContext<B extends object>(body: B): FilterContext<B> {
  if (isCut(body)) return cutContext(body);
  const { metadata, spec, status } = body as Filterable;
  return {
    body,
    metadata: metadata ?? NOTHING,
    spec: spec ?? NOTHING,
    status: status ?? NOTHING,
    labels: metadata?.labels ?? NOTHING,
    annotations: metadata?.annotations ?? NOTHING,
    name: metadata?.name ?? "",
    namespace: metadata?.namespace,
    uid: metadata?.uid ?? "",
  } as unknown as FilterContext<B>;
}

/** The same of an object that has not all of its fields: those that it has not are not asked for unless the function does. */
function cutContext<B extends object>(body: B): FilterContext<B> {
  const { metadata } = body as Filterable;
  const context = filterContext({ metadata });
  const part = (key: "spec" | "status") => ({ enumerable: true, get: () => (body as Filterable)[key] ?? NOTHING });
  Object.defineProperties(context, { body: { value: body }, spec: part("spec"), status: part("status") });
  return context as unknown as FilterContext<B>;
}

function whenContext<B extends object>(body: B, cause: Partial<FilterCause> = {}): WhenContext<B> {
  // Not spread: that would ask for everything.
  return Object.defineProperty(Object.assign(filterContext(body), cause), "diff", {
    enumerable: true,
    get: () => (cause.reason === "update" && cause.old === undefined ? [] : diff(cause.old, cause.new)),
  }) as WhenContext<B>;
}

function matchesMap(filter: MapFilter | undefined, values: Readonly<Record<string, string>> = {}): boolean {
  if (!filter) return true;
  return Object.entries(filter).every(([key, wanted]) => matchesValue(wanted, values[key]));
}

function matchesField<B>({ field, value = present }: Filters<B>, sources: readonly (object | undefined)[]): boolean {
  if (field === undefined) return true;
  const path = fieldKeys(field);
  return sources.some((source) => source !== undefined && matchesValue(value, valueAt(source, path)));
}

/** Whether a change of the field is one that the handler asked for: it differs, and both sides are as wanted. */
export function matchesChange(
  field: FieldPath,
  { old: wasWanted, new: isWanted }: ChangeFilters,
  old: object | undefined,
  now: object | undefined,
): boolean {
  const path = fieldKeys(field);
  const before = valueAt(old, path);
  const after = valueAt(now, path);
  if (deepEqual(before, after)) return false;
  return (
    (wasWanted === undefined || matchesValue(wasWanted, before)) &&
    (isWanted === undefined || matchesValue(isWanted, after))
  );
}

/** Whether `value` is what `wanted` asks for. */
export function matchesValue<T>(wanted: ValueFilter<T>, value: T | undefined): boolean {
  if (wanted === present) return value !== undefined;
  if (wanted === absent) return value === undefined;
  if (typeof wanted === "function") return (wanted as (value: T | undefined) => boolean)(value);
  if (wanted instanceof RegExp) return typeof value === "string" && new RegExp(wanted.source, wanted.flags).test(value);
  return deepEqual(wanted, value);
}

/** The value at `path`; undefined when something on the way is missing or not an object. */
export function valueAt(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

type Predicate<T> = (value: T) => boolean;

/** A predicate that holds when all of `predicates` hold. For `when`, and for values. */
export function all<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (value) => predicates.every((predicate) => predicate(value));
}

/** A predicate that holds when one of `predicates` holds. */
export function any<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (value) => predicates.some((predicate) => predicate(value));
}

/** A predicate that holds when none of `predicates` holds. */
export function none<T>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (value) => !predicates.some((predicate) => predicate(value));
}

/** A predicate that holds when `predicate` does not. */
export function not<T>(predicate: Predicate<T>): Predicate<T> {
  return (value) => !predicate(value);
}
