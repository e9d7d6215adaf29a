/**
 * Rules of built-in kinds that their schemas cannot say, chosen by what people trip over. Required fields and enums are
 * checked from the generated schemas; these add relations between fields and what an update may not touch.
 */

import { byteLength, deepEqual, lookup, matchesLabels, parseLabelSelector } from "@lotse/client/meta";
import {
  duplicateValue,
  type FieldError,
  forbiddenField,
  IMMUTABLE,
  invalidValue,
  missingReference,
  required,
  tooLongValue,
} from "./fields.ts";
import { selectorErrors } from "./label-selectors.ts";
import { type ApiObject, isRecord, listAt, objectAt } from "./object.ts";
import { validateEphemeralContainers, validateResize } from "./pod-subresources.ts";

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const LONGEST_KEY = 253;
const LARGEST_DATA = 1_024 * 1_024;
const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys become names of files, so that those which mean a folder are refused. */
function configKeyComplaints(key: string): string[] {
  const complaints: string[] = [];
  if (key.length > LONGEST_KEY) complaints.push(`must be no more than ${LONGEST_KEY} characters`);
  if (!CONFIG_KEY.test(key)) complaints.push(CONFIG_KEY_RULE);
  else if (key === "." || key === "..") complaints.push(`must not be '${key}'`);
  else if (key.startsWith("..")) complaints.push(`must not start with '..'`);
  return complaints;
}

function configKeyErrors(object: ApiObject, ...fields: string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of fields) {
    for (const key of Object.keys(objectAt(object, field))) {
      for (const text of configKeyComplaints(key)) errors.push(invalidValue(`${field}[${key}]`, key, text));
    }
  }
  return errors;
}

export function validateConfigMap(object: ApiObject): FieldError[] {
  const errors = configKeyErrors(object, "data", "binaryData");
  const text = objectAt(object, "data");
  for (const key of Object.keys(objectAt(object, "binaryData"))) {
    if (Object.hasOwn(text, key)) {
      errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
  }
  if (dataSize(object) > LARGEST_DATA) errors.push(tooLongValue("[]", LARGEST_DATA));
  return errors;
}

function dataSize(object: ApiObject): number {
  let size = 0;
  for (const value of Object.values(objectAt(object, "data"))) size += byteLength(String(value));
  for (const value of Object.values(objectAt(object, "binaryData"))) size += (String(value).length * 3) / 4;
  return size;
}

/** An immutable ConfigMap or Secret stays as it is, and stays immutable. */
export function validateImmutableData(object: ApiObject, old: ApiObject): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(forbiddenField("immutable", "field is immutable when `immutable` is set"));
  for (const field of ["data", "binaryData"]) {
    if (!deepEqual(object[field], old[field])) {
      errors.push(forbiddenField(field, "field is immutable when `immutable` is set"));
    }
  }
  return errors;
}

/** Keys that the contents of a typed secret must have. */
const SECRET_KEYS: Record<string, readonly string[]> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

const JSON_KEYS: readonly string[] = [".dockerconfigjson", ".dockercfg"];

