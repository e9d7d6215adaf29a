import { deepEqual, dns1123LabelErrors, lookup } from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { exceeds, recordOf, textsOf, unchanged } from "./common.ts";

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

function accessModes(spec: Record<string, unknown>): FieldError[] {
  const modes = textsOf(spec.accessModes);
  if (modes.length === 0) return [required("spec.accessModes", "at least 1 access mode is required")];
  return modes.filter((mode) => !MODES.includes(mode)).map((mode) => notSupported("spec.accessModes", mode, MODES));
}

export function claim(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors = accessModes(spec);
  const field = "spec.resources[storage]";
  const size = objectAt(spec, "resources", "requests").storage;
  if (size === undefined) errors.push(required(field));
  else if (!exceeds(size, 0)) errors.push(invalidValue(field, size, "must be greater than zero"));
  return errors;
}

/** A claim may only grow; which volume it gets is written once. */
export function claimUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const kept = (claimed: ApiObject) => {
    const {
      resources,
      volumeName,
      volumeAttributesClassName: _,
      storageClassName,
      ...rest
    } = objectAt(claimed, "spec");
    return [rest, recordOf(resources).limits, volumeName, storageClassName];
  };
  const [before, now] = [kept(old), kept(object)];
  // The binder fills in what was left open.
  const fixed = before.map((value, i) => (value === undefined ? undefined : now[i]));
  if (deepEqual(before, fixed)) return [];
  const text =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [forbiddenField("spec", text)];
}

/** Fields of a volume's spec that do not say where its data is. */
const NO_SOURCE: ReadonlySet<string> = new Set([
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
]);

export function volume(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  if (textsOf(spec.accessModes).length === 0) errors.push(required("spec.accessModes"));
  else errors.push(...accessModes(spec));
  const capacity = objectAt(spec, "capacity");
  if (Object.keys(capacity).length === 0) errors.push(required("spec.capacity"));
  if (capacity.storage === undefined || Object.keys(capacity).length > 1) {
    errors.push(notSupported("spec.capacity", spec.capacity ?? null, ["storage"]));
  }
  if (capacity.storage !== undefined && !exceeds(capacity.storage, 0)) {
    errors.push(invalidValue("spec.capacity[storage]", capacity.storage, "must be greater than zero"));
  }
  if (Object.keys(spec).every((key) => NO_SOURCE.has(key))) {
    errors.push(required("spec", "must specify a volume type"));
  }
  return errors;
}

export function storageClass(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!object.provisioner) errors.push(required("provisioner"));
  const policies = ["Delete", "Retain"];
  if (object.reclaimPolicy !== undefined && !policies.includes(String(object.reclaimPolicy))) {
    errors.push(notSupported("reclaimPolicy", object.reclaimPolicy, policies));
  }
  return errors;
}

export function storageClassUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!deepEqual(object.parameters, old.parameters)) {
    errors.push(forbiddenField("parameters", "updates to parameters are forbidden."));
  }
  return [
    ...errors,
    ...unchanged(object.provisioner, old.provisioner, "provisioner"),
    ...unchanged(object.reclaimPolicy, old.reclaimPolicy, "reclaimPolicy"),
    ...unchanged(object.volumeBindingMode, old.volumeBindingMode, "volumeBindingMode"),
  ];
}

export function quota(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(objectAt(spec, "hard"))) {
    if (exceeds(0, value)) errors.push(invalidValue(`spec.hard[${name}]`, value, "must be greater than or equal to 0"));
  }
  const scopes = textsOf(spec.scopes);
  if (scopes.some((scope) => !SCOPES.includes(scope))) {
    errors.push(invalidValue("spec.scopes", scopes, "unsupported scope"));
  }
  return errors;
}

const SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];

export function quotaUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return unchanged(objectAt(object, "spec").scopes, objectAt(old, "spec").scopes, "spec.scopes");
}

export function limitRange(object: ApiObject): FieldError[] {
  return listAt(object, "spec", "limits").flatMap((limit, i) => limitErrors(limit, `spec.limits[${i}]`));
}

function limitErrors(limit: Record<string, unknown>, path: string): FieldError[] {
  const of = (key: string) => recordOf(limit[key]);
  const [min, max, preset, request] = ["min", "max", "default", "defaultRequest"].map(of) as [
    Record<string, unknown>,
    Record<string, unknown>,
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const errors: FieldError[] = [];
  const names = new Set([min, max, preset, request].flatMap((part) => Object.keys(part)));
  for (const name of [...names].sort()) {
    const check = (field: string, shown: unknown, low: unknown, high: unknown, words: readonly [string, string]) => {
      if (low === undefined || high === undefined || !exceeds(low, high)) return;
      const text = `${words[0]} value ${low} is greater than ${words[1]} value ${high}`;
      errors.push(invalidValue(`${path}.${field}[${name}]`, shown, text));
    };
    const [low, high, usual, asked] = [min, max, preset, request].map((part) => lookup(part, name));
    check("min", low, low, high, ["min", "max"]);
    check("defaultRequest", asked, low, asked, ["min", "default request"]);
    check("defaultRequest", asked, asked, high, ["default request", "max"]);
    check("defaultRequest", asked, asked, usual, ["default request", "default limit"]);
    check("default", low, low, usual, ["min", "default"]);
    check("default", high, usual, high, ["default", "max"]);
  }
  return errors;
}

const HIGHEST_PRIORITY = 1_000_000_000;

export function priorityClass(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (!object.metadata.name?.startsWith("system-") && Number(object.value ?? 0) > HIGHEST_PRIORITY) {
    const text = `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`;
    errors.push(forbiddenField("value", text));
  }
  const policies = ["PreemptLowerPriority", "Never"];
  if (object.preemptionPolicy !== undefined && !policies.includes(String(object.preemptionPolicy))) {
    errors.push(notSupported("preemptionPolicy", object.preemptionPolicy, policies));
  }
  return errors;
}

export function priorityClassUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  if ((object.value ?? 0) !== (old.value ?? 0)) return [forbiddenField("value", "may not be changed in an update.")];
  return unchanged(object.preemptionPolicy, old.preemptionPolicy, "preemptionPolicy");
}

export function runtimeClass(object: ApiObject): FieldError[] {
  const handler = String(object.handler ?? "");
  if (handler === "") return [required("handler")];
  return dns1123LabelErrors(handler).map((text) => invalidValue("handler", handler, text));
}

export function runtimeClassUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  return unchanged(object.handler, old.handler, "handler");
}
