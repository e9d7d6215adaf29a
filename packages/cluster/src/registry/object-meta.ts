import {
  byteLength,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "@lotse/client/meta";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, required, tooLongValue } from "./fields.ts";
import type { ApiMeta, ApiObject } from "./object.ts";
import type { NameRule, Strategy } from "./strategy.ts";

const NAME_ERRORS: Record<NameRule, (name: string) => string[]> = {
  // Lengths of names are counted in characters, those of keys and values in bytes.
  subdomain: (name) => dns1123SubdomainErrors(name).map((text) => text.replace(/(\d) bytes$/, "$1 characters")),
  label: dns1123LabelErrors,
  label1035: dns1035LabelErrors,
  pathSegment: pathSegmentErrors,
};

/** Letters of generated names: no vowels, so that no words appear, and none that are easily confused. */
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const LONGEST_GENERATED_BASE = 63 - SUFFIX_LENGTH;

/** A name that begins with `base`, as the server makes it up. */
export function generateName(base: string, random: () => number): string {
  let suffix = "";
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)];
  return base.slice(0, LONGEST_GENERATED_BASE) + suffix;
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan", "kubernetes"]);
const ANNOTATIONS_LIMIT = 256 * 1_024;

/** What is wrong with the metadata of an object that is about to be created or updated. */
export function validateMeta(
  meta: ApiMeta,
  { nameRule: rule, anyFinalizer }: Pick<Strategy, "nameRule" | "anyFinalizer">,
  namespaced: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName !== undefined && meta.generateName !== "") {
    // The generated part ends the name, so that a dash at the end of the base is fine.
    for (const text of NAME_ERRORS[rule](`${meta.generateName.replace(/-$/, "")}x`)) {
      errors.push(invalidValue("metadata.generateName", meta.generateName, text));
    }
  }
  if (!meta.name) errors.push(required("metadata.name", "name or generateName is required"));
  else for (const text of NAME_ERRORS[rule](meta.name)) errors.push(invalidValue("metadata.name", meta.name, text));
  if (!namespaced && meta.namespace) {
    errors.push(forbiddenField("metadata.namespace", "not allowed on this type"));
  } else if (namespaced) {
    if (!meta.namespace) errors.push(required("metadata.namespace"));
    else {
      for (const text of dns1123LabelErrors(meta.namespace)) {
        errors.push(invalidValue("metadata.namespace", meta.namespace, text));
      }
    }
  }
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalidValue("metadata.generation", meta.generation, "must be greater than or equal to 0"));
  }
  errors.push(...validateLabels(meta.labels, "metadata.labels"));
  errors.push(...validateAnnotations(meta.annotations));
  errors.push(...validateOwners(meta));
  const finalizers = meta.finalizers ?? [];
  for (const finalizer of finalizers) {
    for (const text of qualifiedNameErrors(finalizer)) {
      errors.push(invalidValue("metadata.finalizers", finalizer, text));
    }
  }
  for (const [i, finalizer] of anyFinalizer ? [] : finalizers.entries()) {
    if (finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) continue;
    const text = "name is neither a standard finalizer name nor is it fully qualified";
    errors.push(invalidValue(`metadata.finalizers[${i}]`, finalizer, text));
  }
  if (meta.finalizers?.includes("orphan") && meta.finalizers.includes("foregroundDeletion")) {
    errors.push(
      invalidValue(
        "metadata.finalizers",
        meta.finalizers,
        `finalizer orphan and foregroundDeletion cannot be both set`,
      ),
    );
  }
  return errors;
}

/** What is wrong with labels, keys and values. */
export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const text of qualifiedNameErrors(key)) errors.push(invalidValue(field, key, text));
    for (const text of labelValueErrors(value)) errors.push(invalidValue(field, value, text));
  }
  return errors;
}

function validateAnnotations(annotations: Record<string, string> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Annotation keys may be written in upper case; the rule is applied to their lower form.
    for (const text of qualifiedNameErrors(key.toLowerCase())) {
      errors.push(invalidValue("metadata.annotations", key, text));
    }
    size += byteLength(key) + byteLength(value);
  }
  if (size > ANNOTATIONS_LIMIT) {
    errors.push(tooLongValue("metadata.annotations", ANNOTATIONS_LIMIT));
  }
  return errors;
}

function validateOwners(meta: ApiMeta): FieldError[] {
  const errors: FieldError[] = [];
  const field = "metadata.ownerReferences";
  let controller: string | undefined;
  for (const owner of meta.ownerReferences ?? []) {
    const version = owner.apiVersion ?? "";
    if (version === "" || version.split("/").length > 2) {
      errors.push(invalidValue(`${field}.apiVersion`, version, "version must not be empty"));
    }
    for (const part of ["kind", "name", "uid"] as const) {
      if (!owner[part]) errors.push(invalidValue(`${field}.${part}`, "", "must not be empty"));
    }
    if (version === "v1" && owner.kind === "Event") {
      errors.push(invalidValue(field, owner, `/v1, Kind=Event is disallowed from being an owner`));
    }
    if (owner.controller !== true) continue;
    if (controller !== undefined) {
      errors.push(
        invalidValue(
          field,
          meta.ownerReferences?.map(inOrderOfType),
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${owner.kind}/${owner.name}`,
        ),
      );
    }
    controller ??= `${owner.kind}/${owner.name}`;
  }
  return errors;
}

/** Errors print an owner with its fields in the order of its type. */
function inOrderOfType({ apiVersion, kind, name, uid, ...rest }: NonNullable<ApiMeta["ownerReferences"]>[number]) {
  return { apiVersion, kind, name, uid, ...rest };
}

const IMMUTABLE_KEYS = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** What an update may not do to the metadata; `fresh` already had its system fields restored from `old`. */
export function validateMetaUpdate(fresh: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of IMMUTABLE_KEYS) {
    if ((fresh.metadata[key] ?? "") !== (old.metadata[key] ?? "")) {
      errors.push(invalidValue(`metadata.${key}`, fresh.metadata[key], IMMUTABLE));
    }
  }
  if (old.metadata.deletionTimestamp !== undefined) {
    const known = new Set(old.metadata.finalizers);
    const added = (fresh.metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
      errors.push(
        forbiddenField(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      );
    }
  }
  return errors;
}

/** Owners that name the same object twice: the first one stays. Returns the text of a warning when any was dropped. */
export function dropDuplicateOwners(meta: ApiMeta): string | undefined {
  const owners = meta.ownerReferences;
  if (!owners || owners.length < 2) return undefined;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => {
    const key = JSON.stringify([
      owner.apiVersion,
      owner.kind,
      owner.name,
      owner.uid,
      owner.controller,
      owner.blockOwnerDeletion,
    ]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  if (kept.length === owners.length) return undefined;
  meta.ownerReferences = kept;
  const uids = new Set(owners.filter((o, i) => owners.findIndex((p) => p.uid === o.uid) !== i).map((o) => o.uid));
  return `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...uids].join(", ")}`;
}
