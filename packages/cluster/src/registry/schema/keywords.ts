import { lookup } from "@lotse/client/meta";
import { type FieldError, forbidden, invalid, notSupported, required } from "./field-errors.ts";
import { schemaFieldPath } from "./field-path.ts";
import type { Schema, ValidationRule } from "./types.ts";

interface Place {
  /** Why a default is not allowed here; undefined where it is. */
  readonly noDefaults?: string;
  readonly insideMeta?: boolean;
}

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const META_FIELDS = new Set(["metadata", "kind", "apiVersion"]);

/** Checks keyword by keyword what the schema of a custom resource may say. */
export function checkKeywords(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, path, {}, true, errors);
  return errors;
}

function walk(schema: Schema, path: string, place: Place, root: boolean, errors: FieldError[]): void {
  errors.push(...unsupported(schema, path, place));
  if (schema.uniqueItems) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  const additional = schema.additionalProperties;
  const properties = Object.entries(schema.properties ?? {});
  if (additional !== undefined) {
    if (properties.length > 0 && additional !== true) {
      const detail = "additionalProperties and properties are mutual exclusive";
      errors.push(forbidden(`${path}.additionalProperties`, detail));
    }
    if (typeof additional === "object") {
      const noDefaults = "inside additionalProperties applying to object metadata";
      const below = place.insideMeta ? { ...place, noDefaults } : place;
      walk(additional, `${path}.additionalProperties`, below, false, errors);
    }
  }
  for (const [key, property] of properties) {
    let below = place;
    if ((root || schema["x-kubernetes-embedded-resource"]) && META_FIELDS.has(key)) {
      below = { ...place, insideMeta: true, ...(root ? { noDefaults: `in top-level ${key}` } : {}) };
    }
    walk(property, `${path}.properties[${key}]`, below, false, errors);
  }
  if (schema.not) walk(schema.not, `${path}.not`, place, false, errors);
  for (const keyword of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [i, part] of (schema[keyword] ?? []).entries())
      walk(part, `${path}.${keyword}[${i}]`, place, false, errors);
  }
  if (schema.items) walk(schema.items, `${path}.items`, place, false, errors);
  errors.push(...extensions(schema, path));
  for (const [i, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    errors.push(...checkRuleText(rule, schema, `${path}.x-kubernetes-validations[${i}]`));
  }
}

function unsupported(schema: Schema, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type && !TYPES.includes(schema.type)) errors.push(notSupported(`${path}.type`, schema.type, TYPES));
  if (schema.default !== undefined && place.noDefaults) {
    errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`));
  }
  const refuse = (keyword: keyof Schema, used: boolean) => {
    if (used) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  };
  refuse("id", (schema.id ?? "") !== "");
  refuse("additionalItems", schema.additionalItems !== undefined);
  refuse("patternProperties", Object.keys(schema.patternProperties ?? {}).length > 0);
  refuse("definitions", Object.keys(schema.definitions ?? {}).length > 0);
  refuse("dependencies", schema.dependencies !== undefined);
  refuse("$ref", schema.$ref !== undefined);
  if (schema.type === "null") {
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
  if (place.insideMeta && schema["x-kubernetes-embedded-resource"]) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
  return errors;
}

function extensions(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema["x-kubernetes-list-type"];
  const mapType = schema["x-kubernetes-map-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const type = schema.type ?? "";
  const items = schema.items;
  const wantType = (wanted: string, keyword: string) => {
    if (type === wanted) return;
    const detail = `must be ${wanted} if ${keyword} is specified`;
    errors.push(type === "" ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  };
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  if (mapType !== undefined) {
    wantType("object", "x-kubernetes-map-type");
    if (mapType !== "atomic" && mapType !== "granular") {
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
    }
  }
  if (listType !== undefined) {
    wantType("array", "x-kubernetes-list-type");
    if (type === "array" && listType === "set" && items) errors.push(...setItems(items, `${path}.items`));
    if (listType !== "atomic" && listType !== "set" && listType !== "map") {
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
    }
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(field, detail) : invalid(field, listType, detail));
  }
  if (listType === "map") errors.push(...mapItems(schema, keys, path));
  if ((listType === "map" || listType === "set") && items?.nullable) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  if (listType === "map" && items) errors.push(...mapKeys(items, keys, `${path}.items`));
  return errors;
}

/** Items of a set are compared as a whole, so that no manager may own a part of one. */
function setItems(items: Schema, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [invalid(`${path}.x-kubernetes-map-type`, null, detail)];
  }
  return [];
}

function mapItems(schema: Schema, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const items = schema.items;
  if (keys.length === 0) {
    const detail = "must not be empty if x-kubernetes-list-type is map";
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, detail));
  }
  if (!items) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
  } else if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${path}.items.type`, items.type ?? "", detail));
  } else {
    const field = `${path}.x-kubernetes-list-map-keys`;
    for (const [i, key] of keys.entries()) {
      const property = lookup(items.properties, key);
      if (!property) errors.push(invalid(field, keys, "entries must all be names of item properties"));
      else if (property.type === "array" || property.type === "object") {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(invalid(`${path}.items.properties[${key}].type`, items.type, detail));
      }
      if (keys.indexOf(key) < i) errors.push(invalid(field, keys, "must not contain duplicate entries"));
    }
  }
  return errors;
}

function mapKeys(items: Schema, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of keys) {
    const property = lookup(items.properties, key);
    if (!property) continue;
    const field = `${path}.properties[${key}]`;
    if (!items.required?.includes(key) && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.push(required(`${field}.default`, detail));
    }
    if (property.nullable) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      errors.push(forbidden(`${field}.nullable`, detail));
    }
  }
  return errors;
}

/** What can be said about a rule without compiling it. */
function checkRuleText(rule: ValidationRule, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const message = rule.message ?? "";
  const lines = (text: string) => /[\n\r]/.test(text);
  if ((rule.rule ?? "").trim() === "") errors.push(required(`${path}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    errors.push(invalid(`${path}.message`, message, "must be non-empty if specified"));
  } else if (lines(message.trim())) {
    errors.push(invalid(`${path}.message`, message, "must not contain line breaks"));
  } else if (lines(rule.rule.trim()) && message.trim() === "") {
    errors.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === "") {
    errors.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    errors.push(notSupported(`${path}.reason`, rule.reason, REASONS));
  }
  const fieldPath = rule.fieldPath ?? "";
  if (fieldPath !== "") {
    if (fieldPath.trim() === "") errors.push(invalid(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
    if (lines(fieldPath)) errors.push(invalid(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
    if ("error" in schemaFieldPath(fieldPath, schema)) {
      errors.push(invalid(`${path}.fieldPath`, fieldPath, "must be a valid path"));
    }
  }
  return errors;
}
