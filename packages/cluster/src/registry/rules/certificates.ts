import { deepEqual, dns1123SubdomainErrors } from "@lotse/client/meta";
import { duplicateValue, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { type ApiObject, listAt, objectAt } from "../object.ts";
import { textOf, textsOf } from "./common.ts";
import { certificateComplaint } from "./pem.ts";

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
export function signingRequestUpdate(object: ApiObject, old: ApiObject, subresource?: string): FieldError[] {
  const spec = objectAt(object, "spec");
  return [
    ...requestErrors(spec),
    ...signerName(textOf(spec.signerName), "spec.signerName"),
    ...conditionErrors(object, old),
    ...contentErrors(object, old),
    ...verdictErrors(object, old, subresource),
    ...certificateErrors(object, old, subresource),
  ];
}

type Condition = Readonly<Record<string, unknown>>;

const CONDITIONS = "status.conditions";
/** Conditions that can only be there or not. */
const TRUE_ONLY = ["Approved", "Denied", "Failed"];
const STATUSES = ["False", "True", "Unknown"];
const EXCLUSIVE = "Approved and Denied conditions are mutually exclusive";

const conditionsOf = (object: ApiObject): readonly Condition[] => listAt(object, "status", "conditions");
const ofType = (object: ApiObject, type: string) => conditionsOf(object).filter((condition) => condition.type === type);

function conditionErrors(object: ApiObject, old: ApiObject): FieldError[] {
  const before = conditionsOf(old).map(({ type }) => textOf(type));
  const both = before.includes("Approved") && before.includes("Denied");
  const doubled = new Set(before).size < before.length;
  const seen = new Set<string>();
  return conditionsOf(object).flatMap((condition, i) => {
    const [type, status] = [textOf(condition.type), textOf(condition.status)];
    const path = `${CONDITIONS}[${i}]`;
    const errors: FieldError[] = [];
    if (type === "" && !before.includes("")) errors.push(required(`${path}.type`));
    const allowed = TRUE_ONLY.includes(type) ? ["True"] : STATUSES;
    if (status === "") errors.push(required(`${path}.status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}.status`, status, allowed));
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (!both && other !== undefined && seen.has(other)) errors.push(invalidValue(CONDITIONS, type, EXCLUSIVE));
    if (!doubled && seen.has(type)) errors.push(duplicateValue(`${path}.type`, type));
    seen.add(type);
    return errors;
  });
}

const certificateOf = (object: ApiObject): string => textOf(objectAt(object, "status").certificate);
const complaintAbout = (certificate: string): string | undefined =>
  certificate === "" ? undefined : certificateComplaint(atob(certificate));

/** What a signer has written must be certificates. */
function contentErrors(object: ApiObject, old: ApiObject): FieldError[] {
  const [now, before] = [certificateOf(object), certificateOf(old)];
  if (now === before || complaintAbout(before) !== undefined) return [];
  const complaint = complaintAbout(now);
  return complaint === undefined ? [] : [invalidValue("status.certificate", "<certificate data>", complaint)];
}

/** What was decided stays, and is decided through the approval alone. */
function verdictErrors(object: ApiObject, old: ApiObject, subresource: string | undefined): FieldError[] {
  const count = (type: string) => ofType(object, type).length - ofType(old, type).length;
  const quoted = (type: string) => JSON.stringify(type);
  const removed = TRUE_ONLY.filter((type) => count(type) < 0).map((type) =>
    forbiddenField(CONDITIONS, `updates may not remove a condition of type ${quoted(type)}`),
  );
  if (subresource === "approval") return removed;
  const changed = ["Approved", "Denied"].flatMap((type) => {
    if (count(type) > 0) return [`updates may not add a condition of type ${quoted(type)}`];
    if (count(type) < 0 || deepEqual(ofType(object, type), ofType(old, type))) return [];
    return [`updates may not modify a condition of type ${quoted(type)}`];
  });
  return [...removed, ...changed.map((text) => forbiddenField(CONDITIONS, text))];
}

function certificateErrors(object: ApiObject, old: ApiObject, subresource: string | undefined): FieldError[] {
  const before = certificateOf(old);
  if (certificateOf(object) === before) return [];
  const field = "status.certificate";
  if (subresource !== "status") return [forbiddenField(field, "updates may not set certificate content")];
  return before === "" ? [] : [forbiddenField(field, "updates may not modify existing certificate content")];
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
