/**
 * One node of a schema against its successor, keyword by keyword: what would a value that the old node accepts be refused
 * for? Children are not looked at here. Undecidable questions (is every match of this pattern a match of that one?)
 * count as "perhaps", hence as a change.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@lotse/client/meta";
import type { SchemaNode } from "./node.ts";

/** Why a stored value may be refused, and what to do about it. */
export interface Tightening {
  readonly what: string;
  readonly todo: string;
}

const KEEP = "keep what was allowed, or mend the stored objects first";

/** See the module comment. `moved`: values below the node may look different to its checks, by a default or a type. */
export function tightenings(before: SchemaNode, after: SchemaNode, moved: boolean): Tightening[] {
  const type = typeTightening(before, after);
  // Of another type, no other check has a meaning.
  if (type) return [type];
  return [
    ...nullTightening(before, after),
    ...enumTightening(before, after),
    ...boundTightenings(before, after),
    ...sizeTightenings(before, after),
    ...textTightenings(before, after),
    ...listTightenings(before, after),
    ...wholeTightenings(before, after, moved),
  ];
}

const ALL_TYPES = ["object", "array", "string", "integer", "number", "boolean"] as const;

/** The types of the values that a node takes; undefined for a node that is not written down. */
export function typesOf(node: SchemaNode | undefined): ReadonlySet<string> {
  if (node?.["x-kubernetes-int-or-string"] === true) return new Set(["integer", "string"]);
  const type = node?.type;
  if (typeof type !== "string") return new Set(ALL_TYPES);
  return new Set(type === "number" ? ["integer", "number"] : [type]);
}

function typeTightening(before: SchemaNode, after: SchemaNode): Tightening | undefined {
  const [old, now] = [typesOf(before), typesOf(after)];
  if ([...old].every((type) => now.has(type))) return undefined;
  const told = old.size === ALL_TYPES.length ? "anything" : typeName(before);
  return { what: `was ${told}, is ${typeName(after)}`, todo: "keep the type, or add the field under another name" };
}

function typeName(node: SchemaNode): string {
  return node["x-kubernetes-int-or-string"] === true ? "integer or string" : String(node.type ?? "anything");
}

function nullTightening(before: SchemaNode, after: SchemaNode): Tightening[] {
  if (before.nullable !== true || after.nullable === true || after.default !== undefined) return [];
  return [{ what: "may not be null any more", todo: "keep it nullable, or give it a default" }];
}

function enumTightening(before: SchemaNode, after: SchemaNode): Tightening[] {
  if (!Array.isArray(after.enum)) return [];
  const now = after.enum as unknown[];
  const show = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(", ");
  if (!Array.isArray(before.enum)) return [{ what: `is limited to ${show(now)}`, todo: KEEP }];
  const gone = (before.enum as unknown[]).filter((value) => !now.some((one) => isDeepStrictEqual(one, value)));
  return gone.length === 0 ? [] : [{ what: `no longer allows ${show(gone)}`, todo: KEEP }];
}

function boundTightenings(before: SchemaNode, after: SchemaNode): Tightening[] {
  const found: Tightening[] = [];
  const bound = (key: "minimum" | "maximum", exclusive: "exclusiveMinimum" | "exclusiveMaximum", sign: 1 | -1) => {
    const now = numberOf(after[key]);
    if (now === undefined) return;
    const old = numberOf(before[key]);
    const closed = after[exclusive] === true && before[exclusive] !== true;
    if (old !== undefined && (sign * old > sign * now || (old === now && !closed))) return;
    const limit =
      after[exclusive] === true ? (sign === 1 ? "more than" : "less than") : sign === 1 ? "at least" : "at most";
    found.push({ what: `must be ${limit} ${now}${old === undefined ? "" : `, was ${old}`}`, todo: KEEP });
  };
  bound("minimum", "exclusiveMinimum", 1);
  bound("maximum", "exclusiveMaximum", -1);
  const [old, now] = [numberOf(before.multipleOf), numberOf(after.multipleOf)];
  if (now !== undefined && now !== old && !isMultiple(old ?? (before.type === "integer" ? 1 : undefined), now)) {
    found.push({ what: `must be a multiple of ${now}`, todo: KEEP });
  }
  return found;
}

/** Only of whole numbers: fractions are not exact enough to tell. */
function isMultiple(value: number | undefined, of: number): boolean {
  return value !== undefined && Number.isSafeInteger(value) && Number.isSafeInteger(of) && value % of === 0;
}

