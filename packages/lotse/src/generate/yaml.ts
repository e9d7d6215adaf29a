/** Writes manifests as people write them: block style, the same input always the same text, with comments where asked for. */

/** A value with a comment above it. */
export class Commented {
  readonly comment: string;
  readonly value: unknown;

  constructor(comment: string, value: unknown) {
    this.comment = comment;
    this.value = value;
  }
}

/** One document, with a line break at its end. Keys whose value is undefined are left out. */
export function toYaml(value: unknown): string {
  return `${lines(value).join("\n")}\n`;
}

/** Several documents in one text. */
export function toYamlStream(values: readonly unknown[]): string {
  return values.map(toYaml).join("---\n");
}

function lines(value: unknown): string[] {
  if (value instanceof Commented) return [...commentLines(value.comment), ...lines(value.value)];
  if (Array.isArray(value)) return value.length === 0 ? ["[]"] : value.flatMap(itemLines);
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    return entries.length === 0 ? ["{}"] : entries.flatMap(([key, one]) => entryLines(scalar(key), one));
  }
  if (typeof value === "string" && isLongText(value)) return ["|-", ...value.split("\n").map((line) => `  ${line}`)];
  return [scalar(value)];
}

function itemLines(item: unknown): string[] {
  if (item instanceof Commented) return [...commentLines(item.comment), ...itemLines(item.value)];
  const [first = "", ...rest] = lines(item);
  return [`- ${first}`, ...rest.map((line) => (line === "" ? line : `  ${line}`))];
}

function entryLines(key: string, value: unknown): string[] {
  if (value instanceof Commented) return [...commentLines(value.comment), ...entryLines(key, value.value)];
  const all = lines(value);
  if (typeof value === "string" && all.length > 1) return [`${key}: ${all[0]}`, ...all.slice(1)];
  if (isBlock(value)) return [`${key}:`, ...all.map((line) => (line === "" ? line : `  ${line}`))];
  return [`${key}: ${all[0]}`];
}

function isBlock(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.values(value).some((one) => one !== undefined);
}

function commentLines(comment: string): string[] {
  return comment.split("\n").map((line) => `# ${line}`);
}

/** A text of several lines that a block can hold as it is. */
function isLongText(text: string): boolean {
  return text.includes("\n") && !text.endsWith("\n") && !/^\s|\r|\t/.test(text);
}

/** Words that YAML 1.1 or 1.2 reads as something else than a text, and texts that begin like one. */
const SPECIAL =
  /^(?:y|n|yes|no|on|off|true|false|null|~|)$|^[-+.]?[\d.]|^[-?:,[\]{}#&*!|>'"%@`]|^=$|: |:$| #|^\s|\s$|[\n\r\t]/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return SPECIAL.test(value) ? JSON.stringify(value) : value;
}
