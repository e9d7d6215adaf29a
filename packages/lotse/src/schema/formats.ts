/** The formats of texts that an API server checks: whether a text has one, and texts that have it. Pure. */
import { isDns1123Label, isDns1123Subdomain, lookup } from "@lotse/client/meta";

interface Format {
  readonly test: (text: string) => boolean;
  /** One of many, of a whole number below 2³². */
  readonly sample: (n: number) => string;
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);
const hex = (n: number, digits: number) => n.toString(16).padStart(8, "0").slice(-digits);
const two = (n: number) => String(n).padStart(2, "0");
const date = (n: number) => `${1970 + (n % 80)}-${two(1 + (n % 12))}-${two(1 + (n % 28))}`;
const time = (n: number) => `${date(n)}T${two(n % 24)}:${two(n % 60)}:${two((n >>> 6) % 60)}Z`;
const ipv4 = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join(".");
const uuid = (n: number, version: number) =>
  `${hex(n, 8)}-${hex(n, 4)}-${version}${hex(n >>> 5, 3)}-8${hex(n >>> 9, 3)}-${hex(n, 8)}${hex(n >>> 3, 4)}`;
const label = (n: number) => `h${n.toString(36)}`;

function isIpv6(text: string): boolean {
  return URL.canParse(`http://[${text}]/`);
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const read = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return read.getUTCMonth() === Number(month) - 1 && read.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const [, day, hours, minutes, seconds] =
    /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  if (day === undefined || !isDate(day)) return false;
  return Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) <= 60;
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) < 256);
}

function isCidr(text: string): boolean {
  const [, address = "", bits] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  if (bits === undefined) return false;
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}

const DATE_TIME: Format = { test: isDateTime, sample: time };

const FORMATS: Readonly<Record<string, Format>> = {
  "date-time": DATE_TIME,
  datetime: DATE_TIME,
  date: { test: isDate, sample: date },
  duration: {
    test: (text) =>
      matches(/^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/)(text) ||
      matches(/^\s*\d+\s*[a-zµμ]+\s*$/i)(text),
    sample: (n) => (n % 3 === 0 ? `${n % 24}h${n % 60}m` : `${n % 3600}s`),
  },
  email: { test: matches(/^[^\s@<>",;:\\()]+@[^\s@<>",;:\\()]+$/), sample: (n) => `${label(n)}@example.com` },
  hostname: { test: isDns1123Subdomain, sample: (n) => `${label(n)}.example.com` },
  ipv4: { test: isIpv4, sample: ipv4 },
  ipv6: { test: isIpv6, sample: (n) => `2001:db8::${hex(n, 4)}` },
  cidr: { test: isCidr, sample: (n) => `${ipv4(n)}/${n % 33}` },
  mac: {
    test: matches(/^(?:[0-9a-fA-F]{2}[:-]){5,19}[0-9a-fA-F]{2}$/),
    sample: (n) => `02:00:${hex(n, 8).replace(/(..)(?=.)/g, "$1:")}`,
  },
  uri: {
    test: (text) => !/[\s\p{Cc}]/u.test(text) && (text.startsWith("/") || /^[a-zA-Z][a-zA-Z0-9+.-]*:\S/.test(text)),
    sample: (n) => `https://${label(n)}.example.com/`,
  },
  byte: {
    test: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
    sample: (n) => btoa(label(n)),
  },
  uuid: { test: matches(/^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i), sample: (n) => uuid(n, 4) },
  uuid3: {
    test: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
    sample: (n) => uuid(n, 3),
  },
  uuid4: {
    test: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
    sample: (n) => uuid(n, 4),
  },
  uuid5: {
    test: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
    sample: (n) => uuid(n, 5),
  },
  bsonobjectid: { test: matches(/^[0-9a-fA-F]{24}$/), sample: (n) => hex(n, 8).repeat(3) },
  hexcolor: { test: matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/), sample: (n) => `#${hex(n, 6)}` },
  rgbcolor: {
    test: matches(/^rgb\((?:\s*\d{1,3}\s*,){2}\s*\d{1,3}\s*\)$/),
    sample: (n) => `rgb(${n % 256},${(n >>> 8) % 256},${(n >>> 16) % 256})`,
  },
  ssn: { test: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/), sample: (n) => String(n % 1e9).padStart(9, "0") },
  "k8s-short-name": { test: isDns1123Label, sample: label },
  "k8s-long-name": { test: isDns1123Subdomain, sample: (n) => `${label(n)}.example` },
};

/** Whether `text` has the format; true for a format that says nothing about texts, or that is not known here. */
export function hasTextFormat(text: string, format: string): boolean {
  return lookup(FORMATS, format)?.test(text) ?? true;
}

/** A text of the format, chosen by `n`; undefined for a format that is not known here. */
export function textOfFormat(format: string, n: number): string | undefined {
  return lookup(FORMATS, format)?.sample(n >>> 0);
}
