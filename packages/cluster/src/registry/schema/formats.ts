import { isDns1123Label, isDns1123Subdomain, lookup } from "@lotse/client/meta";

/** Whether a schema's `format` means something for a text; other formats are ignored. */
export function isTextFormat(format: string): boolean {
  return Object.hasOwn(FORMATS, normalize(format));
}

/** Whether `text` has the format; true for a format that means nothing. */
export function hasFormat(text: string, format: string): boolean {
  return lookup(FORMATS, normalize(format))?.(text) ?? true;
}

/** `date-time` and `datetime` are one format. */
function normalize(format: string): string {
  return format.startsWith("k8s-") ? format : format.replaceAll("-", "");
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const FORMATS: Record<string, (text: string) => boolean> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: matches(/^(?:[^<>]*<)?[^\s@<>",;:\\()[\]]+@[^\s@<>",;:\\()]+>?$/),
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: isCidr,
  mac: matches(
    /^(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4,18}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2,9}[0-9a-fA-F]{4})$/,
  ),
  uuid: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  isbn: (text) => isIsbn(text, 10) || isIsbn(text, 13),
  isbn10: (text) => isIsbn(text, 10),
  isbn13: (text) => isIsbn(text, 13),
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(
    /^rgb\(\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*(?:,\s*(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*){2}\)$/,
  ),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  "k8s-short-name": isDns1123Label,
  "k8s-long-name": isDns1123Subdomain,
};

function isUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text.startsWith("/") || /^[a-zA-Z][a-zA-Z0-9+.-]*:\S/.test(text);
}

function isHostname(text: string): boolean {
  if (text.length > 255 || text.split(".").some((label) => label.length > 63)) return false;
  const letter = "a-zA-Z0-9\\p{S}\\p{L}";
  const single = `[${letter}](?:-?[${letter}]{0,62})?`;
  const dotted = `(?:[${letter}](?:[${letter}-]{0,61}[${letter}])?\\.)+[a-zA-Z\\p{L}]{2,63}`;
  return new RegExp(`^(?:${single}|${dotted})$`, "u").test(text);
}

/** Four numbers up to 255; leading zeros are tolerated, as the server does for old manifests. */
export function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,}$/.test(part) && Number(part) <= 255);
}

export function isIpv6(text: string): boolean {
  if (!text.includes(":")) return false;
  let rest = text;
  const lastColon = rest.lastIndexOf(":");
  if (rest.includes(".")) {
    if (!isIpv4(rest.slice(lastColon + 1))) return false;
    rest = `${rest.slice(0, lastColon + 1)}0:0`;
  }
  const halves = rest.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

export function isCidr(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  return (isIpv4(address) && Number(length) <= 32) || (isIpv6(address) && Number(length) <= 128);
}

function isIsbn(text: string, digits: 10 | 13): boolean {
  const plain = text.replace(/[\s-]/g, "");
  if (digits === 10) {
    if (!/^\d{9}[\dX]$/.test(plain)) return false;
    let sum = 0;
    for (let i = 0; i < 10; i++) sum += (10 - i) * (plain[i] === "X" ? 10 : Number(plain[i]));
    return sum % 11 === 0;
  }
  if (!/^\d{13}$/.test(plain)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += Number(plain[i]) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const plain = text.replace(/\D/g, "");
  const known =
    /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;
  if (!known.test(plain)) return false;
  let sum = 0;
  for (let i = 0; i < plain.length; i++) {
    let digit = Number(plain[plain.length - 1 - i]);
    if (i % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):?(\d\d))$/.exec(text);
  if (!match || !isDate(match[1] as string)) return false;
  const [, , hours, minutes, seconds, zoneHours = "0", zoneMinutes = "0"] = match;
  return (
    Number(hours) <= 23 &&
    Number(minutes) <= 59 &&
    Number(seconds) <= 60 &&
    Number(zoneHours) <= 23 &&
    Number(zoneMinutes) <= 59
  );
}

/** Go's `1h30m`, or an amount with a unit spelled out: `22 ns`, `3 weeks`. */
function isDuration(text: string): boolean {
  return goDuration(text) !== undefined;
}

/** A duration in Go's form, which is the one that expressions read; undefined when it is none. */
export function goDuration(text: string): string | undefined {
  if (/^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/.test(text)) return text;
  const [, amount, unit = ""] = /^\s*(\d+)\s*([a-z\u00b5\u03bc]+)\s*$/i.exec(text) ?? [];
  const found = SPELLED_UNITS.find(({ names }) => names.test(unit));
  return amount === undefined || found === undefined
    ? undefined
    : `${BigInt(amount) * BigInt(found.times)}${found.unit}`;
}

/** Units that may be spelled out, in those of Go. */
const SPELLED_UNITS: readonly { names: RegExp; unit: string; times: number }[] = [
  { names: /^(?:ns|nanos?|nanoseconds?)$/i, unit: "ns", times: 1 },
  { names: /^(?:us|\u00b5s|\u03bcs|micros?|microseconds?)$/i, unit: "us", times: 1 },
  { names: /^(?:ms|millis?|milliseconds?)$/i, unit: "ms", times: 1 },
  { names: /^(?:s|secs?|seconds?)$/i, unit: "s", times: 1 },
  { names: /^(?:m|mins?|minutes?)$/i, unit: "m", times: 1 },
  { names: /^(?:h|hrs?|hours?)$/i, unit: "h", times: 1 },
  { names: /^(?:d|days?)$/i, unit: "h", times: 24 },
  { names: /^(?:w|wks?|weeks?)$/i, unit: "h", times: 168 },
];
