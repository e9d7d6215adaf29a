/** What the functions that expressions may call cost, by how large their arguments may be. Pure. */
import { add, exactly, part, product, type Size, sum, times, UNKNOWN } from "./cel-cost-sizes.ts";
import { BOOL, INT, listOf } from "./cel-cost-tables.ts";
import { DYN, type SizedType, TEXT } from "./cel-sizes.ts";

/** What is known about the items of a list or the members of a map that the expression itself makes. */
export interface Entry {
  readonly kind: "list" | "map";
  readonly key: Size;
  readonly value: Size;
}

/** A part of an expression with what became known about it. */
export interface Part {
  readonly cost: number;
  readonly type: SizedType;
  /** How its value is reached from the variables; empty for what the expression makes. */
  readonly path: readonly string[];
  readonly size?: Size | undefined;
  readonly entry?: Entry | undefined;
  /** The value of a whole number that is written down. */
  readonly literal?: number | undefined;
}

/** What looking at one character of a text costs. */
export const PER_CHARACTER = 0.1;
/** What one character of a pattern costs for each text that it is tried on. */
export const PER_PATTERN_CHARACTER = 0.25;
/** The longest pattern behind a named format. */
const FORMAT_PATTERN = 128;

/** Whether the size of a value is a number of characters or bytes. */
export const isText = (type: SizedType): boolean => type.kind === "string" || type.kind === "bytes";

/** What a call of a function adds, and what it returns. `sizeOf` knows how large a part may be. */
export function costOfFunction(
  name: string,
  target: Part | undefined,
  args: readonly Part[],
  sizeOf: (part: Part) => Size,
): Partial<Part> {
  const [first, second] = args;
  const subject = target ?? first;
  const size = subject ? sizeOf(subject) : UNKNOWN;
  const once = part(size.max, PER_CHARACTER);
  switch (name) {
    case "matches":
    case "find":
    case "findAll": {
      if (!target || !first) return {};
      const text = part(add(size.max, 1), PER_CHARACTER);
      const pattern = part(sizeOf(first).max, PER_PATTERN_CHARACTER);
      const found = name === "matches" ? {} : { size: { min: 0, max: size.max } };
      return { cost: times(text, pattern), ...found };
    }
    case "contains":
      if (!target || !first) return {};
      return { cost: times(once, part(sizeOf(first).max, PER_CHARACTER)) };
    case "startsWith":
    case "endsWith":
      return first ? { cost: part(sizeOf(first).max, PER_CHARACTER) } : {};
    case "format":
      return target ? { cost: once } : {};
    case "bytes":
      return subject?.type.kind === "string" ? { cost: once, size: { min: size.min, max: times(size.max, 4) } } : {};
    case "string":
      if (subject?.type.kind !== "bytes") return {};
      return { cost: once, size: { min: Math.floor(size.min / 4), max: size.max } };
    case "strings.quote":
      return { cost: once, size: { min: size.min + 2, max: add(times(size.max, 2), 2) } };
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      return target ? { cost: traversal(target, size, sizeOf), ...resultOfList(name, target) } : {};
    case "url":
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
      return { cost: once, size };
    case "replace":
      return target && first && second ? replacement(size, sizeOf(first), sizeOf(second)) : {};
    case "split": {
      const most = second?.literal ?? size.max;
      return { cost: part(size.max, 2 * PER_CHARACTER), size: { min: 0, max: most }, type: listOf(TEXT) };
    }
    case "join":
      return target ? joinedText(target, size, first, sizeOf) : {};
    case "ip":
      return target ? { cost: 1 } : { cost: once };
    case "cidr":
    case "isIP":
    case "isCIDR":
    case "quantity":
    case "isQuantity":
    case "semver":
    case "isSemver":
      return { cost: once };
    case "ip.isCanonical":
      return { cost: part(size.max, 2 * PER_CHARACTER) };
    case "containsIP":
    case "containsCIDR": {
      const text = first?.type.kind === "string" ? part(sizeOf(first).max, PER_CHARACTER) : 0;
      return { cost: add(name === "containsIP" ? 4 : 7, text) };
    }
    case "validate":
      return first
        ? { cost: part(part(sizeOf(first).max, PER_CHARACTER), FORMAT_PATTERN * PER_PATTERN_CHARACTER) }
        : {};
    case "sets.contains":
    case "sets.intersects":
    case "sets.equivalent": {
      if (!first || !second) return {};
      const pairs = times(size.max, sizeOf(second).max);
      return { cost: add(part(pairs, name === "sets.equivalent" ? 2 : 1), 1) };
    }
    default:
      return {};
  }
}

function traversal(list: Part, size: Size, sizeOf: (part: Part) => Size): number {
  const { element } = list.type;
  if (element === undefined) return part(size.max, PER_CHARACTER);
  const item: Part = { cost: 0, type: element, path: list.path.length > 0 ? [...list.path, "@items"] : [] };
  const each = isText(element) ? add(1, part(sizeOf(item).max, PER_CHARACTER)) : 1;
  return times(size.max, each);
}

function joinedText(list: Part, size: Size, separator: Part | undefined, sizeOf: (part: Part) => Size): Partial<Part> {
  const path = list.path.length > 0 ? [...list.path, "@items"] : [];
  const { element } = list.type;
  let joined = element ? product(size, sizeOf({ cost: 0, type: element, path })) : exactly(0);
  if (separator) {
    const between = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
    joined = sum(joined, product(sizeOf(separator), between));
  }
  return { cost: part(joined.max, PER_CHARACTER), size: joined };
}

function replacement(text: Size, search: Size, into: Size): Partial<Part> {
  let [count, kept] = [exactly(0), exactly(0)];
  if (search.min === 0) {
    count = { ...count, max: add(text.max, 1) };
    kept = { ...kept, max: text.max };
  } else if (into.max <= search.min) kept = { ...kept, max: text.max };
  else count = { ...count, max: Math.ceil(text.max / search.min) };
  if (search.max === 0) {
    count = { ...count, min: add(text.min, 1) };
    kept = { ...kept, min: text.min };
  } else if (search.max <= into.min) kept = { ...kept, min: text.min };
  else count = { ...count, min: Math.ceil(text.min / search.max) };
  return { cost: part(text.max, 2 * PER_CHARACTER), size: sum(product(count, into), kept) };
}

function resultOfList(name: string, list: Part): Partial<Part> {
  if (name === "isSorted") return { type: BOOL };
  if (name === "indexOf" || name === "lastIndexOf") return { type: INT };
  return { type: list.type.element ?? DYN };
}
