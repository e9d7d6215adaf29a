/**
 * What the two versions of OpenAPI have in common as protocol buffers: the same names with the same forms, under other
 * numbers. A version is a table of numbers, and what only that version has.
 */
import {
  anything,
  count,
  each,
  entries,
  type Field,
  flag,
  inside,
  type Message,
  real,
  text,
  texts,
} from "./messages.ts";

/** Fields by name, each with its number. */
type Fields = Message["fields"];

/** Gives each of these fields the number that a version has for it; names without a number are not there. */
export function numbered(forms: Readonly<Record<string, Field>>, numbers: Readonly<Record<string, number>>): Fields {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => {
      const form = forms[name];
      if (!form) throw new Error(`no form is known for the field ${name}`);
      return [name, [number, form]] as const;
    }),
  );
}

/** Fields that a schema has in both versions. */
export const schemaForms = (schema: Field): Readonly<Record<string, Field>> => ({
  format: text,
  title: text,
  description: text,
  multipleOf: real,
  maximum: real,
  exclusiveMaximum: flag,
  minimum: real,
  exclusiveMinimum: flag,
  maxLength: count,
  minLength: count,
  pattern: text,
  maxItems: count,
  minItems: count,
  uniqueItems: flag,
  maxProperties: count,
  minProperties: count,
  required: texts,
  enum: each(anything),
  additionalProperties: (out, number, value) =>
    (typeof value === "boolean" ? inside(2, flag) : inside(1, schema))(out, number, value),
  items: inside(1, each(schema)),
  allOf: each(schema),
  properties: entries(1, schema),
  readOnly: flag,
  example: anything,
});

/** Fields that an operation has in both versions. */
export const OPERATION_FORMS: Readonly<Record<string, Field>> = {
  tags: texts,
  summary: text,
  description: text,
  operationId: text,
  deprecated: flag,
};

/** Numbers of the fields of {@link OPERATION_FORMS} that are the same in both versions. */
export const OPERATION_NUMBERS = { tags: 1, summary: 2, description: 3, operationId: 5 };

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** The operations of a path, which have numbers one after the other. */
export const operationFields = (first: number, operation: Field): Fields =>
  Object.fromEntries(METHODS.map((method, i) => [method, [first + i, operation]] as const));
