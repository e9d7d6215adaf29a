/**
 * The vocabulary in which the rules of pods are written: how fields are read (what is absent is the zero of its type),
 * and the checks that many fields share, in the server's words.
 */
import { type FieldError, invalidValue, notSupported, required } from "../../fields.ts";
import { isRecord } from "../../object.ts";
import { textOf as text } from "../common.ts";
import {
  complain,
  configKeyComplaints,
  labelErrors,
  labelsErrors,
  portErrors,
  qualifiedErrors,
  subdomainErrors,
} from "../values.ts";

/** A text, empty when it is absent; and what is wrong with names, in words. */
export { textOf as text } from "../common.ts";
export {
  labelComplaints as labelMessages,
  portNameComplaints as portNameMessages,
  subdomainComplaints as subdomainMessages,
} from "../values.ts";

/** An object of the API on its way through a check. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where mistakes are collected; a rule adds to it and returns nothing. */
export type Errors = FieldError[];

const NONE: readonly never[] = [];

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

/** A single label of DNS. */
export function checkLabel(value: string, path: string, errors: Errors): void {
  errors.push(...labelErrors(value, path));
}

/** A name of most kinds. */
export function checkSubdomain(value: string, path: string, errors: Errors): void {
  errors.push(...subdomainErrors(value, path));
}

/** The key of a label, or anything else that looks like one. */
export function checkQualifiedName(value: string, path: string, errors: Errors): void {
  errors.push(...qualifiedErrors(value, path));
}

/** Keys and values of labels, all under the path of their map. */
export function checkLabels(labels: unknown, path: string, errors: Errors): void {
  errors.push(...labelsErrors(labels, path));
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

/** A port by its number. */
export function checkPort(value: number, path: string, errors: Errors): void {
  checkRange(value, 1, 65_535, path, errors);
}

/** A port by its number or by its name. */
export function checkPortOrName(value: unknown, path: string, errors: Errors): void {
  errors.push(...portErrors(value, path));
}

/** A key of a ConfigMap or Secret that a pod refers to. */
export function checkConfigKey(key: string, path: string, errors: Errors): void {
  errors.push(...(key === "" ? [required(path)] : complain(configKeyComplaints(key), path, key)));
}
