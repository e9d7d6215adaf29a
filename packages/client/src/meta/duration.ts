import { ConfigError } from "./errors.ts";

type Milliseconds = `${number}ms`;
type Seconds = `${number}s` | `${number}s${Milliseconds}` | Milliseconds;
type Minutes = `${number}m` | `${number}m${Seconds}` | Seconds;
type Hours = `${number}h` | `${number}h${Minutes}` | Minutes;
type Days = `${number}d` | `${number}d${Hours}` | Hours;

/**
 * A span of time: `"5s"`, `"1h30m"`, `"250ms"`, or a number of milliseconds. A literal that is none does not compile; a
 * text that comes from elsewhere is read by {@link parseDuration}.
 *
 * @example
 * ```ts
 * const interval: Duration = "1h30m";
 * ```
 */
export type Duration = number | Days;

/**
 * Takes a text for a {@link Duration} that the compiler cannot look into: out of a spec, or of the environment. One that
 * is none is an error that says what one looks like.
 *
 * @example
 * ```ts
 * const interval: Duration = parseDuration(process.env.INTERVAL ?? "1h");
 * ```
 */
export function parseDuration(text: string): Duration {
  durationMs(text);
  return text as Duration;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** Milliseconds of a {@link Duration}; a text that is none is an error that says what one looks like. */
export function durationMs(value: number | string): number {
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
