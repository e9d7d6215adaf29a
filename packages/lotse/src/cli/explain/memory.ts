/** `lotse explain --memory`: what a running operator's copy of the cluster takes, by kind, and for whom. */
import { harmless } from "@lotse/client/meta";
import type { FieldShare, KindMemory, MemoryReader, OperatorMemory } from "../../report/index.ts";
import { type Io, Problem } from "../terminal/index.ts";
import { askOperators } from "./ask-operators.ts";

/** The flags of `lotse explain` that go with `--memory`. */
export interface MemoryOptions {
  readonly url?: string | undefined;
  readonly output?: "json" | undefined;
}

/** Asks, and prints the answer. */
export async function explainMemory(options: MemoryOptions, io: Io): Promise<number> {
  const read = (answer: string) => (JSON.parse(answer) as { memory: readonly OperatorMemory[] }).memory;
  const question = { path: "/memory", method: "GET", read, nobody: untold } as const;
  const memory = await askOperators(question, options.url, io);
  if (options.output === "json") io.stdout.write(`${JSON.stringify({ memory }, undefined, 2)}\n`);
  else io.stdout.write(memory.map((one) => `${memoryLines(one).map(harmless).join("\n")}\n`).join("\n"));
  return 0;
}

function untold(): Problem {
  return new Problem({
    what: "no operator tells what it keeps",
    why: "it has only just begun, or it runs with an older version of the package",
    todo: "ask again in a moment, or update the package and start it again",
  });
}

const HEAD = ["KIND", "OBJECTS", "JSON", "EACH", "KEPT", "LARGEST FIELDS", "READ BY"];

/** A table, the largest kind first, and what is to be said of single kinds. Pure. */
export function memoryLines({ operator, kinds }: OperatorMemory): string[] {
  if (kinds.length === 0) return [`operator ${operator}: no kind is followed`];
  const sorted = [...kinds].sort((a, b) => b.bytes - a.bytes || (a.kind < b.kind ? -1 : 1));
  const objects = kinds.reduce((sum, one) => sum + one.objects, 0);
  const bytes = kinds.reduce((sum, one) => sum + one.bytes, 0);
  return [
    `operator ${operator}: ${count(objects)} objects, about ${size(bytes)} of JSON`,
    "",
    ...aligned([HEAD, ...sorted.map(row)]),
    ...notes(sorted),
  ];
}

function row({ kind, objects, bytes, bytesPerObject, sampled, keep, largest, readers }: KindMemory): string[] {
  const about = sampled === undefined ? "" : "~";
  return [
    kind,
    count(objects),
    `${about}${size(bytes)}`,
    objects === 0 ? "-" : `${about}${size(bytesPerObject)}`,
    keptText(keep),
    largest.map(shareText).join(", ") || "-",
    readers.map(readerText).join(", ") || "-",
  ];
}

function notes(kinds: readonly KindMemory[]): string[] {
  const lines = kinds.flatMap(({ kind, objects, sampled, hint }) => [
    ...(sampled === undefined ? [] : [`${kind}: measured ${count(sampled)} of ${count(objects)} objects`]),
    ...(hint === undefined ? [] : [`${kind}: ${hint}`]),
  ]);
  return lines.length === 0 ? [] : ["", ...lines];
}

function keptText(keep: readonly string[] | undefined): string {
  if (keep === undefined) return "all";
  return keep.length === 0 ? "metadata" : `metadata, ${keep.join(", ")}`;
}

function shareText({ path, share }: FieldShare): string {
  return `${path} ${Math.round(share * 100)} %`;
}

function readerText({ as, id }: MemoryReader): string {
  return as === "handler" ? id : `${id} (${as})`;
}

/** The last column is as long as it is. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_, i) => Math.max(...rows.map((cells) => cells[i]?.length ?? 0)));
  return rows.map((cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function count(n: number): string {
  return n.toLocaleString("en-US");
}

const UNITS = ["B", "KiB", "MiB", "GiB"];

function size(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
