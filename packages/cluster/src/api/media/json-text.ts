import { DEEPEST } from "../../registry/index.ts";

/**
 * JSON that tells which keys were written twice. The engine's own parser reads the text; only when it returns fewer keys
 * than the text has is the text walked again to name the duplicates.
 */
export interface ParsedJson {
  readonly value: unknown;
  readonly duplicateFields: readonly string[];
}

/** The complaint about a text that is not JSON, in the words of a real server's parser. */
export class JsonTextError extends Error {}

/** Parses JSON and notes what `JSON.parse` forgets: fields that occur twice, and nesting that a real server refuses. */
export function parseJson(text: string): ParsedJson {
  const { keys, tooDeep } = survey(text);
  if (tooDeep !== undefined) throw new JsonTextError(`invalid character '${tooDeep}' exceeded max depth`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonTextError(complaint(text));
  }
  if (keys === keysInValue(value)) return { value, duplicateFields: [] };
  return { value, duplicateFields: findDuplicates(text) };
}

/** How many keys a text has, as every colon outside of a string follows one, and the bracket that goes too deep. */
function survey(text: string): { readonly keys: number; readonly tooDeep: string | undefined } {
  let keys = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x3a) keys++;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEEPEST) return { keys, tooDeep: text[i] };
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return { keys, tooDeep: undefined };
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i;
  }
  return text.length;
}

function keysInValue(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + keysInValue(item), 0);
  let keys = 0;
  for (const item of Object.values(value)) keys += 1 + keysInValue(item);
  return keys;
}

interface Frame {
  readonly path: string;
  /** Keys so far, or the index of the present item. */
  readonly keys: Set<string> | undefined;
  index: number;
  /** Path of the value that comes next. */
  next: string;
}

function findDuplicates(text: string): string[] {
  const duplicates = new Set<string>();
  const stack: Frame[] = [];
  let pending: string | undefined;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    const top = stack.at(-1);
    if (char === '"') {
      const end = endOfString(text, i);
      pending = JSON.parse(text.slice(i, end + 1)) as string;
      i = end;
    } else if (char === ":" && top?.keys && pending !== undefined) {
      top.next = top.path === "" ? pending : `${top.path}.${pending}`;
      if (top.keys.has(pending)) duplicates.add(top.next);
      top.keys.add(pending);
    } else if (char === "{" || char === "[") {
      const path = top ? (top.keys ? top.next : `${top.path}[${top.index}]`) : "";
      stack.push({ path, keys: char === "{" ? new Set() : undefined, index: 0, next: path });
    } else if (char === "}" || char === "]") stack.pop();
    else if (char === "," && top && !top.keys) top.index++;
  }
  return [...duplicates];
}

/** Finds the place where a text stops being JSON, and says so as the decoder of a real server does. */
function complaint(text: string): string {
  const stack: ("{" | "[")[] = [];
  /** What may come next. */
  let expects: "value" | "key" | "colon" | "separator" = "value";
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (/\s/.test(char)) continue;
    const top = stack.at(-1);
    const bad = (where: string) => `invalid character '${char}' ${where}`;
    if (expects === "separator") {
      if (top === undefined) return bad("after top-level value");
      if (char === (top === "{" ? "}" : "]")) stack.pop();
      else if (char === ",") expects = top === "{" ? "key" : "value";
      else return bad(top === "{" ? "after object key:value pair" : "after array element");
    } else if (expects === "colon") {
      if (char !== ":") return bad("after object key");
      expects = "value";
    } else if (expects === "key") {
      if (char === "}") {
        stack.pop();
        expects = "separator";
      } else if (char === '"') {
        i = endOfString(text, i);
        expects = "colon";
      } else return bad("looking for beginning of object key string");
    } else if (char === "{" || char === "[") {
      stack.push(char);
      expects = char === "{" ? "key" : "value";
    } else if (char === "]" && top === "[") {
      stack.pop();
      expects = "separator";
    } else {
      const scalar = /^(?:-?\d[\d.eE+-]*|true|false|null)/.exec(text.slice(i))?.[0];
      if (char !== '"' && scalar === undefined) return bad("looking for beginning of value");
      i = char === '"' ? endOfString(text, i) : i + (scalar as string).length - 1;
      expects = "separator";
    }
  }
  return "unexpected end of JSON input";
}
