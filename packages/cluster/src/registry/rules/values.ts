import {
  byteLength,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "@lotse/client/meta";
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../fields.ts";
import { listAt, objectAt } from "../object.ts";
import { recordOf, textOf, textsOf } from "./common.ts";

type Fields = Record<string, unknown>;

/** Whether a field that is a pointer on the server was given at all: an empty text is something there. */
export const given = (value: unknown): boolean => value !== undefined && value !== null;

/** One error for each complaint about one value. */
export function complain(complaints: readonly string[], field: string, value: unknown): FieldError[] {
  return complaints.map((text) => invalidValue(field, value, text));
}

/** Older rules count characters where the newer ones count bytes. */
const inCharacters = (complaints: string[]): string[] =>
  complaints.map((text) => (text.endsWith(" bytes") ? `${text.slice(0, -"bytes".length)}characters` : text));

/** What is wrong with the name of most objects, in the words that its older rule uses. */
export const subdomainComplaints = (text: string): string[] => inCharacters(dns1123SubdomainErrors(text));
/** What is wrong with a DNS label, as sentences. */
export const labelComplaints = (text: string): string[] => inCharacters(dns1123LabelErrors(text));

/** What is wrong with a DNS subdomain, as errors of a field. */
export const subdomainErrors = (text: string, field: string): FieldError[] =>
  complain(subdomainComplaints(text), field, text);
/** What is wrong with a DNS label, as errors of a field. */
export const labelErrors = (text: string, field: string): FieldError[] => complain(labelComplaints(text), field, text);
/** What is wrong with a qualified name, as errors of a field. */
export const qualifiedErrors = (text: string, field: string): FieldError[] =>
  complain(qualifiedNameErrors(text), field, text);

/** A name that must be there and fit into the path of a URL. */
export function requiredSegment(text: string, field: string): FieldError[] {
  return text === "" ? [required(field)] : complain(pathSegmentErrors(text), field, text);
}

const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const WILDCARD_RULE =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LONGEST_SUBDOMAIN = 253;

/** What is wrong with a host that begins with `*.`, as sentences. */
export function wildcardComplaints(text: string): string[] {
  const complaints: string[] = [];
  if (text.length > LONGEST_SUBDOMAIN) complaints.push(`must be no more than ${LONGEST_SUBDOMAIN} characters`);
  if (!WILDCARD.test(text)) complaints.push(WILDCARD_RULE);
  return complaints;
}

/** Between two numbers, both included; the words are the server's. */
export const rangeText = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

const HIGHEST_PORT = 65_535;
const NO_PORT = rangeText(1, HIGHEST_PORT);

/** What is wrong with the number of a port. */
export function portNumberErrors(value: unknown, field: string): FieldError[] {
  const port = Number(value ?? 0);
  return port >= 1 && port <= HIGHEST_PORT ? [] : [invalidValue(field, port, NO_PORT)];
}

const PORT_NAME = /^[-a-z0-9]+$/;
const LETTER = /[a-z]/;
const LONGEST_PORT_NAME = 15;

/** What is wrong with the name of a port, as sentences. */
export function portNameComplaints(name: string): string[] {
  const complaints: string[] = [];
  if (byteLength(name) > LONGEST_PORT_NAME) complaints.push(`must be no more than ${LONGEST_PORT_NAME} characters`);
  if (!PORT_NAME.test(name)) {
    complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!LETTER.test(name)) complaints.push("must contain at least one letter (a-z)");
  if (name.includes("--")) complaints.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) complaints.push("must not begin or end with a hyphen");
  return complaints;
}

/** A port by its number or by its name. */
export function portErrors(value: unknown, field: string): FieldError[] {
  if (typeof value === "string") return complain(portNameComplaints(value), field, value);
  return portNumberErrors(value, field);
}

/** Protocols that ports can have. */
export const PROTOCOLS: readonly string[] = ["SCTP", "TCP", "UDP"];

/** A protocol that must be there. */
export function protocolErrors(value: unknown, field: string): FieldError[] {
  const protocol = textOf(value);
  if (protocol === "") return [required(field)];
  return PROTOCOLS.includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}

/** One of the values of a kind; a missing one is left to the caller. */
export function oneOf(value: unknown, field: string, allowed: readonly string[]): FieldError[] {
  return allowed.includes(textOf(value)) ? [] : [notSupported(field, textOf(value), allowed)];
}

const PERCENT = /^[0-9]+%$/;
const WHOLE = 100;

