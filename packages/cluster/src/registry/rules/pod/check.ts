/**
 * The vocabulary in which the rules of pods are written: how fields are read (what is absent is the zero of its type),
 * and the checks that many fields share, in the server's words.
 */
import {
  byteLength,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from "@lotse/client/meta";
import { type FieldError, invalidValue, notSupported, required } from "../../fields.ts";
import { isRecord } from "../../object.ts";

/** An object of the API on its way through a check. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where mistakes are collected; a rule adds to it and returns nothing. */
export type Errors = FieldError[];

const NONE: readonly never[] = [];

/** A text, empty when it is absent. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
/** A number, zero when it is absent. */
export const number = (value: unknown): number => (typeof value === "number" ? value : 0);
/** A struct, or undefined where the pointer to it is nil. */
export const struct = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined);
/** The structs of a list. */
export const structs = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : NONE);
/** The texts of a list. */
export const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : NONE);
/** A map's entries in the order of their keys: a real server has none. */
export function entries<T = unknown>(value: unknown): [string, T][] {
  if (!isRecord(value)) return [];
  const list = Object.entries(value) as [string, T][];
  return list.length > 1 ? list.sort(([a], [b]) => (a < b ? -1 : 1)) : list;
}
/** Whether a pointer points to something. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const inCharacters = (message: string): string => message.replace(/(\d) bytes$/, "$1 characters");

/** A single label of DNS. */
export function checkLabel(value: string, path: string, errors: Errors): void {
  for (const message of dns1123LabelErrors(value)) errors.push(invalidValue(path, value, inCharacters(message)));
}

/** A name of most kinds. */
export function checkSubdomain(value: string, path: string, errors: Errors): void {
  for (const message of subdomainMessages(value)) errors.push(invalidValue(path, value, message));
}

/** What is wrong with a name of most kinds, in words. */
export const subdomainMessages = (value: string): string[] => dns1123SubdomainErrors(value).map(inCharacters);

/** What is wrong with a label of DNS, in words. */
export const labelMessages = (value: string): string[] => dns1123LabelErrors(value).map(inCharacters);

/** The key of a label, or anything else that looks like one. */
export function checkQualifiedName(value: string, path: string, errors: Errors): void {
  for (const message of qualifiedNameErrors(value)) errors.push(invalidValue(path, value, message));
}

/** Keys and values of labels, all under the path of their map. */
export function checkLabels(labels: unknown, path: string, errors: Errors): void {
  for (const [key, value] of entries<string>(labels)) {
    checkQualifiedName(key, path, errors);
    for (const message of labelValueErrors(value)) errors.push(invalidValue(path, value, message));
  }
}

/** A count. */
export function checkNotNegative(value: unknown, path: string, errors: Errors): void {
  if (number(value) < 0) errors.push(invalidValue(path, value, "must be greater than or equal to 0"));
}

/** A count of at least one. */
export function checkPositive(value: unknown, path: string, errors: Errors): void {
  if (number(value) <= 0) errors.push(invalidValue(path, number(value), "must be greater than zero"));
}

/** A number between two, both included. */
export function checkRange(value: number, low: number, high: number, path: string, errors: Errors): void {
  if (value < low || value > high) {
    errors.push(invalidValue(path, value, `must be between ${low} and ${high}, inclusive`));
  }
}

/** One of a few texts; `supported` in the order in which the server lists them. */
export function checkOneOf(value: unknown, supported: readonly string[], path: string, errors: Errors): void {
  if (!supported.includes(text(value))) errors.push(notSupported(path, text(value), supported));
}

/** One of a few texts that must be there. */
export function checkChoice(value: unknown, supported: readonly string[], path: string, errors: Errors): void {
  if (text(value) === "") errors.push(required(path));
  else checkOneOf(value, supported, path, errors);
}

/** A text that must be there. */
export function checkPresent(value: unknown, path: string, errors: Errors): void {
  if (text(value) === "") errors.push(required(path));
}

const PORT_CHARACTERS = /^[-a-z0-9]+$/;
const LETTER = /[a-z]/;
const LONGEST_PORT_NAME = 15;

/** What is wrong with the name of a port. */
export function portNameMessages(name: string): string[] {
  const messages: string[] = [];
  if (byteLength(name) > LONGEST_PORT_NAME) messages.push(`must be no more than ${LONGEST_PORT_NAME} characters`);
  if (!PORT_CHARACTERS.test(name)) {
    messages.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!LETTER.test(name)) messages.push("must contain at least one letter (a-z)");
  if (name.includes("--")) messages.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) messages.push("must not begin or end with a hyphen");
  return messages;
}

/** A port by its number. */
export function checkPort(value: number, path: string, errors: Errors): void {
  checkRange(value, 1, 65_535, path, errors);
}

/** A port by its number or by its name. */
export function checkPortOrName(value: unknown, path: string, errors: Errors): void {
  if (typeof value !== "string") checkPort(number(value), path, errors);
  else for (const message of portNameMessages(value)) errors.push(invalidValue(path, value, message));
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** A key of a ConfigMap or Secret that somebody refers to. */
export function checkConfigKey(key: string, path: string, errors: Errors): void {
  if (key === "") {
    errors.push(required(path));
    return;
  }
  if (byteLength(key) > 253) errors.push(invalidValue(path, key, "must be no more than 253 characters"));
  if (!CONFIG_KEY.test(key)) errors.push(invalidValue(path, key, CONFIG_KEY_RULE));
  if (key === "." || key === "..") errors.push(invalidValue(path, key, `must not be '${key}'`));
  else if (key.startsWith("..")) errors.push(invalidValue(path, key, "must not start with '..'"));
}
