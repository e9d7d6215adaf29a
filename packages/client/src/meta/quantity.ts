import { ConfigError } from "./errors.ts";

/** An amount such as `500m`, `1.5Gi` or `2e3`, exact down to the billionth, which is as far as Kubernetes looks. */
export interface Quantity {
  /** The amount in billionths. */
  readonly nanos: bigint;
}

/** A text that is no quantity. */
export class QuantityError extends ConfigError {
  override readonly code: string = "LOTSE_QUANTITY";
}

const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, bigint> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

/** The server stores no more than this many whole units, and takes a larger amount for this one. */
const LARGEST = (2n ** 63n - 1n) * 10n ** 9n;
/** Beyond this any non-zero amount is capped or rounded; a longer exponent would only cost memory. */
const LONGEST_EXPONENT = 40;

/**
 * Reads a quantity. What is smaller than a billionth is rounded away from zero and what is larger than 2^63-1 is
 * capped, as the server does.
 *
 * @example
 * ```ts
 * parseQuantity("1.5Ki").nanos === 1536n * 10n ** 9n;
 * ```
 */
export function parseQuantity(text: string | number): Quantity {
  const match = FORM.exec(String(text));
  if (!match) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      { hint: `${JSON.stringify(text)} is none; write "500m", "1.5", "2Gi" or "1e3"` },
    );
  }
  const [, sign, number = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = number.split(".");
  let amount = BigInt(whole + fraction || "0");
  let exponent = 9 - fraction.length;
  if (suffix in BINARY) amount <<= BINARY[suffix] as bigint;
  else if (suffix in DECIMAL) exponent += DECIMAL[suffix] as number;
  else if (suffix !== "") exponent += Number(suffix.slice(1));
  if (amount !== 0n) {
    const digits = amount.toString().length + exponent;
    if (digits > LONGEST_EXPONENT) amount = LARGEST;
    else if (digits < -LONGEST_EXPONENT) amount = 1n;
    else if (exponent >= 0) amount *= 10n ** BigInt(exponent);
    else {
      const divisor = 10n ** BigInt(-exponent);
      amount = (amount + divisor - 1n) / divisor;
    }
  }
  if (amount > LARGEST) amount = LARGEST;
  return { nanos: sign === "-" ? -amount : amount };
}

/** Less than, equal to or greater than zero, as the first quantity is smaller, equal or larger. */
export function compareQuantities(a: string | number | Quantity, b: string | number | Quantity): number {
  const left = typeof a === "object" ? a.nanos : parseQuantity(a).nanos;
  const right = typeof b === "object" ? b.nanos : parseQuantity(b).nanos;
  return left < right ? -1 : left > right ? 1 : 0;
}
