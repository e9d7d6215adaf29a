/** What keys may be used for, by the names of the API: the number of the bit in a certificate. */
const BITS: ReadonlyMap<string, number> = new Map([
  ["signing", 0],
  ["digital signature", 0],
  ["content commitment", 1],
  ["key encipherment", 2],
  ["data encipherment", 3],
  ["key agreement", 4],
  ["cert sign", 5],
  ["crl sign", 6],
  ["encipher only", 7],
  ["decipher only", 8],
]);

/** And for which purpose, in the order in which a certificate lists them. */
const PURPOSES: ReadonlyMap<string, string> = new Map([
  ["any", "2.5.29.37.0"],
  ["server auth", "1.3.6.1.5.5.7.3.1"],
  ["client auth", "1.3.6.1.5.5.7.3.2"],
  ["code signing", "1.3.6.1.5.5.7.3.3"],
  ["email protection", "1.3.6.1.5.5.7.3.4"],
  ["s/mime", "1.3.6.1.5.5.7.3.4"],
  ["ipsec end system", "1.3.6.1.5.5.7.3.5"],
  ["ipsec tunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsec user", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocsp signing", "1.3.6.1.5.5.7.3.9"],
  ["microsoft sgc", "1.3.6.1.4.1.311.10.3.3"],
  ["netscape sgc", "2.16.840.1.113730.4.1"],
]);

/** The bits of what a key may be used for, and how many of the last byte are unused. Empty for none. */
export function keyUsageBits(usages: readonly string[]): { readonly bytes: Buffer; readonly unused: number } {
  const numbers = usages.flatMap((usage) => BITS.get(usage) ?? []);
  if (numbers.length === 0) return { bytes: Buffer.alloc(0), unused: 0 };
  const last = Math.max(...numbers);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const number of numbers) bytes[number >> 3] = (bytes[number >> 3] ?? 0) | (0x80 >> (number & 7));
  return { bytes, unused: 7 - (last & 7) };
}

/** The identifiers of purposes. */
export function purposesOf(usages: readonly string[]): string[] {
  const wanted = new Set(usages.flatMap((usage) => PURPOSES.get(usage) ?? []));
  return [...new Set(PURPOSES.values())].filter((purpose) => wanted.has(purpose));
}
