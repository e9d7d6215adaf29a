/**
 * JSON values as YAML for people: block style, keys in the order in which they came, the same input always the same text,
 * with comments where asked for. A text is written plainly only where no reader, of YAML 1.1 either, could take it for
 * anything else; elsewhere it is a JSON string, which YAML understands.
 */

/**
 * A value with a comment above it.
 *
 * @example
 * ```ts
 * toYaml({ replicas: new Commented("two work on the same objects", 1) });
 * ```
 */
export class Commented {
  readonly comment: string;
  readonly value: unknown;

  constructor(comment: string, value: unknown) {
    this.comment = comment;
    this.value = value;
  }
}

/**
 * One document, with a line break at its end. Keys whose value is undefined are left out.
 *
 * @example
 * ```ts
 * toYaml({ kind: "ConfigMap", data: { port: "8080" } }); // kind: ConfigMap …
 * ```
 */
export function toYaml(value: unknown): string {
  return `${lines(value).join("\n")}\n`;
}

/**
 * Several documents in one text.
 *
 * @example
 * ```ts
 * toYamlStream([{ kind: "Namespace" }, { kind: "ConfigMap" }]);
 * ```
 */
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
  if (typeof value === "string" && isLongText(value)) return blockLines(value);
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

/** What ends a line for some reader, YAML 1.1 included, ends it for all: text after it must not become a value. */
function commentLines(comment: string): string[] {
  return comment
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => `# ${line.replace(/[^\x20-\x7e\xa0-\ufefe\uff00-\ufffd]/g, escaped)}`);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** `|` keeps exactly one line break at the end, `|-` none. */
function blockLines(text: string): string[] {
  const ends = text.endsWith("\n");
  const body = (ends ? text.slice(0, -1) : text).split("\n");
  return [ends ? "|" : "|-", ...body.map((line) => (line === "" ? line : `  ${line}`))];
}

/** What neither a plain text nor a block can hold: control characters, and what YAML 1.1 takes for line breaks. */
const UNPRINTABLE = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;

/** Several lines, the first of which does not begin with a blank: then the indentation can't be misread. */
function isLongText(text: string): boolean {
  return (
    /^\S[^\n]*\n/.test(text) &&
    !text.endsWith("\n\n") &&
    !UNPRINTABLE.test(text) &&
    text.indexOf("\n") < text.length - 1
  );
}

/** Words that YAML 1.1 or 1.2 reads as something else than a text, and texts that begin like one. */
const SPECIAL =
  /^(?:y|n|yes|no|on|off|true|false|null|~|<<|=|)$|^[-+.]?[\d.]|^[-?:,[\]{}#&*!|>'"%@`]|: |:$| #|^\s|\s$|\n/i;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  if (!SPECIAL.test(value) && !UNPRINTABLE.test(value)) return value;
  // JSON leaves these as they are.
  return JSON.stringify(value).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}
