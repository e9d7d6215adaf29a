/**
 * The parts of a README that can be checked: commands with what they print, and lines of a log. What differs from one run
 * to the next (ages, times, generated names, ports) is the same for both sides here.
 */

/** A command of a ```console block, and the lines below it. */
export interface Command {
  readonly command: string;
  /** Empty: whatever it prints is not shown. */
  readonly output: string;
}

/** What a README shows. */
export interface Readme {
  /** In order. */
  readonly commands: readonly Command[];
  /** The lines of ```log blocks: what the operator's terminal shows in the meantime. */
  readonly log: readonly string[];
}

/** Reads the blocks of a README. A command ends with its line, or goes on in the next one after a backslash. */
export function readReadme(markdown: string): Readme {
  const blocks = [...markdown.matchAll(/^```(console|log)\n([\s\S]*?)^```$/gm)];
  const commands: { command: string; output: string }[] = [];
  const log: string[] = [];
  for (const [, kind, text = ""] of blocks) {
    const lines = text.replaceAll("\\\n", "").trimEnd().split("\n");
    if (kind === "log") log.push(...lines);
    else for (const line of lines) addLine(commands, line);
  }
  return { commands, log };
}

function addLine(commands: { command: string; output: string }[], line: string): void {
  const last = commands.at(-1);
  if (line.startsWith("$ ")) commands.push({ command: line.slice(2).trim(), output: "" });
  else if (last) last.output += `${line}\n`;
  else throw new Error(`a console block has to begin with a command: ${line}`);
}

/** How often a command may be run: `once` because it changes something, or again and again until it prints what is shown. */
export function manner({ command }: Command): "once" | "polled" {
  return /^kubectl (?:get|describe|logs|events|top) /.test(command) && !command.includes("|") ? "polled" : "once";
}

/** A command that shows an error is one that fails. */
export function fails({ output }: Command): boolean {
  return /^(?:Error|error:|The .* is invalid)/.test(output);
}

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\b\d\d:\d\d:\d\d\.\d{3}\b/g, "<time>"],
  // Every run has another one, which says nothing to readers.
  [/ runId=\S+/g, ""],
  [/\b127\.0\.0\.1:\d+/g, "<address>"],
  [/(?<![\w.])\d+(?:\.\d+)? ms\b/g, "<duration>"],
  // The alphabet of generated names has no vowels, hence no words.
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])/g, "-<random>"],
];

/** What kubectl's libraries log of their own affairs, now and then: a watch that kubectl has ended itself, for instance. */
const LIBRARY_LINE = /^[IW]\d{4} [\d:.]+ +\d+ \w+\.go:\d+\] .*\n?/gm;

/** An age or a duration, where it stands alone: `3s`, `4m12s`, `took=212ms`. */
const DURATION = /(^|[ =(])(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?(?=$|[ ),])/gm;

/** The text without what differs from run to run; columns are apart by one blank, because they are as wide as that. */
export function masked(text: string): string {
  let result = text.replaceAll(LIBRARY_LINE, "");
  for (const [pattern, word] of MASKS) result = result.replaceAll(pattern, word);
  result = result
    .split("\n")
    .map((line) => line.trim().replaceAll(/[ \t]+/g, " "))
    .join("\n");
  return result
    .replaceAll(DURATION, (whole, before: string) => (whole === before ? whole : `${before}<duration>`))
    .trim();
}

/** Whether `printed` is what is `shown`; `…` there stands for any text within a line. */
export function isAsShown(shown: string, printed: string): boolean {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${masked(shown).split("…").map(literal).join(".*")}$`).test(masked(printed));
}
