import { harmless } from "@lotse/client/meta";
import type { Output } from "./io.ts";

const BOLD = "\x1b[1m";
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

/** A line of facts: what it is called, and what it is. */
export type Fact = readonly [label: string, value: string];

/** Writes a title and facts below it, their values in one column. */
export function writeFacts(output: Output, title: string, facts: readonly Fact[], colours: boolean): void {
  const width = Math.max(0, ...facts.map(([label]) => label.length));
  const paint = (code: string, text: string) => (colours ? `${code}${text}${RESET}` : text);
  const lines = facts.map(([label, value]) => `  ${paint(DIM, label.padEnd(width))}  ${harmless(value)}`);
  output.write(`${[paint(BOLD, harmless(title)), ...lines].join("\n")}\n`);
}
