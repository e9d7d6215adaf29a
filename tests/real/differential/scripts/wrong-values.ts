/**
 * Objects in which one field is wrong, made of the schemas: every field of a kind's spec gets values that its type
 * allows and its meaning mostly does not. What stands around the field is as small as it can be.
 */
import { createSchemaTable } from "../../../../packages/cluster/src/registry/tables/index.ts";
import type { Json } from "../script.ts";

type Fields = { readonly [key: string]: Json };
type Schema = ReturnType<ReturnType<typeof createSchemaTable>["get"]>;

const schemas = createSchemaTable();

/** A field with one of its values: `containers[].ports[].hostPort = -1`, and the spec that has nothing else. */
export interface WrongValue {
  readonly name: string;
  readonly fields: Fields;
}

const TEXTS: readonly Json[] = ["Not_valid!", "x"];
const NUMBERS: readonly Json[] = [-1, 0, 70_000];
const QUANTITIES: readonly Json[] = ["-1", "1500u"];
const PORTS: readonly Json[] = [-1, "Bad--name-", "150%"];
const MAP: readonly Json[] = [{ "bad key!": "bad value!" }];

/** Every field below a component of the API, each with some values; `skip` names fields that are left alone. */
export function wrongValues(component: string, skip: readonly string[] = []): WrongValue[] {
  const found: WrongValue[] = [];
  const walk = (schema: Schema, path: string, wrap: (value: Json) => Fields): void => {
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const here = path === "" ? key : `${path}.${key}`;
      if (skip.includes(here)) continue;
      visit(property, here, (value) => wrap({ [key]: value }));
    }
  };
  const visit = (property: Schema, path: string, wrap: (value: Json) => Fields): void => {
    const values = leafValues(property);
    if (values !== undefined) {
      for (const value of values) found.push({ name: `${path} = ${JSON.stringify(value)}`, fields: wrap(value) });
    } else if (property.type === "array") {
      const items = property.items ?? {};
      visit(items, `${path}[]`, (value) => wrap([value]));
    } else if (property.$ref !== undefined) {
      found.push({ name: `${path} = {}`, fields: wrap({}) });
      walk(schemas.get(property.$ref), path, wrap);
    }
  };
  walk(schemas.get(component), "", (value) => value as Fields);
  return found;
}

function leafValues(schema: Schema): readonly Json[] | undefined {
  const ref = schema.$ref ?? "";
  if (ref.endsWith(".Quantity")) return QUANTITIES;
  if (ref.endsWith(".IntOrString")) return PORTS;
  if (ref.endsWith(".Time") || ref.endsWith(".MicroTime") || ref.endsWith(".FieldsV1")) return [];
  if (schema.type === "string") return TEXTS;
  if (schema.type === "integer" || schema.type === "number") return NUMBERS;
  if (schema.type === "boolean") return [true, false];
  if (schema.additionalProperties !== undefined) {
    const values = schema.additionalProperties as Schema;
    return values.$ref?.endsWith(".Quantity") ? [{ "bad key!": "1" }, { cpu: "-1" }, { gpu: "1" }] : MAP;
  }
  return undefined;
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
