/** When a CronJob makes its jobs, and in which zone. */
import { isTimeZone } from "@lotse/client/meta";

const CRON_FIELDS: readonly (readonly [low: number, high: number, names: readonly string[]])[] = [
  [0, 59, []],
  [0, 23, []],
  [1, 31, []],
  [1, 12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]],
  [0, 6, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]],
];
const CRON_NAMES = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** A schedule with a time zone of its own. */
const ZONED = /^(?:CRON_)?TZ=(\S*)\s+([\s\S]*)$/;

/** What is wrong with the times of a CronJob; undefined when nothing is. */
export function scheduleError(schedule: string): string | undefined {
  const zone = ZONED.exec(schedule);
  if (zone !== null) {
    const [, name = "", rest = ""] = zone;
    if (!isTimeZone(name)) return `provided bad location ${name}: unknown time zone ${name}`;
    return scheduleError(rest.trim());
  }
  if (schedule.startsWith("@")) {
    if (CRON_NAMES.includes(schedule) || schedule.startsWith("@every ")) return undefined;
    return `unrecognized descriptor: ${schedule}`;
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== CRON_FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  for (const [i, text] of fields.entries()) {
    for (const range of text.split(",")) {
      const error = rangeError(range, ...(CRON_FIELDS[i] as (typeof CRON_FIELDS)[number]));
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function rangeError(text: string, low: number, high: number, names: readonly string[]): string | undefined {
  const [range = "", step, ...slashes] = text.split("/");
  const [first = "", last, ...hyphens] = range.split("-");
  if (slashes.length > 0) return `too many slashes: ${text}`;
  if (hyphens.length > 0) return `too many hyphens: ${text}`;
  const numberOf = (part: string): number | string => {
    const named = names.indexOf(part.toLowerCase());
    if (named >= 0) return named + low;
    return /^\d+$/.test(part)
      ? Number(part)
      : `failed to parse int from ${part}: strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`;
  };
  const star = first === "*" || first === "?";
  const start = star ? low : numberOf(first);
  const end = star ? high : last === undefined ? (step === undefined ? start : high) : numberOf(last);
  const by = step === undefined ? 1 : numberOf(step);
  for (const value of [start, end, by]) if (typeof value === "string") return value;
  const [from, to, every] = [start, end, by] as [number, number, number];
  if (from < low) return `beginning of range (${from}) below minimum (${low}): ${text}`;
  if (to > high) return `end of range (${to}) above maximum (${high}): ${text}`;
  if (from > to) return `beginning of range (${from}) beyond end of range (${to}): ${text}`;
  if (every === 0) return `step of range should be a positive number: ${text}`;
  return undefined;
}

const ZONE_PART = /^[A-Za-z._0-9+-]{1,14}$/;

/** What is wrong with a time zone; undefined when nothing is. */
export function zoneErrors(zone: string): string[] {
  if (zone === "") return ["timeZone must be nil or non-empty string"];
  for (const part of zone.split("/")) {
    if (part === "." || part === ".." || part.startsWith("-") || !ZONE_PART.test(part)) {
      return [`unknown time zone ${zone}`];
    }
  }
  if (zone.toLowerCase() === "local") {
    const errors = ["timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"];
    return zone === "Local" ? errors : [...errors, `unknown time zone ${zone}`];
  }
  return isTimeZone(zone) ? [] : [`unknown time zone ${zone}`];
}
