import { compareQuantities } from "@lotse/client/meta";
import { type FieldError, IMMUTABLE, invalidValue } from "../fields.ts";
import { isRecord } from "../object.ts";

/** Numbers that count something. */
export function notNegative(value: unknown, field: string): FieldError[] {
  if (typeof value !== "number" || value >= 0) return [];
  return [invalidValue(field, value, "must be greater than or equal to 0")];
}

/** The error about a field that must stay as it is. */
export function unchanged(value: unknown, old: unknown, field: string, detail: string = IMMUTABLE): FieldError[] {
  return JSON.stringify(value) === JSON.stringify(old) ? [] : [invalidValue(field, value ?? null, detail)];
}

const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of things, or a part of them in percent. */
export function numberOrPercent(value: unknown, field: string): FieldError[] {
  if (typeof value === "string") return /^[0-9]+%$/.test(value) ? [] : [invalidValue(field, value, PERCENT)];
  return notNegative(value, field);
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Whether a text is an address of either family. */
export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** Whether a text is an IPv4 address. */
export const isIpv4 = (text: string): boolean => IPV4.test(text);

/** Whether a text is an IPv6 address. */
export function isIpv6(text: string): boolean {
  if (!text.includes(":") || !/^[0-9a-fA-F:.]+$/.test(text)) return false;
  try {
    new URL(`http://[${text}]/`);
    return true;
  } catch {
    return false;
  }
}

/** The sentence about a text that is no address. */
export const NO_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Whether `a` is more than `b`; texts that are no quantities are not compared. */
export function exceeds(a: unknown, b: unknown): boolean {
  try {
    return compareQuantities(String(a), String(b)) > 0;
  } catch {
    return false;
  }
}

/** A text, empty for anything else. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
/** A list of texts, empty for anything else. */
export const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
/** An object, empty for anything else. */
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
