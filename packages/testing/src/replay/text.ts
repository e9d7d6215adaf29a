/** Differences as people read them. */
import { diff, isObject } from "@lotse/client/meta";
import type { ReplayDifference } from "./writes.ts";

/** So many are told; the report has all. */
const MOST_TOLD = 10;
const MOST_LINES = 20;
const LONGEST_VALUE = 160;

/** What is said of a run that differs. */
export function storyOf(
  differences: readonly ReplayDifference[],
  o: { readonly file: string; readonly writes: number },
): string {
  const first = `the writes differ from those of ${o.file}: ${differences.length} of ${o.writes}`;
  const told = differences.slice(0, MOST_TOLD).map(tell);
  const more = differences.length - told.length;
  return [first, ...told, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n\n");
}

/** One difference: the moment, the handler, and what is other. */
export function tell({ type, at, request, handlers, recorded, replayed }: ReplayDifference): string {
  const by = handlers.length === 0 ? "" : ` (${handlers.length === 1 ? "handler" : "handlers"} ${handlers.join(", ")})`;
  const head = `${at} ${request}${by}: ${WORDS[type]}`;
  if (type === "reordered") return head;
  const lines =
    type === "changed"
      ? changedLines(recorded, replayed)
      : [`${type === "missing" ? "-" : "+"} ${short(type === "missing" ? recorded : replayed)}`];
  const shown = lines.slice(0, MOST_LINES);
  const left = lines.length - shown.length;
  return [head, ...shown, ...(left > 0 ? [`… ${left} more`] : [])].join("\n  ");
}

const WORDS: Readonly<Record<ReplayDifference["type"], string>> = {
  missing: "is not written any more",
  additional: "was not written before",
  changed: "says something else",
  reordered: "comes before a write that it came after",
};

function changedLines(recorded: unknown, replayed: unknown): string[] {
  const items = isObject(recorded) && isObject(replayed) ? diff(recorded, replayed) : [];
  // Also where they differ only by what is null: that means something in a patch.
  if (items.length === 0) return [`- ${short(recorded)}`, `+ ${short(replayed)}`];
  return items.flatMap(({ op, path, old, new: now }) => {
    const place = path.join(".");
    return [
      ...(op === "add" ? [] : [`- ${place}: ${short(old)}`]),
      ...(op === "remove" ? [] : [`+ ${place}: ${short(now)}`]),
    ];
  });
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "(no body)";
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
