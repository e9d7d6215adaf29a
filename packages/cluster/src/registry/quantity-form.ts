import { parseQuantity, QuantityError } from "@lotse/client/meta";

const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
/** From billionths up, in steps of a thousand. */
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;

/** The one way in which a server writes an amount: no fraction, the largest suffix that allows it, the writer's base. */
export function canonicalQuantity(text: string | number): string {
  const written = String(text);
  const { nanos } = parseQuantity(written);
  if (nanos === 0n) return "0";
  const whole = nanos % 1_000_000_000n === 0n;
  if (written.endsWith("i") && whole) {
    const units = nanos / 1_000_000_000n;
    const size = units < 0n ? -units : units;
    // Below 1024 there is nothing binary left to say.
    if (size >= 1_024n) return scaled(units, 1_024n, BINARY_SUFFIXES);
  }
  if (/[eE][+-]?\d+$/.test(written)) return exponential(nanos);
  return scaled(nanos, 1_000n, DECIMAL_SUFFIXES);
}

function scaled(amount: bigint, base: bigint, suffixes: readonly string[]): string {
  let rest = amount;
  let index = 0;
  while (index < suffixes.length - 1 && rest % base === 0n) {
    rest /= base;
    index++;
  }
  return `${rest}${suffixes[index]}`;
}

function exponential(nanos: bigint): string {
  let rest = nanos;
  let exponent = -9;
  while (rest % 1_000n === 0n) {
    rest /= 1_000n;
    exponent += 3;
  }
  return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
}

/** Whether a text is a quantity at all. */
export function isQuantity(text: string | number): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

/** An amount with the base that it is written in: 1024 for bytes mostly, 1000 for the rest. */
export interface Amount {
  /** In billionths. */
  readonly nanos: bigint;
  readonly binary: boolean;
}

/** The amount zero. */
export const NOTHING: Amount = { nanos: 0n, binary: false };

/** A quantity as an exact number, with the suffixes that it is to be written in. */
export function readAmount(value: unknown): Amount {
  const text = String(value);
  return { nanos: parseQuantity(text).nanos, binary: text.endsWith("i") };
}

/** The canonical text of an amount, as a real server writes it. */
export function formatAmount({ nanos, binary }: Amount): string {
  if (nanos === 0n) return "0";
  const units = nanos / 1_000_000_000n;
  if (binary && nanos % 1_000_000_000n === 0n && units >= 1_024n) return scaled(units, 1_024n, BINARY_SUFFIXES);
  return scaled(nanos, 1_000n, DECIMAL_SUFFIXES);
}

/** The sum in the base of the first, unless that is nothing. */
export function addAmounts(a: Amount, b: Amount): Amount {
  return { nanos: a.nanos + b.nanos, binary: a.nanos === 0n ? b.binary : a.binary };
}