const SIZES = [
  ["minLength", "maxLength", "characters"],
  ["minItems", "maxItems", "items"],
  ["minProperties", "maxProperties", "properties"],
] as const;

function sizeTightenings(before: SchemaNode, after: SchemaNode): Tightening[] {
  return SIZES.flatMap(([least, most, unit]) => {
    const found: Tightening[] = [];
    const was = (old: number | undefined) => (old === undefined ? "" : `, was ${old}`);
    const [oldLeast, nowLeast] = [numberOf(before[least]), numberOf(after[least])];
    if (nowLeast !== undefined && nowLeast > (oldLeast ?? 0)) {
      found.push({ what: `must have at least ${nowLeast} ${unit}${was(oldLeast)}`, todo: KEEP });
    }
    const [oldMost, nowMost] = [numberOf(before[most]), numberOf(after[most])];
    if (nowMost !== undefined && nowMost < (oldMost ?? Number.POSITIVE_INFINITY)) {
      found.push({ what: `must have at most ${nowMost} ${unit}${was(oldMost)}`, todo: KEEP });
    }
    return found;
  });
}

/** Formats of numbers, the wider ones last. */
const NUMBER_FORMATS = ["int32", "int64", "float", "double"];

function textTightenings(before: SchemaNode, after: SchemaNode): Tightening[] {
  const found: Tightening[] = [];
  if (after.pattern !== undefined && after.pattern !== before.pattern) {
    const what = before.pattern === undefined ? "must match" : `must match another pattern than ${before.pattern}:`;
    found.push({ what: `${what} ${String(after.pattern)}`, todo: KEEP });
  }
  if (after.format !== undefined && after.format !== before.format) {
    const [old, now] = [before.format, after.format].map((format) => NUMBER_FORMATS.indexOf(String(format)));
    if ((old ?? -1) < 0 || (old ?? 0) > (now ?? 0)) {
      found.push({ what: `must have the format ${String(after.format)}`, todo: KEEP });
    }
  }
  return found;
}

function listTightenings(before: SchemaNode, after: SchemaNode): Tightening[] {
  const found: Tightening[] = [];
  const type = after["x-kubernetes-list-type"] ?? "atomic";
  const keys = (after["x-kubernetes-list-map-keys"] ?? []) as string[];
  const sameKeys = isDeepStrictEqual(keys, before["x-kubernetes-list-map-keys"] ?? []);
  if (type !== "atomic" && (type !== (before["x-kubernetes-list-type"] ?? "atomic") || !sameKeys)) {
    const what = type === "map" ? `may have each ${keys.join(" and ")} only once` : "may have each item only once";
    found.push({ what, todo: "keep the list's type, or take the repeated items out of the stored objects first" });
  }
  if (after["x-kubernetes-embedded-resource"] === true && before["x-kubernetes-embedded-resource"] !== true) {
    found.push({ what: "must be a whole object with apiVersion and kind", todo: KEEP });
  }
  return found;
}

const JUNCTORS = ["allOf", "anyOf", "oneOf", "not"] as const;

/** Checks that look at the whole value. */
function wholeTightenings(before: SchemaNode, after: SchemaNode, moved: boolean): Tightening[] {
  const found: Tightening[] = [];
  const look = "look at the stored objects with --objects";
  for (const key of JUNCTORS) {
    if (after[key] === undefined || isDeepStrictEqual(after[key], before[key])) continue;
    found.push({ what: `has another ${key}, which stored values may not meet`, todo: look });
  }
  const known = new Set(rulesOf(before));
  for (const rule of rulesOf(after).filter((one) => !known.has(one))) {
    // Rules that know the old value are asked when an object changes, never about what is stored.
    if (/\boldSelf\b/.test(rule)) continue;
    found.push({ what: `has a new rule: ${rule}`, todo: look });
  }
  const strict =
    JUNCTORS.some((key) => after[key] !== undefined) ||
    rulesOf(after).length > 0 ||
    after.maxProperties !== undefined ||
    (Array.isArray(after.enum) && (after.type === "object" || after.type === "array")) ||
    (after["x-kubernetes-list-type"] ?? "atomic") !== "atomic";
  if (moved && strict && found.length === 0) {
    found.push({ what: "is checked as a whole, and a default or a type in it has changed", todo: look });
  }
  return found;
}

function rulesOf(node: SchemaNode): string[] {
  const rules = node["x-kubernetes-validations"];
  return Array.isArray(rules) ? rules.flatMap((one) => (isObject(one) ? [String(one.rule).trim()] : [])) : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
