import { isRecord } from "../object.ts";
import { Verbatim } from "../schema/index.ts";

/**
 * The fields of one of the server's own structures, in its order, each with how an absent one looks there: a text, a
 * number, a list, a structure inside, or nothing at all where the server keeps a pointer.
 */
export type GoShape = readonly (readonly [key: string, type: "text" | "number" | "flag" | "pointer" | GoField])[];

interface GoField {
  readonly of: GoShape;
  /** A list of structures, or one that may be absent; a structure that is always there unless told. */
  readonly as?: "list" | "pointer";
}

const ABSENT = { text: "", number: 0, flag: false, pointer: null } as const;

/** A value as the server prints its own structures in a sentence: fields by their Go names, nothing left out. */
export function goValue(value: unknown, shape: GoShape): Record<string, unknown> {
  const given = isRecord(value) ? value : {};
  return Object.fromEntries(shape.map(([key, type]) => [goName(key), goField(given[key], type)]));
}

function goField(value: unknown, type: GoShape[number][1]): unknown {
  if (typeof type === "string") return value ?? ABSENT[type];
  if (type.as === "list") return Array.isArray(value) ? value.map((item) => goValue(item, type.of)) : null;
  if (type.as === "pointer" && !isRecord(value)) return null;
  return goValue(value, type.of);
}

/** Words that Go writes in capitals. */
const goName = (key: string): string => `${key[0]?.toUpperCase()}${key.slice(1)}`.replace(/^Api/, "API");

/** The same as a value of a field error. */
export const asGo = (value: unknown, shape: GoShape): Verbatim => new Verbatim(JSON.stringify(goValue(value, shape)));
