import { dns1123SubdomainErrors } from "@lotse/client/meta";
import { type FieldError, invalidValue, required } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { textOf, textsOf } from "./common.ts";

export function signingRequest(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const request = textOf(spec.request);
  if (!isRequest(request)) {
    errors.push(invalidValue("spec.request", request, "PEM block type must be CERTIFICATE REQUEST"));
  }
  if (textsOf(spec.usages).length === 0) errors.push(required("spec.usages"));
  return [...errors, ...signerName(textOf(spec.signerName), "spec.signerName")];
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
