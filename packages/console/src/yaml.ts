/**
 * JSON values as YAML to read: block style, keys in the order in which they came. A text is written plainly only where
 * no reader, of YAML 1.1 either, could take it for anything else; elsewhere it is a JSON string, which YAML understands.
 */

/** YAML of a JSON value. */
export function toYaml(value: unknown): string {
  return `${lines(value).join("\n")}\n`;
}

function lines(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item) => prefixed("- ", lines(item)));
  if (isMap(value)) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length > 0) return entries.flatMap(([key, item]) => entry(plainOrQuoted(key), item));
  }
  if (Array.isArray(value)) return ["[]"];
  if (isMap(value)) return ["{}"];
  if (typeof value === "string") return [plainOrQuoted(value)];
  return [JSON.stringify(value ?? null)];
}

function entry(key: string, value: unknown): string[] {
  if (typeof value === "string" && isBlock(value)) {
    // Chomping: `|` keeps exactly one line break at the end, `|-` none.
    const ends = value.endsWith("\n");
    const body = (ends ? value.slice(0, -1) : value).split("\n");
    return [`${key}: ${ends ? "|" : "|-"}`, ...body.map((line) => (line === "" ? "" : `  ${line}`))];
  }
  const below = lines(value);
  if (Array.isArray(value) && value.length > 0) return [`${key}:`, ...below];
  if (isMap(value) && below[0] !== "{}") return [`${key}:`, ...below.map((line) => (line === "" ? "" : `  ${line}`))];
  return [`${key}: ${below[0]}`];
}

function prefixed(mark: string, block: readonly string[]): string[] {
  return block.map((line, at) => (at === 0 ? mark + line : line === "" ? "" : `  ${line}`));
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Several lines of printable text, none of which begins with a blank: then the indentation can't be misread. */
function isBlock(text: string): boolean {
  if (!/^[^\s][^\n]*\n/.test(text) || text.endsWith("\n\n")) return false;
  return /^[\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/.test(text);
}

/** What YAML 1.1 or 1.2 reads as null, a boolean, a merge key or a number in any notation. */
const SPECIAL = /^(?:~|null|true|false|yes|no|on|off|y|n|<<|=)$/i;
const NUMBERISH = /^[-+.]?[\d.]/;

function plainOrQuoted(text: string): string {
  const plain = /^[A-Za-z0-9_./][A-Za-z0-9_./@+-]*(?:[ :][A-Za-z0-9_./@+-]+)*$/.test(text);
  if (plain && !SPECIAL.test(text) && !NUMBERISH.test(text)) return text;
  // JSON leaves these as they are, and YAML takes them for line breaks or forbids them.
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
