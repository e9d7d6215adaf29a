/** What a check finds, and how it is told: one line for each thing, worst first. */
import type { Output } from "../terminal/index.ts";

/** How bad it is: an error must not be released, a warning is to be thought about, a note is to be known. */
export type FindingLevel = "error" | "warning" | "note";

/** What was looked at. */
export type CheckName =
  | "types"
  | "load"
  | "handlers"
  | "requests"
  | "definitions"
  | "conversions"
  | "policies"
  | "compatibility"
  | "objects"
  | "permissions";

/** One thing that was found. */
export interface Finding {
  readonly level: FindingLevel;
  readonly check: CheckName;
  /** A line of a file, or a kind with its version and path; empty for the whole. */
  readonly place: string;
  readonly message: string;
  readonly todo?: string | undefined;
}

/** What a check has to say. */
export interface CheckReport {
  readonly findings: readonly Finding[];
  /** What was looked at: `types of operator.ts`. */
  readonly checked: readonly string[];
}

const ORDER: readonly FindingLevel[] = ["error", "warning", "note"];
const COLOURS: Record<FindingLevel, string> = { error: "\x1b[31m", warning: "\x1b[33m", note: "\x1b[2m" };
const RESET = "\x1b[0m";

/** Writes the report; for programs as one JSON document. */
export function writeReport(output: Output, report: CheckReport, how: { json: boolean; colours: boolean }): void {
  const findings = [...report.findings].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
  const [errors, warnings] = [count(findings, "error"), count(findings, "warning")];
  if (how.json) {
    output.write(`${JSON.stringify({ errors, warnings, checked: report.checked, findings })}\n`);
    return;
  }
  for (const finding of findings) output.write(`${lineOf(finding, how.colours)}\n`);
  const looked = report.checked.join(", ") || "nothing";
  output.write(`checked ${looked}: ${plural(errors, "error")}, ${plural(warnings, "warning")}\n`);
}

/** Whether anything was found that fails the check. */
export function hasErrors({ findings }: CheckReport): boolean {
  return findings.some(({ level }) => level === "error");
}

function lineOf({ level, place, message, todo }: Finding, colours: boolean): string {
  const label = level.padEnd(8);
  const shown = colours ? `${COLOURS[level]}${label}${RESET}` : label;
  const text = `${place === "" ? "" : `${place}: `}${message}${todo === undefined ? "" : ` → ${todo}`}`;
  return `${shown} ${text.replaceAll(/\s*\n\s*/g, " ")}`;
}

function count(findings: readonly Finding[], level: FindingLevel): number {
  return findings.filter((one) => one.level === level).length;
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
