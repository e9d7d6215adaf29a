/** A difference as people read it: YAML of what differs, `-` for what is in the cluster, `+` for the shadow's. Pure. */
import { harmless, isObject, toYaml } from "@lotse/client/meta";
import { differencesBetween, type SameMoment } from "./compare.ts";
import type { NormalForm } from "./normal-form.ts";

/** Longer texts are cut. */
const LONGEST = 200;
const CONTEXT = 40;
const INDENT = "  ";
/** Before the name of an item of a list. */
const ITEM = "- ";

/** The lines, each with ` `, `-` or `+` before it. */
export function diffLines(is: NormalForm | undefined, would: NormalForm | undefined, same: SameMoment): string[] {
  const lines: string[] = [];
  write(is ?? {}, would ?? {}, same, "", lines);
  return lines;
}

function write(is: unknown, would: unknown, same: SameMoment, indent: string, lines: string[]): void {
  const [one, other] = [asMembers(is, would), asMembers(would, is)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort(inUsualOrder);
  for (const name of names) {
    const [before, after] = [one[name], other[name]];
    if (isSame(before, after, same)) continue;
    if (canGoDeeper(before, after)) {
      lines.push(` ${indent}${harmless(name)}${name.startsWith(ITEM) ? "" : ":"}`);
      write(before, after, same, indent + INDENT, lines);
      continue;
    }
    const from = firstDifference(before, after);
    if (before !== undefined) lines.push(...valueLines("-", indent, name, before, from));
    if (after !== undefined) lines.push(...valueLines("+", indent, name, after, from));
  }
}

function isSame(before: unknown, after: unknown, same: SameMoment): boolean {
  if (before === undefined || after === undefined) return before === after;
  return differencesBetween({ value: before }, { value: after }, same).length === 0;
}

/** Whether both are maps, or lists of things with names. */
function canGoDeeper(before: unknown, after: unknown): boolean {
  if (isObject(before) && isObject(after)) return true;
  return Array.isArray(before) && Array.isArray(after) && nameOf(before, after) !== undefined;
}

/** A list of things with names reads like a map of them. */
function asMembers(value: unknown, other: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  if (!Array.isArray(value) || !Array.isArray(other)) return {};
  const key = nameOf(value, other);
  if (key === undefined) return {};
  return Object.fromEntries(
    value.map((item) => [`${ITEM}${key}: ${String((item as Record<string, unknown>)[key])}`, item]),
  );
}

const NAMES = ["name", "type", "uid"] as const;

function nameOf(...lists: readonly (readonly unknown[])[]): string | undefined {
  return NAMES.find((name) =>
    lists.every((list) => {
      const values = list.map((item) => (isObject(item) ? item[name] : undefined));
      return new Set(values).size === list.length && values.every((value) => typeof value === "string");
    }),
  );
}

/** Where two texts begin to differ. */
function firstDifference(before: unknown, after: unknown): number {
  if (typeof before !== "string" || typeof after !== "string") return 0;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}

function valueLines(sign: string, indent: string, name: string, value: unknown, from: number): string[] {
  const shown = cut(value, from);
  // An item of a list names itself.
  const yaml = name.startsWith(ITEM) ? toYaml([shown]) : toYaml({ [name]: shown });
  return yaml
    .trimEnd()
    .split("\n")
    .map((line) => `${sign}${indent}${harmless(line)}`);
}

/** A long text is shown from a little before the place where it differs. */
function cut(value: unknown, from = 0): unknown {
  if (typeof value === "string") {
    if (value.length <= LONGEST) return value;
    const begin = Math.max(0, Math.min(from - CONTEXT, value.length - LONGEST));
    const end = begin + LONGEST;
    return `${begin > 0 ? "…" : ""}${value.slice(begin, end)}${end < value.length ? "…" : ""}`;
  }
  if (Array.isArray(value)) return value.map((item) => cut(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(member)]));
}

const FIRST = ["metadata", "type", "spec", "data"];

/** As in a manifest: the metadata first, the status last. */
function inUsualOrder(a: string, b: string): number {
  const place = (name: string) =>
    name === "status" ? FIRST.length + 1 : FIRST.indexOf(name) + 1 || FIRST.length + 0.5;
  return place(a) - place(b) || (a < b ? -1 : a > b ? 1 : 0);
}
