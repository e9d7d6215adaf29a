/** Where two states of an object differ, field by field. Pure. */
import { deepEqual, isObject } from "@lotse/client/meta";
import { elementOf, type FieldPath, pathText } from "./fields.ts";
import type { NormalForm } from "./normal-form.ts";

/** One field; undefined stands for its absence. */
export interface FieldDifference {
  readonly path: FieldPath;
  /** In the cluster. */
  readonly is: unknown;
  /** Had the shadow worked. */
  readonly would: unknown;
}

/** Whether two texts that differ are the same moment. */
export type SameMoment = (is: number, would: number) => boolean;

/** Less than a minute apart: nobody does the same thing at the same time. */
export const ABOUT_THE_SAME: SameMoment = (is, would) => Math.abs(is - would) < 60_000;

/** Any two: one was there long before the other. */
export const ANY_MOMENT: SameMoment = () => true;

/** See the module comment. */
export function differencesBetween(is: NormalForm, would: NormalForm, same: SameMoment): FieldDifference[] {
  const found: FieldDifference[] = [];
  compare(is, would, same, [], found);
  return found;
}

function compare(is: unknown, would: unknown, same: SameMoment, path: FieldPath, into: FieldDifference[]): void {
  if (deepEqual(is, would) || isSameMoment(is, would, same)) return;
  // Of a map that one side lacks, each field is told: a reader looks for those.
  if (isMapOrAbsent(is) && isMapOrAbsent(would)) {
    for (const name of new Set([...Object.keys(is ?? {}), ...Object.keys(would ?? {})])) {
      compare(is?.[name], would?.[name], same, [...path, `f:${name}`], into);
    }
    return;
  }
  if (Array.isArray(is) && Array.isArray(would)) {
    const pairs = pairsOf(is, would);
    if (pairs) {
      for (const [element, one, other] of pairs) {
        // An item that one side lacks is told as one: its name says what it is.
        if (one === undefined || other === undefined) into.push({ path: [...path, element], is: one, would: other });
        else compare(one, other, same, [...path, element], into);
      }
      return;
    }
  }
  into.push({ path, is, would });
}

function isMapOrAbsent(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || isObject(value);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function isSameMoment(is: unknown, would: unknown, same: SameMoment): boolean {
  if (typeof is !== "string" || typeof would !== "string" || !RFC3339.test(is) || !RFC3339.test(would)) return false;
  return same(Date.parse(is), Date.parse(would));
}

/** What tells the items of lists apart, in the order in which it is tried. */
const KEYS = ["name", "type", "uid", "key", "mountPath", "containerPort", "port", "ip", "id"];

/** Items that belong together; undefined when the lists are compared as a whole. */
function pairsOf(is: readonly unknown[], would: readonly unknown[]): [string, unknown, unknown][] | undefined {
  const key = KEYS.find((name) => isUnique(is, name) && isUnique(would, name));
  if (key === undefined) {
    // Lists of objects without a key: item by item, as long as there are as many.
    if (is.length !== would.length || ![...is, ...would].every(isObject)) return undefined;
    return is.map((item, i) => [`i:${i}`, item, would[i]]);
  }
  const elements = new Map<string, [unknown, unknown]>();
  for (const item of is) elements.set(elementOf(item, [key]), [item, undefined]);
  for (const item of would) {
    const element = elementOf(item, [key]);
    elements.set(element, [elements.get(element)?.[0], item]);
  }
  return [...elements].map(([element, [one, other]]) => [element, one, other]);
}

function isUnique(items: readonly unknown[], key: string): boolean {
  const values = new Set(items.map((item) => (isObject(item) ? item[key] : undefined)));
  return values.size === items.length && !values.has(undefined);
}

/** A field for people: `spec.containers[name=web].image`. */
export function fieldText({ path }: Pick<FieldDifference, "path">): string {
  return pathText(path);
}
