/**
 * The times in front of log lines: RFC 3339 with up to nine digits after the second, some cut short, some with a zone.
 * They are compared as numbers, because as texts `…05.1Z` comes after `…05.12Z`, and milliseconds are not enough to tell
 * two lines apart.
 */

/** A moment, to the nanosecond. */
export interface Timestamp {
  /** Seconds since the epoch. */
  readonly seconds: number;
  readonly nanos: number;
}

const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: |$)/;

/** A line of a log with its time taken off; `undefined` for a line without one. */
export function splitTimestamp(text: string): { stamp: string; time: Timestamp; line: string } | undefined {
  const match = STAMPED.exec(text);
  if (!match) return undefined;
  const [whole, second = "", fraction = "", zone = ""] = match;
  const time = { seconds: Date.parse(`${second}${zone}`) / 1_000, nanos: Number(fraction.padEnd(9, "0")) };
  return { stamp: whole.trimEnd(), time, line: text.slice(whole.length) };
}

/** Negative when `a` is before `b`. */
export const compareTimes = (a: Timestamp, b: Timestamp): number => a.seconds - b.seconds || a.nanos - b.nanos;

/** As the query parameter `sinceTime`. Servers cut it down to the second: what they send begins there. */
export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const second = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return `${second}.${String(nanos).padStart(9, "0")}Z`;
}

/** The moment, as well as a `Date` can tell it. */
export const dateOf = ({ seconds, nanos }: Timestamp): Date => new Date(seconds * 1_000 + Math.floor(nanos / 1e6));
