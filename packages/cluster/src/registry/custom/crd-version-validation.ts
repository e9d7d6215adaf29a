/** What is wrong with the versions of a CustomResourceDefinition: their schemas, scales, columns and selectable fields. */
import { deepEqual } from "@lotse/client/meta";
import { type FieldError, invalidValue, required } from "../fields.ts";
import type { PrinterColumn } from "../resource.ts";
import { type CelEngine, checkRules, checkStructural, SCHEMA_PATH, schemaFieldPath } from "../schema/index.ts";
import type { CrdVersion } from "./crd.ts";

const MOST_SELECTABLE_FIELDS = 8;

/** What is wrong with the versions of a definition, one by one and together. */
export function validateVersions(versions: readonly CrdVersion[], cel: CelEngine | undefined): FieldError[] {
  return [
    ...validateSchemas(versions, cel),
    ...perVersion(versions, "subresources", validateScale),
    ...perVersion(versions, "additionalPrinterColumns", validateColumns),
    ...perVersion(versions, "selectableFields", validateSelectableFields),
  ];
}

/** What all versions have in common is reported once, at the place where it stood before versions had their own. */
function perVersion<K extends "subresources" | "additionalPrinterColumns" | "selectableFields">(
  versions: readonly CrdVersion[],
  key: K,
  check: (version: CrdVersion, path: string) => FieldError[],
): FieldError[] {
  const [first] = versions;
  if (first && versions.every((version) => deepEqual(version[key], first[key]))) return check(first, `spec.${key}`);
  return versions.flatMap((version, i) => check(version, `spec.versions[${i}].${key}`));
}

function validateSchemas(versions: readonly CrdVersion[], cel: CelEngine | undefined): FieldError[] {
  const first = versions[0]?.schema?.openAPIV3Schema;
  const same = versions.every((version) => deepEqual(version.schema?.openAPIV3Schema, first));
  return (same ? versions.slice(0, 1) : versions).flatMap((version, i) => {
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined) return [];
    const path = same ? SCHEMA_PATH : `spec.versions[${i}].schema.openAPIV3Schema`;
    const errors = checkStructural(schema, { path });
    return errors.length === 0 && cel !== undefined ? checkRules(schema, cel, path) : errors;
  });
}

/** What is wrong with the warning of a deprecated version. */
export function validateDeprecation(version: CrdVersion, field: string): FieldError[] {
  const warning = version.deprecationWarning;
  if (warning === undefined) return [];
  if (version.deprecated !== true) return [invalidValue(field, warning, "can only be set for deprecated versions")];
  if (warning === "") return [invalidValue(field, warning, "must not be an empty string")];
  return warning.length > 256 ? [invalidValue(field, warning, "must be <= 256 characters long")] : [];
}

const SIMPLE_PATH = "must be a simple json path starting with .";

function validateScale(version: CrdVersion, base: string): FieldError[] {
  const scale = version.subresources?.scale;
  if (!scale) return [];
  const path = `${base}.scale`;
  const errors: FieldError[] = [];
  const check = (
    key: "specReplicasPath" | "statusReplicasPath" | "labelSelectorPath",
    root: string,
    roots: string[],
  ) => {
    const value = scale[key];
    if (value === undefined || value === "") {
      if (key !== "labelSelectorPath") errors.push(required(`${path}.${key}`));
    } else if (!value.startsWith(".")) {
      errors.push(invalidValue(`${path}.${key}`, value, SIMPLE_PATH));
    } else if (value.includes("[")) {
      errors.push(invalidValue(`${path}.${key}`, value, "should be a json path without array notation"));
    } else if (!roots.some((prefix) => value.startsWith(prefix))) {
      errors.push(invalidValue(`${path}.${key}`, value, `should be a json path under ${root}`));
    }
  };
  check("specReplicasPath", ".spec", [".spec."]);
  check("statusReplicasPath", ".status", [".status."]);
  check("labelSelectorPath", "either .spec or .status", [".spec.", ".status."]);
  return errors;
}

const COLUMN_TYPES: readonly string[] = ["integer", "number", "string", "boolean", "date"];
const COLUMN_FORMATS: readonly string[] = [
  "int32",
  "int64",
  "float",
  "double",
  "byte",
  "date",
  "date-time",
  "password",
];

function validateColumns(version: CrdVersion, base: string): FieldError[] {
  return (version.additionalPrinterColumns ?? []).flatMap((column, i) => validateColumn(column, `${base}[${i}]`));
}

function validateColumn(column: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const sorted = [...COLUMN_TYPES].sort();
  if (!column.name) errors.push(required(`${path}.name`));
  if (!column.type) errors.push(required(`${path}.type`, `must be one of ${sorted.join(",")}`));
  if (!column.jsonPath) errors.push(required(`${path}.JSONPath`));
  else if (!column.jsonPath.startsWith(".")) {
    errors.push(invalidValue(`${path}.JSONPath`, column.jsonPath, SIMPLE_PATH));
  }
  if (column.type && !COLUMN_TYPES.includes(String(column.type))) {
    errors.push(invalidValue(`${path}.type`, column.type, `must be one of ${sorted.join(",")}`));
  }
  if (column.format && !COLUMN_FORMATS.includes(String(column.format))) {
    errors.push(
      invalidValue(`${path}.format`, column.format, `must be one of ${[...COLUMN_FORMATS].sort().join(",")}`),
    );
  }
  return errors;
}

const SELECTABLE_TYPES: readonly string[] = ["string", "boolean", "integer"];

function validateSelectableFields(version: CrdVersion, path: string): FieldError[] {
  const fields = version.selectableFields ?? [];
  const schema = version.schema?.openAPIV3Schema;
  if (fields.length === 0 || schema === undefined) return [];
  const errors: FieldError[] = [];
  if (fields.length > MOST_SELECTABLE_FIELDS) {
    errors.push({
      type: "TooMany",
      field: path,
      badValue: fields.length,
      detail: `must have at most ${MOST_SELECTABLE_FIELDS} items`,
    });
  }
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of fields.entries()) {
    const field = `${path}[${i}].jsonPath`;
    if (!jsonPath) {
      errors.push(required(field));
      continue;
    }
    const found = schemaFieldPath(jsonPath, schema, { brackets: false });
    if ("error" in found) errors.push(invalidValue(field, jsonPath, `is an invalid path: ${found.error}`));
    else if (found.path.startsWith("metadata")) {
      errors.push(invalidValue(field, jsonPath, "must not point to fields in metadata"));
    } else if (!SELECTABLE_TYPES.includes(String(found.schema.type))) {
      errors.push(
        invalidValue(
          field,
          jsonPath,
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
      );
    }
    if (seen.has(jsonPath)) errors.push({ type: "Duplicate", field, badValue: jsonPath, detail: "" });
    seen.add(jsonPath);
  }
  return errors;
}
