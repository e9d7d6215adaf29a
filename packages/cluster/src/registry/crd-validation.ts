/** What is wrong with a CustomResourceDefinition, apart from required fields and enums, which its schema covers. */
import { deepEqual, dns1035LabelErrors, dns1123SubdomainErrors } from "@lotse/client/meta";
import { clientErrors } from "./admission-kinds/index.ts";
import { asCrd, type Crd, type CrdNames, type CrdVersion, isEstablished, withCondition } from "./crd.ts";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, notSupported, required } from "./fields.ts";
import { type ApiObject, isRecord, timestamp } from "./object.ts";
import type { PrinterColumn } from "./resource.ts";
import {
  type CelEngine,
  checkRules,
  checkStructural,
  hasRules,
  isTextFormat,
  SCHEMA_PATH,
  type Schema,
  schemaFieldPath,
  Verbatim,
} from "./schema/index.ts";

const MOST_SELECTABLE_FIELDS = 8;
const APPROVAL = "api-approved.kubernetes.io";

export function prepareCrd(object: ApiObject): void {
  object.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: storedVersions(object) };
}

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export function markCrdDeleting(object: ApiObject, now: number): void {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) object.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  const { status } = asCrd(object);
  const conditions = withCondition(status.conditions, {
    type: "Terminating",
    status: "True",
    lastTransitionTime: timestamp(now),
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  });
  object.status = { ...status, conditions };
}

/** A version that ever was the storage version stays in the list: there may be objects in it. */
export function prepareCrdUpdate(object: ApiObject, old: ApiObject): void {
  const status = isRecord(object.status) ? object.status : {};
  // A write to the status may take versions off the list, which is how a finished migration is told.
  if (!deepEqual(object.spec, old.spec)) object.status = { ...status, storedVersions: storedVersions(object) };
}

function storedVersions(object: ApiObject): string[] {
  const crd = asCrd(object);
  const known = [...(crd.status?.storedVersions ?? [])];
  const storage = (crd.spec?.versions ?? []).find((version) => version.storage)?.name;
  if (storage !== undefined && !known.includes(storage)) known.push(storage);
  return known;
}

/** Whether any version of a definition has rules, so that the engine must be there to validate it. */
export function crdHasRules(object: ApiObject): boolean {
  return (asCrd(object).spec?.versions ?? []).some((version) => hasRules(version.schema?.openAPIV3Schema ?? {}));
}

