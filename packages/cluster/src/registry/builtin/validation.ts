/**
 * Rules of built-in kinds that their schemas cannot say, chosen by what people trip over. Required fields and enums are
 * checked from the generated schemas; these add relations between fields and what an update may not touch.
 */

import { byteLength, deepEqual, lookup } from "@lotse/client/meta";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, required, tooLongValue } from "../fields.ts";
import { type ApiObject, isRecord, objectAt } from "../object.ts";
import { configKeyComplaints } from "../rules/index.ts";

const LARGEST_DATA = 1_024 * 1_024;
function configKeyErrors(object: ApiObject, ...fields: string[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of fields) {
    for (const key of Object.keys(objectAt(object, field))) {
      for (const text of configKeyComplaints(key)) errors.push(invalidValue(`${field}[${key}]`, key, text));
    }
  }
  return errors;
}

/** What is wrong with a ConfigMap. */
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

/** What is wrong with a Secret; its type may ask for certain keys. */
export function validateSecret(object: ApiObject): FieldError[] {
  const errors = configKeyErrors(object, "data");
  const data = objectAt(object, "data");
  for (const key of lookup(SECRET_KEYS, String(object.type)) ?? []) {
    const missing = key === "ssh-privatekey" ? !data[key] : !Object.hasOwn(data, key);
    const wrong = missing || !JSON_KEYS.includes(key) ? undefined : jsonComplaint(String(data[key]));
    if (missing) errors.push(required(`data[${key}]`));
    else if (wrong !== undefined) errors.push(invalidValue(`data[${key}]`, "<secret contents redacted>", wrong));
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

/** What is wrong with a text that should be an object of JSON. */
function jsonComplaint(base64: string): string | undefined {
  try {
    const value: unknown = JSON.parse(atob(base64));
    if (value === null || isRecord(value)) return undefined;
    const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch {
    return "unexpected end of JSON input";
  }
}

/** What a Secret must not change: its type, and everything once it is immutable. */
export function validateSecretUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors = validateImmutableData(object, old);
  if (object.type !== old.type) errors.unshift(invalidValue("type", object.type, IMMUTABLE));
  return errors;
}
