/**
 * What goes wrong is told in at most three lines: what happened, why, and what to do. The stack is for those who ask
 * for it.
 */
import { harmless, harmlessLines } from "@lotse/client/meta";
import { locationOfThrow } from "./error-location.ts";

/** 1: the command failed. 2: it was called wrongly. */
export type FailureCode = 1 | 2;

/** The lines of a failure; each is shown on one line. */
export interface Told {
  readonly what: string;
  readonly why?: string | undefined;
  readonly todo?: string | undefined;
}

/** A failure that the command understands. */
export class Problem extends Error implements Told {
  override readonly name = "Problem";
  readonly what: string;
  readonly why: string | undefined;
  readonly todo: string | undefined;
  readonly exitCode: FailureCode;

  constructor(told: Told, options: { readonly exitCode?: FailureCode; readonly cause?: unknown } = {}) {
    super(told.what, options.cause === undefined ? undefined : { cause: options.cause });
    this.what = told.what;
    this.why = told.why;
    this.todo = told.todo;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The code to exit with after `error`. */
export function exitCodeOf(error: unknown): FailureCode {
  return error instanceof Problem ? error.exitCode : 1;
}

/** Puts any failure into the three lines. */
export function tell(error: unknown): Told {
  if (error instanceof Problem) return error;
  if (error instanceof AggregateError && error.errors.length > 0) return tell(error.errors[0]);
  if (!(error instanceof Error)) return { what: String(error) };
  const { what, why } = splitMessage(error);
  // By its fields and not by its class: the error may come from another copy of the package.
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  if (typeof hint === "string") return { what, why, todo: hint };
  // What a handler of the operator itself threw is an error of the user's code, by whatever name it arrives.
  const ofFramework = typeof code === "string" && code.startsWith("LOTSE_") && code !== "LOTSE_LIFECYCLE";
  if (ofFramework) return { what, why };
  const sourceLocation = placeIn(error);
  if (sourceLocation === undefined)
    return { what, why, todo: "run it again with --verbose to see where this comes from" };
  return {
    what,
    why: why ?? `it was thrown at ${sourceLocation}`,
    todo: "mend it there; --verbose adds the whole stack",
  };
}

/** The place in the user's own code, of the error or of what is behind it. */
function placeIn(error: Error): string | undefined {
  const seen = new Set<unknown>();
  for (let one: unknown = error; one instanceof Error && !seen.has(one); one = one.cause) {
    seen.add(one);
    const sourceLocation = locationOfThrow(one);
    if (sourceLocation !== undefined) return sourceLocation;
  }
  return undefined;
}

/** The first line of a message says what happened, and the next one, if any, why. */
export function splitMessage(error: Error): { what: string; why: string | undefined } {
  const [what = error.name, why] = error.message
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return { what, why };
}

const RED = "\x1b[31m";
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

/** The text to show for `error`. */
export function formatProblem(
  error: unknown,
  {
    verbose = false,
    colours = false,
  }: { readonly verbose?: boolean | undefined; readonly colours?: boolean | undefined } = {},
): string {
  const { what, why, todo } = tell(error);
  const paint = (code: string, text: string) => (colours ? `${code}${text}${RESET}` : text);
  const lines = [`${paint(RED, "Error:")} ${oneLine(what)}`];
  if (why) lines.push(`${paint(DIM, "Why:")}   ${oneLine(why)}`);
  if (todo) lines.push(`${paint(DIM, "Do:")}    ${oneLine(todo)}`);
  if (verbose) lines.push(...stacksOf(error).map((stack) => paint(DIM, harmlessLines(stack))));
  return `${lines.join("\n")}\n`;
}

const LONGEST_LINE = 600;

function oneLine(text: string): string {
  const line = harmless(text.replaceAll(/\s*\n\s*/g, " ").trim());
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

function stacksOf(error: unknown): string[] {
  const stacks: string[] = [];
  const seen = new Set<unknown>();
  for (let one = error; one instanceof Error && !seen.has(one); one = one.cause) {
    seen.add(one);
    stacks.push(`${stacks.length > 0 ? "caused by " : ""}${one.stack ?? one.message}`);
  }
  return stacks;
}
