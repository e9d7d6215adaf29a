/** What is wrong with a CustomResourceDefinition, apart from required fields and enums, which its schema covers. */
import { deepEqual, dns1035LabelErrors, dns1123SubdomainErrors } from "@lotse/client/meta";
import { clientErrors } from "../admission-kinds/index.ts";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, isRecord, timestamp } from "../object.ts";
import { type CelEngine, hasRules, isTextFormat, type Schema, Verbatim } from "../schema/index.ts";
import { asCrd, type Crd, type CrdNames, type CrdVersion, isEstablished, withCondition } from "./crd.ts";
import { validateDeprecation, validateVersions } from "./crd-version-validation.ts";

const APPROVAL = "api-approved.kubernetes.io";

/** Gives a new definition the status that it begins with. */
export function prepareCrd(object: ApiObject): void {
  object.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: storedVersions(object) };
}

/** Keeps a definition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Tells in the status that a definition is going, and holds it until its objects are gone. */
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

/** What is wrong with a definition. */
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
export function crdWarnings(object: ApiObject, old?: ApiObject, subresource?: string): string[] {
  if (subresource !== undefined) return [];
  const known = old ? formatsOf(old) : new Set<string>();
  const fresh = [...formatsOf(object)].filter((format) => !known.has(format));
  return fresh.sort().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function formatsOf(object: ApiObject): Set<string> {
  const formats = new Set<string>();
  for (const { schema } of asCrd(object).spec?.versions ?? []) collectFormats(schema?.openAPIV3Schema ?? {}, formats);
  return formats;
}

function collectFormats(schema: Schema, into: Set<string>): void {
  if (schema.type === "string" && schema.format && !isTextFormat(schema.format)) into.add(schema.format);
  if (schema.items) collectFormats(schema.items, into);
  if (typeof schema.additionalProperties === "object") collectFormats(schema.additionalProperties, into);
  for (const property of Object.values(schema.properties ?? {})) collectFormats(property, into);
}

/** What a definition must not change. */
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
  errors.push(...validateVersions(versions, cel));
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

function validateNames(names: CrdNames): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of ["plural", "singular", "kind", "listKind"] as const) {
    if (!names?.[key]) errors.push(required(`spec.names.${key}`));
  }
  return [...errors, ...nameErrors(names, "spec.names")];
}

/** What is wrong with names that are there, wanted or accepted. */
function nameErrors(names: CrdNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: string, text = value, before = "") => {
    const complaints = dns1035LabelErrors(text).join(",");
    if (complaints !== "") errors.push(invalidValue(`${path}.${field}`, value, `${before}${complaints}`));
  };
  for (const field of ["plural", "singular"] as const) if (names[field]) label(field, names[field]);
  for (const field of ["kind", "listKind"] as const) {
    const name = names[field];
    if (name) label(field, name, name.toLowerCase(), "may have mixed case, but should otherwise match: ");
  }
  for (const [i, name] of (names.shortNames ?? []).entries()) label(`shortNames[${i}]`, name);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalidValue(`${path}.listKind`, names.listKind, "kind and listKind may not be the same"));
  }
  for (const [i, name] of (names.categories ?? []).entries()) label(`categories[${i}]`, name);
  return errors;
}

/** What is wrong with the status: a write to it is not to blame for the rest. */
export const validateCrdStatus = (object: ApiObject): FieldError[] =>
  nameErrors(asCrd(object).status?.acceptedNames ?? { plural: "", kind: "" }, "status.acceptedNames");

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

/** Groups of the Kubernetes project need a link to the API's approval, or a reason why it has none. */
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
