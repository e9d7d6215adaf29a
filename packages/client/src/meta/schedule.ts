import { ConfigError } from "./errors.ts";
import { lookup } from "./lookup.ts";

/** When something is to happen again and again, in the dialect of Kubernetes' CronJobs. */
export interface Schedule {
  /** The first time after `after`, both in milliseconds since the epoch; undefined when there is none in five years. */
  next(after: number): number | undefined;
}

/** A schedule that makes no sense. */
export class ScheduleError extends ConfigError {
  override readonly code: string = "LOTSE_SCHEDULE";
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MINUTE: Field = { name: "minute", min: 0, max: 59, names: [] };
const HOUR: Field = { name: "hour", min: 0, max: 23, names: [] };
const DAY: Field = { name: "day of month", min: 1, max: 31, names: [] };
const MONTH: Field = {
  name: "month",
  min: 1,
  max: 12,
  names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAY: Field = {
  name: "day of week",
  min: 0,
  max: 6,
  names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

const SHORTHANDS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HORIZON_DAYS = 5 * 366;

/**
 * Reads a schedule in cron's five fields, one of its shorthands, or `@every 1h30m`. A time zone (`TZ=` or `CRON_TZ=`
 * before the fields, else the one given, else UTC) says whose hours are meant.
 *
 * @example
 * ```ts
 * const nightly = parseSchedule("0 3 * * *", "Europe/Berlin");
 * new Date(nightly.next(Date.now()) ?? 0);
 * ```
 */
export function parseSchedule(text: string, timeZone = "UTC"): Schedule {
  const prefix = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(text.trim());
  const zone = prefix?.[1] ?? timeZone;
  const body = (prefix?.[2] ?? text).trim();
  if (body.startsWith("@every ")) return every(body.slice("@every ".length));
  const fields = (lookup(SHORTHANDS, body) ?? body).split(/\s+/);
  if (body.startsWith("@") && lookup(SHORTHANDS, body) === undefined)
    throw new ScheduleError(`unrecognized descriptor: ${body}`);
  if (fields.length !== 5) {
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  return calendar(
    {
      minutes: parseField(minute, MINUTE),
      hours: parseField(hour, HOUR),
      days: parseField(day, DAY),
      months: parseField(month, MONTH),
      weekdays: parseField(weekday, WEEKDAY),
      // Where both days are restricted, either will do; a star restricts nothing.
      eitherDay: !/^[*?]/.test(day) && !/^[*?]/.test(weekday),
    },
    localClock(zone),
  );
}

/** Whether there is such a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function every(text: string): Schedule {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  if (parts.length === 0 || parts.map(([all]) => all).join("") !== text.trim()) {
    throw new ScheduleError(`failed to parse duration @every ${text}: time: invalid duration "${text}"`);
  }
  const units: Record<string, number> = { h: HOUR_MS, m: MINUTE_MS, s: 1_000, ms: 1 };
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit as string] as number), 0);
  const step = Math.max(1_000, Math.floor(total / 1_000) * 1_000);
  return { next: (after) => Math.floor(after / 1_000) * 1_000 + step };
}

function parseField(text: string, field: Field): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [range = "", step, ...more] = part.split("/");
    if (more.length > 0) throw new ScheduleError(`too many slashes: ${part}`);
    const [first, last] = parseRange(range, field, step !== undefined);
    const by = step === undefined ? 1 : parseNumber(step, field);
    if (by === 0) throw new ScheduleError(`step of range should be a positive number: ${part}`);
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return values;
}

function parseRange(text: string, field: Field, stepped: boolean): [number, number] {
  if (text === "*" || text === "?") return [field.min, field.max];
  const [low = "", high, ...more] = text.split("-");
  if (more.length > 0) throw new ScheduleError(`too many hyphens: ${text}`);
  const first = parseNumber(low, field);
  // A single number with a step goes on to the end.
  const last = high === undefined ? (stepped ? field.max : first) : parseNumber(high, field);
  if (first < field.min) throw new ScheduleError(`beginning of range (${first}) below minimum (${field.min}): ${text}`);
  if (last > field.max) throw new ScheduleError(`end of range (${last}) above maximum (${field.max}): ${text}`);
  if (first > last) throw new ScheduleError(`beginning of range (${first}) beyond end of range (${last}): ${text}`);
  return [first, last];
}

function parseNumber(text: string, field: Field): number {
  const named = text === "" ? -1 : field.names.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  if (!/^\d+$/.test(text)) throw new ScheduleError(`failed to parse int from ${text}: not a ${field.name}`);
  return Number(text);
}

interface Calendar {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly eitherDay: boolean;
}

interface LocalTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/** What clocks on the wall show at a point in time. */
function localClock(timeZone: string): (time: number) => LocalTime {
  if (timeZone === "UTC" || timeZone === "Etc/UTC") return (time) => wallTime(time);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
  } catch {
    throw new ScheduleError(`provided bad location ${timeZone}: unknown time zone ${timeZone}`);
  }
  return (time) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(time)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
    return wallTime(Date.UTC(year, month - 1, day, hour, minute));
  };
}

function wallTime(time: number): LocalTime {
  const date = new Date(time);
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  };
}

/**
 * Walks from one candidate to the next in real time and asks each what the clocks on the wall show. So an hour that a
 * change of clocks leaves out never comes, and one that comes twice fires twice, as cron does it.
 */
function calendar(wanted: Calendar, local: (time: number) => LocalTime): Schedule {
  const dayFits = ({ month, day, weekday }: LocalTime) => {
    if (!wanted.months.has(month)) return false;
    const [inMonth, inWeek] = [wanted.days.has(day), wanted.weekdays.has(weekday)];
    return wanted.eitherDay ? inMonth || inWeek : inMonth && inWeek;
  };
  return {
    next(after) {
      let time = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
      const horizon = time + HORIZON_DAYS * DAY_MS;
      while (time < horizon) {
        const at = local(time);
        if (!dayFits(at)) time = nextMidnight(time, at, local);
        else if (!wanted.hours.has(at.hour)) time += (60 - at.minute) * MINUTE_MS;
        else if (!wanted.minutes.has(at.minute)) time += MINUTE_MS;
        else return time;
      }
      return undefined;
    },
  };
}

function nextMidnight(time: number, at: LocalTime, local: (time: number) => LocalTime): number {
  const guess = time + (24 * 60 - at.hour * 60 - at.minute) * MINUTE_MS;
  const then = local(guess);
  if (then.day === at.day) return guess + (24 * 60 - then.hour * 60 - then.minute) * MINUTE_MS;
  // A day that lost an hour is over earlier than reckoned.
  const early = guess - (then.hour * 60 + then.minute) * MINUTE_MS;
  return local(early).day === then.day ? early : guess;
}
