/**
 * Text that came from elsewhere, made fit for a terminal and for a log: the names of objects, the messages of Events and
 * errors, stacks, fields. A terminal obeys control characters, and a person who reads a log believes in its lines, so that
 * a client that writes an object could move the cursor, hide what was printed, or make up lines. Here they become visible:
 * `\x1b[2J`, `\n`.
 */

/** Control characters, and those that change the direction of what follows them, or its end of line, without being seen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const DANGEROUS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL = new RegExp(DANGEROUS, "g");

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** As one line: nothing in it moves anything on the screen. */
export function harmless(text: string): string {
  return DANGEROUS.test(text) ? text.replace(ALL, visible) : text;
}

/** As lines, for texts that have some, such as stacks. */
export function harmlessLines(text: string): string {
  return text.split(/\r?\n/).map(harmless).join("\n");
}

/** A document in JSON, which has escaped the oldest of them by itself, without the others. */
export function harmlessJson(json: string): string {
  return DANGEROUS.test(json) ? json.replace(ALL, (character) => `\\u${hex(character, 4)}`) : json;
}

function visible(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  return character < "\u0100" ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`;
}

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, "0");
}
