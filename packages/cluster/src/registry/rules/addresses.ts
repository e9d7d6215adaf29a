import { type FieldError, invalidValue } from "../fields.ts";

/** An IP address as it was written: its sixteen bytes, and what a careful reader objects to. */
export interface Address {
  /** IPv4 addresses in their mapped form, so that both families compare alike. */
  readonly bytes: readonly number[];
  /** Of the IPv4 family, also when it is written as a mapped IPv6 address. */
  readonly v4: boolean;
  /** Written as `::ffff:1.2.3.4`. */
  readonly mapped: boolean;
  /** Numbers with zeros before them, which some read as octal. */
  readonly padded: boolean;
}

/** A range of addresses: `10.0.0.0/8`. */
export interface Range {
  readonly address: Address;
  /** The number of fixed bits, as it was written. */
  readonly bits: number;
  /** The prefix counted in sixteen bytes. */
  readonly prefix: number;
  /** Zeros before the number of bits. */
  readonly padded: boolean;
}

const DIGITS = /^[0-9]+$/;
const HEX = /^[0-9a-fA-F]+$/;

function parseV4(text: string): { bytes: number[]; padded: boolean } | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let padded = false;
  const bytes: number[] = [];
  for (const part of parts) {
    if (!DIGITS.test(part)) return undefined;
    const value = Number(part);
    if (value > 255) return undefined;
    if (part.length > 1 && part.startsWith("0")) padded = true;
    bytes.push(value);
  }
  return { bytes, padded };
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

function groupsOf(text: string): string[] | undefined {
  return text === "" ? [] : text.split(":");
}

function parseV6(text: string): { bytes: number[]; padded: boolean } | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  let padded = false;
  const parsed: number[][] = [];
  for (const [index, half] of halves.entries()) {
    const bytes: number[] = [];
    const groups = groupsOf(half) ?? [];
    for (const [i, group] of groups.entries()) {
      const last = i === groups.length - 1 && index === halves.length - 1;
      if (last && group.includes(".")) {
        const tail = parseV4(group);
        if (!tail) return undefined;
        padded ||= tail.padded;
        bytes.push(...tail.bytes);
        continue;
      }
      if (!HEX.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      if (value > 0xffff) return undefined;
      if (group.length > 4) padded = true;
      bytes.push(value >> 8, value & 0xff);
    }
    parsed.push(bytes);
  }
  const [head = [], tail] = parsed;
  if (tail === undefined) return head.length === 16 ? { bytes: head, padded } : undefined;
  const gap = 16 - head.length - tail.length;
  // Two colons stand for at least one group.
  if (gap < 2) return undefined;
  return { bytes: [...head, ...new Array<number>(gap).fill(0), ...tail], padded };
}

/** Reads an address as leniently as a server that has done so for years; undefined when it is none. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    const v4 = parseV4(text);
    return v4 && { bytes: [...MAPPED, ...v4.bytes], v4: true, mapped: false, padded: v4.padded };
  }
  const v6 = parseV6(text);
  if (!v6) return undefined;
  const mapped = MAPPED.every((byte, i) => v6.bytes[i] === byte);
  return { ...v6, v4: mapped, mapped };
}

/** The one way in which an address should be written. */
export function formatAddress({ bytes, v4 }: Pick<Address, "bytes" | "v4">): string {
  if (v4) return bytes.slice(12).join(".");
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  let start = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    // The first of the longest runs of zeros, unless it is a single one, becomes two colons.
    if (end - i > length) [start, length] = [i, end - i];
    if (end > i) i = end;
  }
  const hex = groups.map((group) => group.toString(16));
  if (start < 0) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

/** Reads a range leniently; undefined when it is none. */
export function parseRange(text: string): Range | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const mask = text.slice(slash + 1);
  if (!address || !DIGITS.test(mask)) return undefined;
  const bits = Number(mask);
  const short = address.v4 && !address.mapped;
  if (bits > (short ? 32 : 128)) return undefined;
  return { address, bits, prefix: short ? bits + 96 : bits, padded: mask.length > 1 && mask.startsWith("0") };
}

