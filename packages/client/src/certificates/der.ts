/**
 * Writes ASN.1 values in their distinguished encoding: just what an X.509 certificate is made of. Every function
 * returns the complete tag, length and content.
 */
export type Der = Buffer;

function tagged(tag: number, ...parts: readonly Uint8Array[]): Der {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), content]);
}

/** A SEQUENCE. */
export const sequence = (...parts: readonly Der[]): Der => tagged(0x30, ...parts);
/** A SET; the caller brings its parts in order. */
export const setOf = (...parts: readonly Der[]): Der => tagged(0x31, ...parts);
/** An OCTET STRING. */
export const octets = (bytes: Uint8Array): Der => tagged(0x04, bytes);
/** A BIT STRING, of whose last byte some bits may be unused. */
export const bits = (bytes: Uint8Array, unused = 0): Der => tagged(0x03, Buffer.from([unused]), bytes);
/** A UTF8String. */
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text));
/** A BOOLEAN, true in the only form that DER allows. */
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]));

/** A constructed, context-specific tag that wraps whole values. */
export const explicit = (number: number, ...parts: readonly Der[]): Der => tagged(0xa0 | number, ...parts);

/** A primitive, context-specific tag over raw content. */
export const implicit = (number: number, content: Uint8Array): Der => tagged(0x80 | number, content);

/** An unsigned integer from big-endian bytes: shortest form, with a zero in front where the sign bit would be set. */
export function unsigned(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  const signed = (shortest[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), shortest]) : shortest;
  return tagged(0x02, signed);
}

/** `"2.5.29.17"` as an object identifier. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let value = arc >>> 7; value > 0; value >>>= 7) groups.unshift((value & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** A point in time: two-digit years until 2049, four digits from then on, as RFC 5280 asks. */
export function time(ms: number): Der {
  const date = new Date(ms);
  const digits = date.toISOString().replace(/\.\d+/, "").replace(/[-:T]/g, "");
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}
