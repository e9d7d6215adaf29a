/** Addresses in fields that are older than the strict rules, and that follow them nevertheless. */
import { invalidValue } from "../../fields.ts";
import { isIpv6, NO_IP } from "../common.ts";
import type { Errors } from "./check.ts";

const OCTETS = /^\d{1,}\.\d{1,}\.\d{1,}\.\d{1,}$/;

/** Four numbers up to 255; zeros before them are told apart by the caller. */
function isSloppyIpv4(value: string): boolean {
  return OCTETS.test(value) && value.split(".").every((octet) => Number(octet) <= 255);
}

const leadsWithZero = (value: string): boolean => value.split(".").some((octet) => /^0\d/.test(octet));

/** An address; IPv4 without zeros in front, and not in the clothes of IPv6. */
export function checkAddress(value: string, path: string, errors: Errors): void {
  if (!value.includes(":")) {
    if (!isSloppyIpv4(value)) errors.push(invalidValue(path, value, NO_IP));
    else if (leadsWithZero(value)) errors.push(invalidValue(path, value, "must not have leading 0s"));
    return;
  }
  const tail = value.slice(value.lastIndexOf(":") + 1);
  const dotted = tail.includes(".");
  const plain = dotted && leadsWithZero(tail) ? value.replace(/(^|[:.])0+(?=\d)/g, "$1") : value;
  if (!isIpv6(plain)) errors.push(invalidValue(path, value, NO_IP));
  else if (plain !== value) errors.push(invalidValue(path, value, "must not have leading 0s"));
  else if (isMapped(value)) errors.push(invalidValue(path, value, "must not be an IPv4-mapped IPv6 address"));
}

/** Whether an address of IPv6 stands for one of IPv4. */
function isMapped(value: string): boolean {
  const canonical = new URL(`http://[${value}]/`).hostname;
  return canonical.startsWith("[::ffff:");
}