function masked(bytes: readonly number[], prefix: number): number[] {
  return bytes.map((byte, i) => {
    const kept = Math.min(8, Math.max(0, prefix - i * 8));
    return byte & ((0xff << (8 - kept)) & 0xff);
  });
}

/** The first address of a range. */
export function networkOf({ address, prefix }: Range): Address {
  return { ...address, bytes: masked(address.bytes, prefix) };
}

/** Whether no bit beyond the prefix is set. */
function isNetwork({ address, prefix }: Range): boolean {
  return masked(address.bytes, prefix).every((byte, i) => byte === address.bytes[i]);
}

/** Whether the first address of `inner` lies in `outer`. */
export function containsAddress(outer: Range, inner: Range): boolean {
  if (outer.address.v4 !== inner.address.v4) return false;
  const network = masked(outer.address.bytes, outer.prefix);
  const first = masked(inner.address.bytes, inner.prefix);
  return masked(first, outer.prefix).every((byte, i) => byte === network[i]);
}

const NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** An address of an older field: any spelling that means the same to everybody. `known` were there before. */
export function addressErrors(text: string, field: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(text)) return [];
  const address = parseAddress(text);
  if (!address) return [invalidValue(field, text, NO_ADDRESS)];
  if (address.padded) return [invalidValue(field, text, "must not have leading 0s")];
  if (address.mapped) return [invalidValue(field, text, "must not be an IPv4-mapped IPv6 address")];
  return [];
}

/** An address of a newer field, which must be spelt in the one right way. */
export function canonicalAddressErrors(text: string, field: string): FieldError[] {
  const errors = addressErrors(text, field);
  const address = parseAddress(text);
  if (errors.length > 0 || !address) return errors;
  const right = formatAddress(address);
  return right === text ? [] : [invalidValue(field, text, `must be in canonical form (${JSON.stringify(right)})`)];
}

/** A range of an older field. `known` were there before. */
export function rangeErrors(text: string, field: string, known: readonly string[] = []): FieldError[] {
  if (known.includes(text)) return [];
  const range = parseRange(text);
  if (!range) return [invalidValue(field, text, NO_RANGE)];
  if (range.padded || range.address.padded) {
    return [invalidValue(field, text, "must not have leading 0s in IP or prefix length")];
  }
  if (range.address.mapped) return [invalidValue(field, text, "must not have an IPv4-mapped IPv6 address")];
  if (!isNetwork(range)) return [invalidValue(field, text, "must not have bits set beyond the prefix length")];
  return [];
}

/** A range of a newer field. */
export function canonicalRangeErrors(text: string, field: string): FieldError[] {
  const errors = rangeErrors(text, field);
  const range = parseRange(text);
  if (errors.length > 0 || !range) return errors;
  const right = `${formatAddress(range.address)}/${range.bits}`;
  return right === text ? [] : [invalidValue(field, text, `must be in canonical form (${JSON.stringify(right)})`)];
}

/**
 * Addresses that no client outside of one machine or link can reach are no endpoints, unless that machine is the
 * cluster.
 */
export function endpointAddressErrors(text: string, field: string, ofThisMachine = false): FieldError[] {
  const address = parseAddress(text);
  if (!address) return [invalidValue(field, text, "must be a valid IP address")];
  const { bytes, v4 } = address;
  const [a = 0, b = 0, c = 0] = v4 ? bytes.slice(12) : bytes;
  const own = v4 ? bytes.slice(12) : bytes;
  const unspecified = own.every((byte) => byte === 0);
  const loopback = v4 ? a === 127 : own.every((byte, i) => byte === (i === 15 ? 1 : 0));
  const linkLocal = v4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80;
  const multicast = v4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 0x02;
  const errors: FieldError[] = [];
  if (unspecified) errors.push(invalidValue(field, text, `may not be unspecified (${text})`));
  if (loopback && !ofThisMachine) {
    errors.push(invalidValue(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  }
  if (linkLocal) {
    errors.push(invalidValue(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  }
  if (multicast) {
    errors.push(invalidValue(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
  }
  return errors;
}
