import { deepEqual, lookup } from "@lotse/client/meta";
import { type FieldError, forbidden, formatFieldError, invalid, required } from "./field-errors.ts";
import { checkKeywords } from "./keywords.ts";
import { compilePattern, patternComplaint } from "./pattern.ts";
import { prune } from "./prune.ts";
import { noReferences, type Schema } from "./types.ts";
import { validateValue } from "./validate.ts";

/** Where the schema of a CustomResourceDefinition with one schema for all its versions is reported. */
export const SCHEMA_PATH = "spec.validation.openAPIV3Schema";

/** What {@link checkStructural} knows beside the schema. */
export interface StructuralOptions {
  /** The field that the schema sits in; {@link SCHEMA_PATH} unless told. */
  readonly path?: string;
}

/**
 * Checks that the schema of a custom resource is structural: every node says its type, value validations add no
 * structure of their own, and defaults are valid. The errors are those that the API server answers when the
 * definition is written.
 */
export function checkStructural(schema: Schema, options: StructuralOptions = {}): FieldError[] {
  const path = options.path ?? SCHEMA_PATH;
  const errors: FieldError[] = [];
  if (schema.nullable) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const structure = [...checkNode(schema, "root", path), ...completeness(schema, schema, path, path)];
  // In the order of their text, as the server does, so that the answer does not depend on the order of keys.
  structure.sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
  // A reference has no structure of its own to look at.
  if (!hasReference(schema)) {
    errors.push(...(structure.length > 0 ? structure : checkDefaults(schema, path, true, false)));
  }
  errors.push(...checkKeywords(schema, path));
  return errors;
}

function hasReference(schema: Schema): boolean {
  if (schema.$ref !== undefined) return true;
  const { items, additionalProperties, properties } = schema;
  if (items && hasReference(items)) return true;
  if (typeof additionalProperties === "object" && hasReference(additionalProperties)) return true;
  return Object.values(properties ?? {}).some(hasReference);
}

type Level = "root" | "item" | "field";