export function validateSecret(object: ApiObject): FieldError[] {
  const errors = configKeyErrors(object, "data");
  const data = objectAt(object, "data");
  for (const key of lookup(SECRET_KEYS, String(object.type)) ?? []) {
    if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`));
    else if (JSON_KEYS.includes(key) && !isJson(String(data[key]))) {
      errors.push(invalidValue(`data[${key}]`, "<secret contents redacted>", "unexpected end of JSON input"));
    }
  }
  if (object.type === "kubernetes.io/basic-auth" && !["username", "password"].some((key) => Object.hasOwn(data, key))) {
    errors.push(required("data[username]"), required("data[password]"));
  }
  const account = "kubernetes.io/service-account.name";
  if (object.type === "kubernetes.io/service-account-token" && !object.metadata.annotations?.[account]) {
    errors.push(required(`metadata.annotations[${account}]`));
  }
  return errors;
}

function isJson(base64: string): boolean {
  try {
    JSON.parse(atob(base64));
    return true;
  } catch {
    return false;
  }
}

export function validateSecretUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors = validateImmutableData(object, old);
  if (object.type !== old.type) errors.unshift(invalidValue("type", object.type, IMMUTABLE));
  return errors;
}

export function validateLease(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const duration = spec.leaseDurationSeconds;
  if (typeof duration === "number" && duration <= 0) {
    errors.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  const transitions = spec.leaseTransitions;
  if (typeof transitions === "number" && transitions < 0) {
    errors.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  return errors;
}

/** Of a pod, or of the pod template of a workload when `base` names it; `claimed` are volumes that it gets besides. */
function podSpecErrors(spec: Record<string, unknown>, base: string, claimed: readonly unknown[] = []): FieldError[] {
  const errors: FieldError[] = [];
  for (const list of ["initContainers", "containers"]) {
    const seen = new Set<unknown>();
    for (const [i, container] of listAt({ spec }, "spec", list).entries()) {
      const path = `${base}.${list}[${i}]`;
      if (container.name && seen.has(container.name)) errors.push(duplicateValue(`${path}.name`, container.name));
      seen.add(container.name);
      if (!container.image) errors.push(required(`${path}.image`));
    }
  }
  const volumes = new Set<unknown>();
  for (const [i, volume] of listAt({ spec }, "spec", "volumes").entries()) {
    if (volumes.has(volume.name)) errors.push(duplicateValue(`${base}.volumes[${i}].name`, volume.name));
    volumes.add(volume.name);
  }
  for (const name of claimed) volumes.add(name);
  for (const [i, container] of listAt({ spec }, "spec", "containers").entries()) {
    for (const [j, mount] of listAt(container, "volumeMounts").entries()) {
      if (mount.name && !volumes.has(mount.name)) {
        errors.push(missingReference(`${base}.containers[${i}].volumeMounts[${j}].name`, mount.name));
      }
    }
  }
  return errors;
}

export function validatePod(object: ApiObject): FieldError[] {
  return podSpecErrors(objectAt(object, "spec"), "spec");
}

const POD_UPDATES =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export function validatePodUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  if (subresource === "ephemeralcontainers") return validateEphemeralContainers(object, old);
  if (subresource === "resize") return validateResize(object, old);
  const masked = (pod: ApiObject) => {
    const {
      activeDeadlineSeconds: _,
      tolerations: __,
      schedulingGates: ___,
      nodeName,
      ...spec
    } = objectAt(pod, "spec");
    const withoutImages = (list: unknown) =>
      Array.isArray(list) ? list.map((item) => (isRecord(item) ? { ...item, image: "" } : item)) : list;
    return {
      ...spec,
      // Only a binding puts a pod on a node.
      nodeName: subresource === "binding" ? undefined : nodeName,
      containers: withoutImages(spec.containers),
      initContainers: withoutImages(spec.initContainers),
    };
  };
  for (const list of ["initContainers", "containers"]) {
    if (listAt(object, "spec", list).length !== listAt(old, "spec", list).length) {
      return [forbiddenField(`spec.${list}`, "pod updates may not add or remove containers")];
    }
  }
  const errors = validateDeadline(object, old);
  const kept = listAt(old, "spec", "tolerations").every((toleration) =>
    listAt(object, "spec", "tolerations").some((item) => deepEqual(tolerated(item), tolerated(toleration))),
  );
  if (!kept) {
    const text = "existing toleration can not be modified except its tolerationSeconds";
    errors.push(forbiddenField("spec.tolerations", text));
  }
  if (!deepEqual(masked(object), masked(old))) errors.push(forbiddenField("spec", POD_UPDATES));
  return errors;
}

function tolerated({ tolerationSeconds: _, ...toleration }: Record<string, unknown>): Record<string, unknown> {
  return toleration;
}

/** The time that a pod has may only become shorter. */
function validateDeadline(object: ApiObject, old: ApiObject): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  const now = objectAt(object, "spec").activeDeadlineSeconds;
  const before = objectAt(old, "spec").activeDeadlineSeconds;
  if (now === before) return [];
  if (typeof now !== "number")
    return [invalidValue(field, null, "must not update from a positive integer to nil value")];
  if (now < 0) return [invalidValue(field, now, "must be greater than or equal to 0")];
  if (typeof before !== "number" || now <= before) return [];
  return [invalidValue(field, now, "must be less than or equal to previous value")];
}

export function validateWorkload(object: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const given = objectAt(object, "spec").selector;
  const selector = isRecord(given) ? given : {};
  const labels = objectAt(object, "spec", "template", "metadata", "labels") as Record<string, string>;
  errors.push(...selectorErrors(selector, "spec.selector"));
  if (errors.length === 0) {
    if (given !== undefined && Object.keys(selector).length === 0) {
      errors.push(invalidValue("spec.selector", {}, `empty selector is invalid for ${object.kind.toLowerCase()}`));
    } else if (
      given === undefined ||
      !matchesLabels(parseLabelSelector(selector as object as Record<string, string>), labels)
    ) {
      const shown = objectAt(object, "spec", "template", "metadata").labels ?? null;
      errors.push(invalidValue("spec.template.metadata.labels", shown, "`selector` does not match template `labels`"));
    }
  }
  const claims = listAt(object, "spec", "volumeClaimTemplates").map((claim) => objectAt(claim, "metadata").name);
  errors.push(...podSpecErrors(objectAt(object, "spec", "template", "spec"), "spec.template.spec", claims));
  const replicas = objectAt(object, "spec").replicas;
  if (typeof replicas === "number" && replicas < 0) {
    errors.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  return errors;
}

export function validateImmutableSelector(object: ApiObject, old: ApiObject): FieldError[] {
  return immutable(object, old, "selector");
}

function immutable(object: ApiObject, old: ApiObject, ...fields: string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of fields) {
    const value = objectAt(object, "spec")[field];
    if (!deepEqual(value, objectAt(old, "spec")[field]))
      errors.push(invalidValue(`spec.${field}`, value ?? null, IMMUTABLE));
  }
  return errors;
}

const STATEFUL_SET_MUTABLE: readonly string[] = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

export function validateStatefulSetUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const masked = (set: ApiObject) =>
    Object.fromEntries(Object.entries(objectAt(set, "spec")).filter(([key]) => !STATEFUL_SET_MUTABLE.includes(key)));
  if (deepEqual(masked(object), masked(old))) return [];
  return [
    forbiddenField(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  ];
}

/** A job must end, so its pods may not be restarted for ever. */
function finitePodErrors(spec: Record<string, unknown>, base: string): FieldError[] {
  const errors = podSpecErrors(spec, base);
  if (spec.restartPolicy === "Always") {
    errors.push(required(`${base}.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  }
  return errors;
}

