/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A number from 0 to just below 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  /** True once in `times`. */
  once(times: number): boolean;
  /** One of them; there has to be one. */
  of<T>(items: readonly T[]): T;
}

/** See {@link Random}. Seeds beside each other give different numbers from the first one on. */
export function seeded(...seeds: readonly number[]): Random {
  let state = seeds.reduce((sum, seed) => mix(sum ^ (seed | 0)), 0x9e3779b9);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return { next, int, once: (times) => next() * times < 1, of: (items) => items[int(0, items.length - 1)] as never };
}

/** Spreads the bits of a number over all of its bits. */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
