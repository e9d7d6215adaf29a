/** Texts and numbers that fit a node of a structural schema: the simplest, those at its bounds, and any. Pure. */
import { isObject } from "@lotse/client/meta";
import { textOfFormat } from "./formats.ts";
import type { SchemaNode } from "./node.ts";
import { samplePattern } from "./pattern-sample.ts";
import type { Random } from "./random.ts";
import { validateValue } from "./validate.ts";

/** How often a text is made anew that does not fit all that is said of it. */
const TRIES = 30;
/** Longer texts are made only where the schema asks for them. */
const USUAL_LENGTH = 8;
/** A text at the upper bound is made up to this length. */
const LONGEST = 300;

/** Words that readers of YAML and of URLs have stumbled over, and what is more than one byte. */
const WORDS = ["a", "b", " ", "Z", "0", "true", "null", "a b", "-", "a/b", "é", "日本", "😀", '"', "#x", "1e3"];

/** Whether `value` fits the node, without what is below it. */
export function fits(value: unknown, schema: SchemaNode): boolean {
  return validateValue(value, schema).length === 0;
}

/** The simplest text that fits; undefined when none is found. */
export function simplestText(schema: SchemaNode): string | undefined {
  const { minLength, format, pattern } = schema;
  const least = typeof minLength === "number" ? minLength : 0;
  const shortest = typeof pattern === "string" ? samplePattern(pattern)?.shortest() : undefined;
  const candidates = [
    "",
    "a",
    "a".repeat(least),
    shortest,
    typeof format === "string" ? textOfFormat(format, 0) : undefined,
    ...given(schema),
  ];
  return candidates.find((text): text is string => typeof text === "string" && fits(text, schema));
}

/** Any text that fits; undefined when none is found. */
export function anyText(schema: SchemaNode, random: Random): string | undefined {
  for (let i = 0; i < TRIES; i++) {
    const text = guess(schema, random, i);
    if (text !== undefined && fits(text, schema)) return text;
  }
  return simplestText(schema);
}

function guess(schema: SchemaNode, random: Random, attempt: number): string | undefined {
  const { minLength, maxLength, format, pattern } = schema;
  const least = typeof minLength === "number" ? minLength : 0;
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
  // Few repeats at first, more where what came out was too short.
  if (typeof pattern === "string") return samplePattern(pattern)?.any(random, Math.max(least, (attempt % 10) + 1));
  if (typeof format === "string") {
    const text = textOfFormat(format, Math.floor(random.next() * 2 ** 32));
    if (text !== undefined) return text;
  }
  const upper = random.once(8) && most <= LONGEST ? most : Math.min(most, least + USUAL_LENGTH);
  const length = random.once(4) ? upper : random.int(least, upper);
  let text = "";
  while ([...text].length < length) text += random.of(WORDS);
  return [...text].slice(0, length).join("");
}

/** Texts at the bounds of the node. */
export function boundaryTexts(schema: SchemaNode): readonly string[] {
  const { maxLength, pattern } = schema;
  const longest =
    typeof maxLength === "number" && maxLength <= LONGEST && pattern === undefined ? maxLength : undefined;
  const found = [simplestText(schema), longest === undefined ? undefined : "z".repeat(longest), " ", "😀"];
  return found.filter((text): text is string => text !== undefined && fits(text, schema));
}

/** The number that is nearest to nought. */
export function simplestNumber(schema: SchemaNode): number | undefined {
  const [low, high] = boundsOf(schema);
  const step = stepOf(schema);
  const candidates = [
    0,
    1,
    low,
    high,
    roundUp(low, step),
    roundDown(high, step),
    low + step,
    high - step,
    ...given(schema),
  ];
  return candidates
    .filter((one): one is number => typeof one === "number" && Number.isFinite(one) && fits(one, schema))
    .sort((a, b) => Math.abs(a) - Math.abs(b))[0];
}

/** Numbers at the bounds of the node. */
export function boundaryNumbers(schema: SchemaNode): readonly number[] {
  const [low, high] = boundsOf(schema);
  const step = stepOf(schema);
  const found = [low, high, low + step, high - step, roundUp(low, step), roundDown(high, step), 0, 1, -1];
  if (schema.type === "number") found.push(0.5, -0.25, 1e-7);
  return [...new Set(found)].filter((one) => Number.isFinite(one) && fits(one, schema));
}

/** Any number that fits; undefined when none is found. */
export function anyNumber(schema: SchemaNode, random: Random): number | undefined {
  const bounds = boundaryNumbers(schema);
  if (bounds.length > 0 && random.once(4)) return random.of(bounds);
  const [low, high] = boundsOf(schema);
  const from = Number.isFinite(low) ? low : Math.min(-1_000, high - 1_000);
  const to = Number.isFinite(high) ? high : Math.max(1_000, low + 1_000);
  const step = stepOf(schema);
  for (let i = 0; i < TRIES; i++) {
    const number = from + random.next() * (to - from);
    const rounded = schema.type === "number" && schema.multipleOf === undefined ? number : roundDown(number, step);
    const short = Number(rounded.toPrecision(6));
    const found = [short, rounded].find((one) => fits(one, schema));
    if (found !== undefined) return found;
  }
  return simplestNumber(schema);
}

function boundsOf({ minimum, maximum, format }: SchemaNode): readonly [number, number] {
  const [least, most] =
    format === "int32" ? [-(2 ** 31), 2 ** 31 - 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [
    Math.max(typeof minimum === "number" ? minimum : least, least),
    Math.min(typeof maximum === "number" ? maximum : most, most),
  ];
}

function stepOf({ type, multipleOf }: SchemaNode): number {
  if (typeof multipleOf === "number" && multipleOf > 0) return multipleOf;
  return type === "integer" ? 1 : 0.5;
}

function roundDown(value: number, step: number): number {
  return Number((Math.floor(value / step) * step).toPrecision(15));
}

function roundUp(value: number, step: number): number {
  return Number((Math.ceil(value / step) * step).toPrecision(15));
}

/** What the schema itself names as values. */
export function given({ default: byDefault, example, enum: allowed }: SchemaNode): readonly unknown[] {
  const all = [...(Array.isArray(allowed) ? (allowed as unknown[]) : []), byDefault, example];
  return all.filter((one) => one !== undefined && one !== null && !isObject(one));
}