const INT_OR_STRING: readonly Schema[] = [{ type: "integer" }, { type: "string" }];
const MISSING_TYPE: Record<Level, string> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkNode(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const type = schema.type ?? "";
  if (type === "array" && !schema.items) errors.push(required(`${path}.items`, "must be specified"));
  if (schema.items) errors.push(...checkNode(schema.items, "item", `${path}.items`));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...checkNode(property, "field", `${path}.properties[${key}]`));
  }
  const additional = schema.additionalProperties;
  if (additional !== undefined) {
    if (level === "root") errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
    if (typeof additional === "object") errors.push(...checkNode(additional, "field", `${path}.additionalProperties`));
  }
  if (intOrString && preserve) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    errors.push(invalid(field, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  if (intOrString && embedded) {
    const field = `${path}.x-kubernetes-embedded-resource`;
    errors.push(invalid(field, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  errors.push(...checkValidations(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), path));

  if (embedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (type === "" && !intOrString && !preserve) {
    errors.push(required(`${path}.type`, MISSING_TYPE[level]));
  }
  if (embedded && additional !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalid(`${path}.type`, type, "must be object at the root"));
  }
  if (level === "root" || embedded) {
    for (const key of ["kind", "apiVersion"]) {
      const property = lookup(schema.properties, key);
      if (property && property.type !== "string") {
        errors.push(invalid(`${path}.properties[${key}].type`, property.type ?? "", "must be string"));
      }
    }
  }
  const metadata = schema.properties?.metadata;
  if (metadata) errors.push(...checkMetadata(metadata, level, embedded, `${path}.properties[metadata]`));
  if (embedded && !preserve && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, detail));
  }
  return errors;
}

function isIntOrString(anyOf: readonly Schema[] | undefined): boolean {
  return deepEqual(anyOf, INT_OR_STRING);
}

function checkMetadata(metadata: Schema, level: Level, embedded: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if ((level === "root" || embedded) && metadata.type !== "object") {
    errors.push(invalid(`${path}.type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root") {
    const { type: _type, properties, default: _default, ...rest } = metadata;
    const names = Object.keys(properties ?? {});
    const onlyNames = names.every((name) => name === "name" || name === "generateName");
    if (!onlyNames || Object.keys(rest).length > 0) {
      const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      errors.push(forbidden(path, detail));
    }
  }
  return errors;
}

/** `skipAnyOf` and `skipFirst` let the two ways to spell int-or-string through. */
function checkValidations(schema: Schema, skipAnyOf: boolean, skipFirst: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!skipAnyOf) {
    for (const [i, part] of (schema.anyOf ?? []).entries())
      errors.push(...checkNested(part, false, `${path}.anyOf[${i}]`));
  }
  for (const [i, part] of (schema.allOf ?? []).entries()) {
    errors.push(...checkNested(part, skipFirst && i === 0, `${path}.allOf[${i}]`));
  }
  for (const [i, part] of (schema.oneOf ?? []).entries())
    errors.push(...checkNested(part, false, `${path}.oneOf[${i}]`));
  if (schema.not) errors.push(...checkNested(schema.not, false, `${path}.not`));
  if (schema.pattern && !compilePattern(schema.pattern)) {
    const detail = `must be a valid regular expression, but isn't: error parsing regexp: ${patternComplaint(schema.pattern)}`;
    errors.push(invalid(`${path}.pattern`, schema.pattern, detail));
  }
  return errors;
}

/** What a value validation must not say, because it would add structure; the words differ by the kind of keyword. */
const FORBIDDEN_NESTED: readonly (readonly [keyof Schema, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNested(schema: Schema, skipAnyOf: boolean, path: string): FieldError[] {
  const errors = checkValidations(schema, skipAnyOf, false, path);
  if (schema.items) errors.push(...checkNested(schema.items, false, `${path}.items`));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...checkNested(property, false, `${path}.properties[${key}]`));
  }
  for (const [keyword, detail] of FORBIDDEN_NESTED) {
    const value = schema[keyword];
    const empty =
      value === undefined || value === false || value === "" || (Array.isArray(value) && value.length === 0);
    // Of all values only `false` for additional properties says something.
    if (!empty || (keyword === "additionalProperties" && value === false)) {
      errors.push(forbidden(`${path}.${keyword}`, detail));
    }
  }
  if (schema.properties?.metadata) {
    errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
  return errors;
}

/** Every field that a value validation of the root speaks of must exist in the structure itself. */
function completeness(validation: Schema, schema: Schema, path: string, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (validation.not) errors.push(...nestedCompleteness(validation.not, schema, path, `${at}.not`));
  for (const keyword of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [i, part] of (validation[keyword] ?? []).entries()) {
      errors.push(...nestedCompleteness(part, schema, path, `${at}.${keyword}[${i}]`));
    }
  }
  return errors;
}

function nestedCompleteness(nested: Schema, schema: Schema | undefined, path: string, at: string): FieldError[] {
  if (!schema) return [required(path, `because it is defined in ${at}`)];
  const errors = completeness(nested, schema, path, at);
  if (nested.items) errors.push(...nestedCompleteness(nested.items, schema.items, `${path}.items`, `${at}.items`));
  for (const [key, property] of Object.entries(nested.properties ?? {})) {
    const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    const suffix = `.properties[${key}]`;
    errors.push(...nestedCompleteness(property, own, path + suffix, at + suffix));
  }
  return errors;
}

/** A default must be a value that its own schema accepts and would not prune. */
function checkDefaults(schema: Schema, path: string, root: boolean, insideMeta: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const resource = root || schema["x-kubernetes-embedded-resource"] === true;
  if (schema.default !== undefined && schema.default !== null) {
    const field = `${path}.default`;
    const { unknown } = prune(schema.default, schema, noReferences, { resourceRoot: resource });
    if (unknown.length > 0 && !insideMeta) errors.push(invalid(field, schema.default, "must not have unknown fields"));
    errors.push(...validateValue(schema.default, schema, { path: field }));
  }
  if (schema.items) errors.push(...checkDefaults(schema.items, `${path}.items`, false, insideMeta));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const meta = insideMeta || (resource && (key === "metadata" || key === "apiVersion" || key === "kind"));
    errors.push(...checkDefaults(property, `${path}.properties[${key}]`, false, meta));
  }
  return errors;
}
