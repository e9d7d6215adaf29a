/**
 * FNV-1a with 64 bits in two halves of 32: the hash that API servers cut into shards. Plain numbers and no bigints: it is
 * asked for with every event.
 */

/** 64 bits as two numbers of 32. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

const OFFSET: Hash64 = { high: 0xcbf29ce4, low: 0x84222325 };
/** The prime is 2^40 + this. */
const PRIME_LOW = 0x1b3;
const TWO_32 = 2 ** 32;

/**
 * FNV-1a, 64 bits, over the text's UTF-8 bytes.
 *
 * @example
 * ```ts
 * const { high, low } = fnv1a64("a"); // 0xaf63dc4c 0x8601ec8c
 * ```
 */
export function fnv1a64(text: string): Hash64 {
  let { high, low } = OFFSET;
  // Names in Kubernetes are ASCII; any other text goes the long way.
  const bytes = /^[\0-\x7f]*$/.test(text) ? undefined : new TextEncoder().encode(text);
  const length = bytes ? bytes.length : text.length;
  for (let i = 0; i < length; i++) {
    const mixed = (low ^ (bytes ? (bytes[i] as number) : text.charCodeAt(i))) >>> 0;
    const product = mixed * PRIME_LOW;
    // Times 2^40 is eight bits up in the upper half; what is above that falls off.
    high = (high * PRIME_LOW + Math.floor(product / TWO_32) + (mixed << 8)) >>> 0;
    low = product >>> 0;
  }
  return { high, low };
}

/** Spreads 32 bits over all of 32 bits, so that texts that differ little end far from each other. */
export function spread32(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