export function validateCrd(object: ApiObject, cel: CelEngine | undefined): FieldError[] {
  const crd = asCrd(object);
  const { spec } = crd;
  const errors: FieldError[] = [];
  errors.push(...validateSpec(crd, cel), ...validateStoredVersions(crd), ...validateApproval(crd));
  if (spec.preserveUnknownFields === true) {
    errors.push(
      invalidValue(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  }
  return errors;
}

/** What only a new definition must comply with: later its names can no longer change. */
export function validateNewCrd(object: ApiObject): FieldError[] {
  const { metadata, spec } = asCrd(object);
  if (metadata.name === `${spec.names.plural}.${spec.group}`) return [];
  return [invalidValue("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group')];
}

/** What is worth telling about a definition that is right. */
export function crdWarnings(object: ApiObject): string[] {
  const formats = new Set<string>();
  for (const { schema } of asCrd(object).spec?.versions ?? []) collectFormats(schema?.openAPIV3Schema ?? {}, formats);
  return [...formats].sort().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function collectFormats(schema: Schema, into: Set<string>): void {
  if (schema.type === "string" && schema.format && !isTextFormat(schema.format)) into.add(schema.format);
  if (schema.items) collectFormats(schema.items, into);
  if (typeof schema.additionalProperties === "object") collectFormats(schema.additionalProperties, into);
  for (const property of Object.values(schema.properties ?? {})) collectFormats(property, into);
}

export function validateCrdUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const now = asCrd(object);
  const before = asCrd(old);
  const errors: FieldError[] = [];
  const immutable = (field: string, value: unknown, was: unknown) => {
    if (value !== was) errors.push(invalidValue(field, value, IMMUTABLE));
  };
  if (isEstablished(before)) {
    immutable("spec.scope", now.spec.scope, before.spec.scope);
    immutable("spec.names.kind", now.spec.names.kind, before.spec.names.kind);
  }
  immutable("spec.group", now.spec.group, before.spec.group);
  immutable("spec.names.plural", now.spec.names.plural, before.spec.names.plural);
  return errors;
}

function validateSpec(crd: Crd, cel: CelEngine | undefined): FieldError[] {
  const { spec } = crd;
  const versions = spec.versions ?? [];
  const errors: FieldError[] = [];
  if (!spec.group) errors.push(required("spec.group"));
  else {
    const wrong = dns1123SubdomainErrors(spec.group);
    for (const text of wrong) errors.push(invalidValue("spec.group", spec.group, text));
    if (wrong.length === 0 && !spec.group.includes(".")) {
      errors.push(invalidValue("spec.group", spec.group, "should be a domain with at least one dot"));
    }
  }
  if (!spec.scope) errors.push(required("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced") {
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  }
  for (const [i, version] of versions.entries()) {
    const path = `spec.versions[${i}]`;
    const wrong = dns1035LabelErrors(version.name ?? "");
    if (wrong.length > 0) errors.push(invalidValue(`${path}.name`, version.name, wrong.join(",")));
    errors.push(...validateDeprecation(version, `${path}.deprecationWarning`));
    if (version.schema?.openAPIV3Schema === undefined) errors.push(required(`${path}.schema.openAPIV3Schema`));
  }
  const [first] = versions;
  const oldName = first ? dns1035LabelErrors(first.name ?? "") : [];
  if (new Set(versions.map((version) => version.name)).size !== versions.length) {
    errors.push(invalidValue("spec.versions", printedVersions(versions), "must contain unique version names"));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const shown = spec.versions ? printedVersions(versions) : null;
    errors.push(invalidValue("spec.versions", shown, "must have exactly one version marked as storage version"));
  }
  // The first version is also the one of an older form, where it is checked again.
  if (oldName.length > 0) errors.push(invalidValue("spec.version", first?.name, oldName.join(",")));
  errors.push(...validateNames(spec.names));
  errors.push(...validateSchemas(versions, cel));
  errors.push(...perVersion(versions, "subresources", validateScale));
  errors.push(...perVersion(versions, "additionalPrinterColumns", validateColumns));
  errors.push(...perVersion(versions, "selectableFields", validateSelectableFields));
  errors.push(...validateConversion(crd));
  return errors;
}

/** Versions as the server prints them: with its own names, and without what they have in common. */
function printedVersions(versions: readonly CrdVersion[]): Verbatim {
  const shown = versions.map((version) => ({
    Name: version.name,
    Served: version.served === true,
    Storage: version.storage === true,
    Deprecated: version.deprecated === true,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }));
  return new Verbatim(JSON.stringify(shown));
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

function validateDeprecation(version: CrdVersion, field: string): FieldError[] {
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

function validateNames(names: CrdNames): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["plural", "singular", "kind", "listKind"] as const) {
    if (!names?.[key]) errors.push(required(`spec.names.${key}`));
  }
  const label = (field: string, value: string | undefined) => {
    for (const text of value ? dns1035LabelErrors(value) : []) {
      errors.push(invalidValue(`spec.names.${field}`, value, text));
    }
  };
  label("plural", names.plural);
  label("singular", names.singular);
  for (const field of ["kind", "listKind"] as const) {
    for (const text of names[field] ? dns1035LabelErrors(names[field].toLowerCase()) : []) {
      const detail = `may have mixed case, but should otherwise match: ${text}`;
      errors.push(invalidValue(`spec.names.${field}`, names[field], detail));
    }
  }
  for (const [i, name] of (names.shortNames ?? []).entries()) label(`shortNames[${i}]`, name);
  for (const [i, name] of (names.categories ?? []).entries()) label(`categories[${i}]`, name);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  }
  return errors;
}

function validateConversion(crd: Crd): FieldError[] {
  const conversion = crd.spec.conversion;
  if (!conversion) return [];
  const path = "spec.conversion";
  const { webhook } = conversion;
  if (conversion.strategy === "None") {
    const detail = "should not be set when strategy is not set to Webhook";
    const keys = { clientConfig: "webhookClientConfig", conversionReviewVersions: "conversionReviewVersions" };
    return Object.entries(keys)
      .filter(([key]) => webhook?.[key] !== undefined)
      .map(([, field]) => forbiddenField(`${path}.${field}`, detail));
  }
  if (conversion.strategy !== "Webhook")
    return [notSupported(`${path}.strategy`, conversion.strategy, ["None", "Webhook"])];
  const config = isRecord(webhook?.clientConfig) ? webhook.clientConfig : undefined;
  const errors: FieldError[] = [];
  if (!config) errors.push(required(`${path}.webhookClientConfig`, "required when strategy is set to Webhook"));
  else errors.push(...clientErrors(config, `${path}.webhookClientConfig`));
  const versions = Array.isArray(webhook?.conversionReviewVersions) ? webhook.conversionReviewVersions.map(String) : [];
  const field = `${path}.conversionReviewVersions`;
  if (versions.length === 0) return [...errors, required(field)];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalidValue(`${field}[${i}]`, version, "duplicate version"));
    else for (const text of dns1035LabelErrors(version)) errors.push(invalidValue(`${field}[${i}]`, version, text));
  }
  if (!versions.includes("v1") && !versions.includes("v1beta1")) {
    errors.push(invalidValue(field, versions, "must include at least one of v1, v1beta1"));
  }
  return errors;
}

function validateStoredVersions(crd: Crd): FieldError[] {
  const path = "status.storedVersions";
  const stored = crd.status.storedVersions ?? [];
  if (stored.length === 0) return [invalidValue(path, null, "must have at least one stored version")];
  const errors: FieldError[] = [];
  const names = new Set((crd.spec.versions ?? []).map((version) => version.name));
  for (const [i, name] of stored.entries()) {
    if (names.has(name)) continue;
    errors.push(
      invalidValue(
        `${path}[${i}]`,
        name,
        `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`,
      ),
    );
  }
  // Of several the last one counts.
  const storage = (crd.spec.versions ?? []).findLast((version) => version.storage)?.name;
  if (storage !== undefined && !stored.includes(storage)) {
    errors.push(invalidValue(path, stored, `must have the storage version ${storage}`));
  }
  return errors;
}

/** Groups of the Kubernetes project need somebody who approved the API, or a reason why nobody has. */
export function needsApproval(group: string): boolean {
  return /(^|\.)(k8s\.io|kubernetes\.io)$/.test(group);
}

function validateApproval(crd: Crd): FieldError[] {
  if (!needsApproval(crd.spec.group)) return [];
  const value = crd.metadata.annotations?.[APPROVAL];
  const field = `metadata.annotations[${APPROVAL}]`;
  if (value === undefined) {
    return [
      required(
        field,
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    ];
  }
  if (value.startsWith("unapproved") || /^https?:\/\/[^/]+/.test(value)) return [];
  return [
    invalidValue(
      field,
      value,
      'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
    ),
  ];
}
