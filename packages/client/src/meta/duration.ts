import { ConfigError } from "./errors.ts";

/**
 * A span of time: `"5s"`, `"1h30m"`, `"250ms"`, or a number of milliseconds.
 *
 * @example
 * ```ts
 * const interval: Duration = "1h30m";
 * ```
 */
export type Duration = number | string;

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds of a {@link Duration}; a text that is none is an error that says what one looks like. */
export function durationMs(value: Duration): number {
  if (typeof value === "number") {
    if (Number.isFinite(value) && value >= 0) return value;
  } else if (/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(value)) {
    let total = 0;
    for (const [, amount, unit] of value.matchAll(PART)) total += Number(amount) * (UNIT_MS[unit as string] as number);
    return total;
  }
  throw new ConfigError(`${JSON.stringify(value)} is not a duration`, {
    hint: 'write "5s", "1h30m", "250ms" or a number of milliseconds',
  });
}

/** The short form that people read: `1h30m`, `250ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  let rest = Math.round(ms / 1_000);
  let text = "";
  for (const [unit, size] of [
    ["d", 86_400],
    ["h", 3_600],
    ["m", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}
