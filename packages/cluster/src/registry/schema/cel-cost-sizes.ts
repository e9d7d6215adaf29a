/** Arithmetic with costs and sizes that never exceeds what a real server counts with. Pure. */

/** At least and at most how much of something there is. */
export interface Size {
  readonly min: number;
  readonly max: number;
}

/** No cost is higher: it is counted in 64 bits. */
export const MOST = 2 ** 64;
/** A size of which nothing is known. */
export const UNKNOWN: Size = { min: 0, max: MOST };

/** The sum, at most the largest cost. */
export const add = (...values: number[]): number =>
  Math.min(
    values.reduce((sum, value) => sum + value, 0),
    MOST,
  );
/** The product, at most the largest cost. */
export const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.min(a * b, MOST));
/** A fraction, rounded up, at most the largest cost. */
export const part = (value: number, factor: number): number => Math.min(Math.ceil(value * factor), MOST);
/** The size of a value that is one of two. */
export const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
/** The size of two values, one behind the other. */
export const sum = (a: Size, b: Size): Size => ({ min: add(a.min, b.min), max: add(a.max, b.max) });
/** The size of a value that is repeated. */
export const product = (a: Size, b: Size): Size => ({ min: times(a.min, b.min), max: times(a.max, b.max) });
/** A size that is known. */
export const exactly = (value: number): Size => ({ min: value, max: value });
