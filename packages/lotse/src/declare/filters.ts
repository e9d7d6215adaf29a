/**
 * Filters say which objects a handler is for. They look at one object and nothing else, so they can be asked at any
 * time and as often as wanted.
 */
import type { DeepReadonly } from "./readonly.ts";

/** Matches when the label or annotation is there, whatever its value. */
export const present: unique symbol = Symbol.for("lotse.present");
/** Matches when the label or annotation is not there. */
export const absent: unique symbol = Symbol.for("lotse.absent");

/** What one label or annotation has to be: a literal, a pattern, {@link present}, {@link absent} or a predicate. */
export type ValueFilter = string | RegExp | typeof present | typeof absent | ((value: string | undefined) => boolean);

/** Label or annotation keys and what their values have to be; all must match. */
export type MapFilter = Readonly<Record<string, ValueFilter>>;

/** Which objects a handler is for. */
export interface Filters<B> {
  /** Labels that the object must have. */
  readonly labels?: MapFilter;
  /** Annotations that the object must have. */
  readonly annotations?: MapFilter;
  /** Any other question about the object. Must not have side effects. */
  readonly when?: (body: DeepReadonly<B>) => boolean;
}

interface Filterable {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Whether `body` passes all of `filters`. */
export function matchesFilters<B extends object>(filters: Filters<B>, body: B): boolean {
  const metadata = (body as Filterable).metadata;
  return (
    matchesMap(filters.labels, metadata?.labels) &&
    matchesMap(filters.annotations, metadata?.annotations) &&
    (filters.when?.(body as DeepReadonly<B>) ?? true)
  );
}

function matchesMap(filter: MapFilter | undefined, values: Readonly<Record<string, string>> = {}): boolean {
  if (!filter) return true;
  return Object.entries(filter).every(([key, wanted]) => matchesValue(wanted, values[key]));
}

function matchesValue(wanted: ValueFilter, value: string | undefined): boolean {
  if (wanted === present) return value !== undefined;
  if (wanted === absent) return value === undefined;
  if (typeof wanted === "function") return wanted(value);
  if (wanted instanceof RegExp) return value !== undefined && wanted.test(value);
  return value === wanted;
}
