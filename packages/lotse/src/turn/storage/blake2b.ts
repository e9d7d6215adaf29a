/**
 * BLAKE2b without a key (RFC 7693). Kopf shortens long keys with digests of 4 bytes; the length of the digest is part of
 * what is hashed, so that a cut of the 64 bytes which the runtime offers would be something else.
 */

const MASK = 0xffffffffffffffffn;
const BLOCK_BYTES = 128;
const ROUNDS = 12;

const IV = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const;

/** Which word of the block goes where in each round; rounds 10 and 11 begin anew. One hexadecimal digit for each word. */
const SIGMA = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
].map((row) => [...row].map((digit) => Number.parseInt(digit, 16)));

/** Four columns, then four diagonals. */
const MIXED = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** The BLAKE2b digest of `data` with `length` bytes (1 to 64). */
export function blake2b(data: Uint8Array, length: number): Uint8Array {
  if (!Number.isInteger(length) || length < 1 || length > 64) {
    throw new RangeError(`a BLAKE2b digest has 1 to 64 bytes, not ${length}`);
  }
  const state = BigUint64Array.from(IV);
  state[0] = word(state, 0) ^ 0x01010000n ^ BigInt(length);
  // An empty message is one block of zeros; a message that fills its last block has no further one.
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK_BYTES));
  for (let block = 0; block < blocks; block++) {
    const bytes = new Uint8Array(BLOCK_BYTES);
    const end = Math.min(data.length, (block + 1) * BLOCK_BYTES);
    bytes.set(data.subarray(block * BLOCK_BYTES, end));
    compress(state, bytes, BigInt(end), block === blocks - 1);
  }
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((value, index) => {
    digest.setBigUint64(index * 8, value, true);
  });
  return new Uint8Array(digest.buffer, 0, length);
}

function compress(state: BigUint64Array, block: Uint8Array, counted: bigint, last: boolean): void {
  const view = new DataView(block.buffer);
  const message = BigUint64Array.from({ length: 16 }, (_, index) => view.getBigUint64(index * 8, true));
  const v = BigUint64Array.from([...state, ...IV]);
  v[12] = word(v, 12) ^ counted;
  if (last) v[14] = word(v, 14) ^ MASK;
  for (let round = 0; round < ROUNDS; round++) {
    const order = SIGMA[round % SIGMA.length] ?? [];
    MIXED.forEach((places, step) => {
      mix(v, places, word(message, order[2 * step] ?? 0), word(message, order[2 * step + 1] ?? 0));
    });
  }
  for (let i = 0; i < 8; i++) state[i] = word(state, i) ^ word(v, i) ^ word(v, i + 8);
}

function mix(v: BigUint64Array, [a, b, c, d]: (typeof MIXED)[number], x: bigint, y: bigint): void {
  // Elements are stored modulo 2^64, so sums need no mask.
  v[a] = word(v, a) + word(v, b) + x;
  v[d] = rotated(word(v, d) ^ word(v, a), 32n);
  v[c] = word(v, c) + word(v, d);
  v[b] = rotated(word(v, b) ^ word(v, c), 24n);
  v[a] = word(v, a) + word(v, b) + y;
  v[d] = rotated(word(v, d) ^ word(v, a), 16n);
  v[c] = word(v, c) + word(v, d);
  v[b] = rotated(word(v, b) ^ word(v, c), 63n);
}

function rotated(value: bigint, bits: bigint): bigint {
  return ((value >> bits) | (value << (64n - bits))) & MASK;
}

function word(words: BigUint64Array, index: number): bigint {
  return words[index] ?? 0n;
}