export function validateJob(object: ApiObject): FieldError[] {
  return finitePodErrors(objectAt(object, "spec", "template", "spec"), "spec.template.spec");
}

export function validateCronJob(object: ApiObject): FieldError[] {
  const template = objectAt(object, "spec", "jobTemplate", "spec", "template", "spec");
  const errors = finitePodErrors(template, "spec.jobTemplate.spec.template.spec");
  const schedule = String(objectAt(object, "spec").schedule ?? "");
  const fields = schedule.trim().split(/\s+/);
  if (schedule !== "" && !schedule.startsWith("@") && fields.length !== 5) {
    const text = `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
    errors.push(invalidValue("spec.schedule", schedule, text));
  }
  return errors;
}

export function validateJobUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const suspended = objectAt(old, "spec").suspend === true && objectAt(old, "status").startTime === undefined;
  const fields = suspended ? ["selector", "completionMode"] : ["selector", "template", "completionMode"];
  return immutable(object, old, ...fields);
}

export function validateService(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const ports = listAt(object, "spec", "ports");
  if (ports.length === 0 && spec.type !== "ExternalName" && spec.clusterIP !== "None") return [required("spec.ports")];
  const errors: FieldError[] = [];
  for (const [i, port] of ports.entries()) {
    for (const field of ["port", "targetPort"]) {
      const value = port[field] ?? 0;
      if (typeof value !== "number" || (value >= 1 && value <= 65_535)) continue;
      errors.push(invalidValue(`spec.ports[${i}].${field}`, value, "must be between 1 and 65535, inclusive"));
    }
  }
  return errors;
}

export function validateServiceUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const now = objectAt(object, "spec");
  const before = objectAt(old, "spec");
  if (now.type === "ExternalName" || before.type === "ExternalName" || !before.clusterIP) return [];
  if (now.clusterIP === before.clusterIP) return [];
  return [invalidValue("spec.clusterIPs[0]", [now.clusterIP], "may not change once set")];
}
