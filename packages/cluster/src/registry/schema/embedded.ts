import { isObject } from "@lotse/client/meta";
import { childPath, type FieldError, required } from "./field-errors.ts";
import type { Schema } from "./types.ts";

/** Objects inside of an object must say what they are. */
export function embeddedErrors(value: unknown, schema: Schema, path = ""): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, i) => embeddedErrors(item, items, `${path}[${i}]`)) : [];
  }
  if (!isObject(value)) return [];
  const errors: FieldError[] = [];
  if (schema["x-kubernetes-embedded-resource"]) {
    for (const key of ["apiVersion", "kind"]) if (!value[key]) errors.push(required(childPath(path, key)));
  }
  for (const [key, member] of Object.entries(value)) {
    const known = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    const other = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
    const node = known ?? other;
    if (node) errors.push(...embeddedErrors(member, node, known ? childPath(path, key) : `${path}[${key}]`));
  }
  return errors;
}
