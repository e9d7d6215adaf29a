/**
 * Rules of built-in kinds that their schemas cannot say, chosen by what people trip over. Required fields and enums are
 * checked from the generated schemas; these add relations between fields and what an update may not touch.
 */

import { byteLength, deepEqual } from "@lotse/client/meta";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, required, tooLongValue } from "./fields.ts";
import { type ApiObject, listAt, objectAt } from "./object.ts";

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
  for (const key of SECRET_KEYS[String(object.type)] ?? []) {
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
