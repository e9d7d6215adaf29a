/** Fractions of square roots and cube roots of primes, as SHA-256 wants them. */
function fractions(root: number, count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (isPrime(candidate)) found.push(Math.floor((candidate ** (1 / root) % 1) * 2 ** 32));
  }
  return found;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) return false;
  return true;
}

/** SHA-256 of a text: at once, and wherever JavaScript runs. */
export function sha256(text: string): Uint8Array {
  const hash = Uint32Array.from(fractions(2, 8));
  const constants = fractions(3, 64);
  const message = new TextEncoder().encode(text);
  const padded = new Uint8Array((((message.length + 8) >> 6) + 1) << 6);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, message.length * 8);
  for (let start = 0; start < padded.length; start += 64) compress(hash, constants, view, start);
  const result = new DataView(new ArrayBuffer(32));
  for (const [i, word] of hash.entries()) result.setUint32(i * 4, word);
  return new Uint8Array(result.buffer);
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function compress(hash: Uint32Array, constants: readonly number[], view: DataView, start: number): void {
  const words = new Int32Array(64);
  for (let i = 0; i < 64; i++) {
    if (i < 16) words[i] = view.getInt32(start + i * 4);
    else {
      const [a, b] = [words[i - 15] as number, words[i - 2] as number];
      const near = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
      const far = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
      words[i] = (words[i - 16] as number) + near + (words[i - 7] as number) + far;
    }
  }
  let [a, b, c, d, e, f, g, h] = [...hash] as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const sumE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const sumA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const first = (h + sumE + choice + (constants[i] as number) + (words[i] as number)) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + sumA + majority) | 0];
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) hash[i] = (hash[i] as number) + value;
}
