import { dns1123SubdomainErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { textOf, textsOf } from "./common.ts";

const USAGES: readonly string[] = [
  ...["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"],
  ...["decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"],
  ...["ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"],
  ...["server auth", "signing", "timestamping"],
];
const LEGACY = "kubernetes.io/legacy-unknown";
const SHORTEST_SECONDS = 600;

/** What is wrong with a new request for a certificate. */
export function signingRequestCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const usages = textsOf(spec.usages);
  const path = "spec.usages";
  const errors = requestErrors(spec);
  for (const [i, usage] of usages.entries()) {
    if (!USAGES.includes(usage)) errors.push(notSupported(`${path}[${i}]`, usage, USAGES));
  }
  for (const [i, usage] of usages.entries()) {
    if (usages.indexOf(usage) < i) errors.push(duplicateValue(`${path}[${i}]`, usage));
  }
  const name = textOf(spec.signerName);
  if (name === LEGACY) {
    errors.push(invalidValue("spec.signerName", name, "the legacy signerName is not allowed via this API version"));
  } else errors.push(...signerName(name, "spec.signerName"));
  const { expirationSeconds: seconds } = spec;
  if (typeof seconds === "number" && seconds < SHORTEST_SECONDS) {
    const text = "may not specify a duration less than 600 seconds (10 minutes)";
    errors.push(invalidValue("spec.expirationSeconds", seconds, text));
  }
  return errors;
}

/** What is wrong with one that was there before: what has become stricter since does not count. */
export function signingRequestUpdate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  return [...requestErrors(spec), ...signerName(textOf(spec.signerName), "spec.signerName")];
}

function requestErrors(spec: Readonly<Record<string, unknown>>): FieldError[] {
  const errors: FieldError[] = [];
  if (!isRequest(textOf(spec.request))) {
    errors.push(invalidValue("spec.request", spec.request ?? null, "PEM block type must be CERTIFICATE REQUEST"));
  }
  if (textsOf(spec.usages).length === 0) errors.push(required("spec.usages"));
  return errors;
}

function isRequest(request: string): boolean {
  try {
    return /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(atob(request));
  } catch {
    return false;
  }
}

function signerName(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const [domain = "", ...path] = name.split("/");
  if (path.length !== 1 || path[0] === "") {
    const text = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidValue(field, name, text)];
  }
  return dns1123SubdomainErrors(domain).map((text) => invalidValue(field, domain, text));
}
