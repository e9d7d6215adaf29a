/** Claims of volumes that pods and StatefulSets bring along. */
import { byteLength, qualifiedNameErrors } from "@lotse/client/meta";
import { forbiddenField, invalidValue, required, tooLongValue, Verbatim } from "../../fields.ts";
import { readAmount } from "../../quantity-form.ts";
import {
  checkLabel,
  checkLabels,
  checkOneOf,
  checkPresent,
  checkSubdomain,
  type Errors,
  entries,
  type Fields,
  isSet,
  struct,
  text,
  texts,
} from "./check.ts";
import { checkSelector } from "./selectors.ts";

const ANNOTATIONS_LIMIT = 256 * 1_024;

/** Keys of annotations, and how long they are altogether. */
export function checkAnnotations(annotations: unknown, path: string, errors: Errors): void {
  let size = 0;
  for (const [key, value] of entries<string>(annotations)) {
    for (const message of qualifiedNameErrors(key.toLowerCase())) errors.push(invalidValue(path, key, message));
    size += byteLength(key) + byteLength(value);
  }
  if (size > ANNOTATIONS_LIMIT) errors.push(tooLongValue(path, ANNOTATIONS_LIMIT));
}

/** Metadata in the order of its type, without labels and annotations. */
const OTHER_METADATA = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "UID",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/** The claim that a volume makes for itself. */
export function checkClaimTemplate(template: Fields, path: string, errors: Errors): void {
  const meta = struct(template.metadata) ?? {};
  checkAnnotations(meta.annotations, `${path}.metadata.annotations`, errors);
  checkLabels(meta.labels, `${path}.metadata.labels`, errors);
  for (const field of OTHER_METADATA) {
    const value = meta[field === "UID" ? "uid" : field];
    if (isSet(value) && value !== "" && value !== 0) {
      const told = field === "UID" ? "uID" : field;
      errors.push(forbiddenField(`${path}.metadata.${told}`, "cannot be set"));
    }
  }
  checkClaimSpec(struct(template.spec) ?? {}, `${path}.spec`, errors);
}

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** What a claim asks for. */
export function checkClaimSpec(spec: Fields, path: string, errors: Errors): void {
  const modes = texts(spec.accessModes);
  if (modes.length === 0) errors.push(required(`${path}.accessModes`, "at least 1 access mode is required"));
  checkSelector(struct(spec.selector), `${path}.selector`, errors);
  for (const mode of modes) checkOneOf(mode, ACCESS_MODES, `${path}.accessModes`, errors);
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod")) {
    const detail = "may not use ReadWriteOncePod with other access modes";
    errors.push(forbiddenField(`${path}.accessModes`, detail));
  }
  checkStorage(struct(struct(spec.resources)?.requests)?.storage, `${path}.resources[storage]`, errors);
  checkClass(spec.storageClassName, `${path}.storageClassName`, errors);
  if (isSet(spec.volumeMode)) checkOneOf(spec.volumeMode, ["Block", "Filesystem"], `${path}.volumeMode`, errors);
  const source = struct(spec.dataSource);
  const reference = struct(spec.dataSourceRef);
  if (source !== undefined) checkDataSource(source, `${path}.dataSource`, errors);
  if (reference !== undefined) checkDataSource(reference, `${path}.dataSourceRef`, errors);
  if (source !== undefined && reference !== undefined && !sameSource(source, reference)) {
    errors.push(invalidValue(path, new Verbatim("{}"), "must match dataSourceRef"));
  }
  checkClass(spec.volumeAttributesClassName, `${path}.volumeAttributesClassName`, errors);
}

function checkStorage(amount: unknown, path: string, errors: Errors): void {
  if (!isSet(amount)) errors.push(required(path));
  else if (readAmount(amount).nanos <= 0n) errors.push(invalidValue(path, amount, "must be greater than zero"));
}

function checkClass(name: unknown, path: string, errors: Errors): void {
  if (text(name) !== "") checkSubdomain(text(name), path, errors);
}

function checkDataSource(source: Fields, path: string, errors: Errors): void {
  checkPresent(source.name, `${path}.name`, errors);
  checkPresent(source.kind, `${path}.kind`, errors);
  const group = text(source.apiGroup);
  if (group === "" && source.kind !== "PersistentVolumeClaim") {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(invalidValue(path, text(source.kind), detail));
  }
  if (group !== "") checkSubdomain(group, `${path}.apiGroup`, errors);
  if (text(source.namespace) !== "") checkLabel(text(source.namespace), `${path}.namespace`, errors);
}

const sameSource = (a: Fields, b: Fields): boolean =>
  a.apiGroup === b.apiGroup && text(a.kind) === text(b.kind) && text(a.name) === text(b.name);
