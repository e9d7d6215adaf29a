/**
 * Objects in which one field is wrong, made of the shapes of specs in specs.json: every field gets values that its type
 * allows and its meaning mostly does not. What stands around the field is as small as it can be. The shapes are those of
 * the server's OpenAPI: each struct with its fields, `[X]` for a list of X, `port` for a number or a text.
 */
import type { Json } from "../script.ts";
import specs from "./specs.json" with { type: "json" };

type Fields = { readonly [key: string]: Json };

const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = specs;

/** A field with one of its values: `containers[].ports[].hostPort = -1`, and the spec that has nothing else. */
export interface WrongValue {
  readonly name: string;
  readonly fields: Fields;
}

/** What a field of a type gets; fields of other types are structs. */
const VALUES: Readonly<Record<string, readonly Json[] | undefined>> = {
  string: ["Not_valid!", "x"],
  integer: [-1, 0, 70_000],
  boolean: [true, false],
  quantity: ["-1", "1500u"],
  quantities: [{ "bad key!": "1" }, { cpu: "-1" }, { gpu: "1" }],
  port: [-1, "Bad--name-", "150%"],
  map: [{ "bad key!": "bad value!" }],
  time: [],
  any: [],
};

/** Every field below a struct of the API, each with some values; `skip` names fields that are left alone. */
export function wrongValues(struct: string, skip: readonly string[] = []): WrongValue[] {
  const found: WrongValue[] = [];
  const walk = (shape: string, path: string, wrap: (value: Json) => Fields): void => {
    for (const [key, type] of Object.entries(shapes[shape] ?? {})) {
      const here = path === "" ? key : `${path}.${key}`;
      if (!skip.includes(here)) visit(type, here, (value) => wrap({ [key]: value }));
    }
  };
  const visit = (type: string, path: string, wrap: (value: Json) => Fields): void => {
    if (type.startsWith("[")) {
      visit(type.slice(1, -1), `${path}[]`, (value) => wrap([value]));
      return;
    }
    const values = VALUES[type] ?? [{}];
    for (const value of values) found.push({ name: `${path} = ${JSON.stringify(value)}`, fields: wrap(value) });
    if (VALUES[type] === undefined) walk(type, path, wrap);
  };
  walk(struct, "", (value) => value as Fields);
  return found;
}

/** `b` over `a`, field by field. Lists are taken from `b`, their items over the first one of `a`. */
export function over(a: Json | undefined, b: Json): Json {
  if (Array.isArray(b)) {
    const first = Array.isArray(a) ? (a[0] as Json | undefined) : undefined;
    return b.map((item) => (typeof first === "object" ? over(first, item as Json) : (item as Json)));
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a)) return b;
  const merged: Record<string, Json> = { ...(a as Fields) };
  for (const [key, value] of Object.entries(b as Fields)) merged[key] = over((a as Fields)[key], value);
  return merged;
}

/** The verdict alone: accepted, or which fields are wrong and why. */
export function verdict(body: Json): Json {
  const { kind, message, details } = body as { kind: string; message?: string; details?: { causes?: Fields[] } };
  if (kind !== "Status") return "accepted";
  return (
    details?.causes?.map(({ field, message: why, reason }) => ({
      field: field ?? null,
      reason: reason ?? null,
      message: withoutGo(String(why), String(field)),
    })) ??
    message ??
    null
  );
}

/** The server prints its own structs, and how they differ, in some sentences; nobody reads those. */
function withoutGo(text: string, field: string): string {
  const [first = ""] = text.split("\n");
  const structs = ["spec.template", "spec.template.spec", "spec.podFailurePolicy", "spec.successPolicy"];
  return structs.includes(field) ? first.replace(/^Invalid value: .*: (field is immutable)$/, "$1") : first;
}
