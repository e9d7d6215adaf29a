/** Makes a value that shows a mistake small: what is left is what the mistake needs. Pure. */
import { isObject } from "@lotse/client/meta";
import type { SchemaNode } from "./node.ts";
import { simplestNumber, simplestText } from "./sample-leaf.ts";
import { itemSchema, memberSchema } from "./server-form.ts";
import { validateValue } from "./validate.ts";

/** How often a smaller value is tried. */
const MOST_TRIES = 5_000;

/**
 * The smallest value that is found which fits `schema` and for which `fails` is still true, beginning with `value`, for
 * which it has to be.
 */
export function shrinkValue<T>(value: T, schema: SchemaNode, fails: (value: T) => boolean, tries = MOST_TRIES): T {
  let best = value;
  let left = tries;
  for (let smaller = true; smaller && left > 0; ) {
    smaller = false;
    for (const candidate of candidates(best, schema)) {
      if (left-- <= 0) break;
      if (candidate === undefined || !isSmaller(candidate, best) || validateValue(candidate, schema).length > 0)
        continue;
      if (!fails(candidate as T)) continue;
      best = candidate as T;
      smaller = true;
      break;
    }
  }
  return best;
}

/** Shorter as a text, or before it: there is always an end to that. */
function isSmaller(one: unknown, other: unknown): boolean {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
  return a.length < b.length || (a.length === b.length && a < b);
}

/** Simpler values, the boldest steps first. */
function* candidates(value: unknown, schema: SchemaNode | undefined): Generator<unknown> {
  if (Array.isArray(value)) yield* ofList(value, schema);
  else if (isObject(value)) yield* ofObject(value, schema);
  else if (Array.isArray(schema?.enum)) yield* schema.enum as unknown[];
  else if (typeof value === "string") yield* ofText(value, schema);
  else if (typeof value === "number") yield* ofNumber(value, schema);
  else if (value === true) yield false;
}

function* ofObject(value: Record<string, unknown>, schema: SchemaNode | undefined): Generator<unknown> {
  const keys = Object.keys(value);
  if (keys.length > 0) yield {};
  for (const key of keys) {
    const { [key]: _gone, ...rest } = value;
    yield rest;
  }
  for (const key of keys) {
    for (const member of candidates(value[key], memberSchema(schema, key))) yield { ...value, [key]: member };
  }
}

function* ofList(value: readonly unknown[], schema: SchemaNode | undefined): Generator<unknown> {
  if (value.length === 0) return;
  yield [];
  if (value.length > 2) {
    yield value.slice(0, value.length >> 1);
    yield value.slice(value.length >> 1);
  }
  for (let i = 0; i < value.length; i++) yield value.toSpliced(i, 1);
  for (let i = 0; i < value.length; i++) {
    for (const item of candidates(value[i], itemSchema(schema))) yield value.with(i, item);
  }
}

function* ofText(value: string, schema: SchemaNode | undefined): Generator<unknown> {
  yield schema ? simplestText(schema) : "";
  yield "";
  const characters = [...value];
  if (characters.length > 1) yield characters.slice(0, characters.length >> 1).join("");
  for (let i = 0; i < Math.min(characters.length, 50); i++) yield characters.toSpliced(i, 1).join("");
  for (let i = 0; i < Math.min(characters.length, 50); i++) {
    for (const simple of ["a", "0"]) yield characters.with(i, simple).join("");
  }
}

function* ofNumber(value: number, schema: SchemaNode | undefined): Generator<unknown> {
  yield 0;
  yield 1;
  yield schema ? simplestNumber(schema) : 0;
  yield Math.trunc(value);
  yield Math.trunc(value / 2);
  yield -value;
  yield value > 0 ? value - 1 : value + 1;
}
