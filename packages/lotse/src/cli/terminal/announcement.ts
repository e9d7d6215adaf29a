import { harmless } from "@lotse/client/meta";
import type { Output } from "./io.ts";

const BOLD = "\x1b[1m";
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

/** A line of what a command announces once it is at work: what it is called, and what it is. */
export type AnnouncedLine = readonly [label: string, value: string];

/** Writes a title and lines below it, their values in one column. */
export function announce(output: Output, title: string, lines: readonly AnnouncedLine[], colours: boolean): void {
  const width = Math.max(0, ...lines.map(([label]) => label.length));
  const paint = (code: string, text: string) => (colours ? `${code}${text}${RESET}` : text);
  const shown = lines.map(([label, value]) => `  ${paint(DIM, label.padEnd(width))}  ${harmless(value)}`);
  output.write(`${[paint(BOLD, harmless(title)), ...shown].join("\n")}\n`);
}