/** A part must not be more than the whole. */
export function notMoreThanAll(value: unknown, field: string): FieldError[] {
  if (typeof value !== "string" || !PERCENT.test(value) || Number(value.slice(0, -1)) <= WHOLE) return [];
  return [invalidValue(field, value, "must not be greater than 100%")];
}

/** Keys and values of labels, in the order of their keys: a real server has none. */
export function labelsErrors(labels: unknown, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(recordOf(labels)).sort(([a], [b]) => (a < b ? -1 : 1))) {
    errors.push(...complain(qualifiedNameErrors(key), field, key));
    errors.push(...complain(labelValueErrors(String(value)), field, value));
  }
  return errors;
}

/** What a selector may say; `lenient` tolerates values that could never match. */
export function selectorErrors(selector: unknown, field: string, lenient = false): FieldError[] {
  if (!given(selector)) return [];
  const errors = labelsErrors(objectAt(selector, "matchLabels"), `${field}.matchLabels`);
  for (const [i, item] of listAt(selector, "matchExpressions").entries()) {
    errors.push(...requirementErrors(item, `${field}.matchExpressions[${i}]`, { lenient }));
  }
  return errors;
}

/** How {@link requirementErrors} looks at a requirement. */
interface RequirementOptions {
  /** Values that could never match are tolerated. */
  readonly lenient?: boolean;
  /** There are operators that compare numbers. */
  readonly compared?: boolean;
}

/** One line of a selector: a key, an operator and its values. */
export function requirementErrors(item: Fields, path: string, options: RequirementOptions = {}): FieldError[] {
  const values = textsOf(item.values);
  const errors = [
    ...operandErrors(textOf(item.operator), values.length, path, options.compared),
    ...qualifiedErrors(textOf(item.key), `${path}.key`),
  ];
  if (options.lenient) return errors;
  return [...errors, ...values.flatMap((value, i) => complain(labelValueErrors(value), `${path}.values[${i}]`, value))];
}

/** Whether an operator has as many values as it needs; `compared` for those that compare numbers. */
export function operandErrors(operator: string, values: number, path: string, compared = false): FieldError[] {
  const field = `${path}.values`;
  if (operator === "In" || operator === "NotIn") {
    return values > 0 ? [] : [required(field, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (operator === "Exists" || operator === "DoesNotExist") {
    const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    return values === 0 ? [] : [forbiddenField(field, text)];
  }
  if (compared && (operator === "Gt" || operator === "Lt")) {
    const text = "must be specified single value when `operator` is 'Lt' or 'Gt'";
    return values === 1 ? [] : [required(field, text)];
  }
  return [invalidValue(`${path}.operator`, operator, "not a valid selector operator")];
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const LONGEST_KEY = 253;
const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys of ConfigMaps and Secrets become names of files, so that those which mean a folder are refused. */
export function configKeyComplaints(key: string): string[] {
  const complaints: string[] = [];
  if (byteLength(key) > LONGEST_KEY) complaints.push(`must be no more than ${LONGEST_KEY} characters`);
  if (!CONFIG_KEY.test(key)) complaints.push(CONFIG_KEY_RULE);
  if (key === "." || key === "..") complaints.push(`must not be '${key}'`);
  else if (key.startsWith("..")) complaints.push("must not start with '..'");
  return complaints;
}

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const NO_HTTP_PATH = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/** A path below a domain: `acme.io/foo`. */
export function domainPathErrors(text: string, field: string): FieldError[] {
  if (text === "") return [required(field)];
  const slash = text.indexOf("/");
  const [host, path] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (slash < 0 || host === "" || path === "") {
    return [invalidValue(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = subdomainErrors(host, field);
  if (!HTTP_PATH.test(path)) errors.push(invalidValue(field, path, NO_HTTP_PATH));
  return errors;
}

/** A whole domain name, with or without the dot at its end. */
export function domainErrors(text: string, field: string): FieldError[] {
  if (text === "") return [required(field)];
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const complaints = subdomainComplaints(name);
  if (complaints.length > 0) return [invalidValue(field, name, complaints.join(","))];
  const parts = name.split(".");
  if (parts.length < 2) {
    return [invalidValue(field, name, "should be a domain with at least two segments separated by dots")];
  }
  for (const part of parts) {
    const wrong = labelComplaints(part);
    if (wrong.length > 0) return [invalidValue(field, part, wrong.join(","))];
  }
  return [];
}
