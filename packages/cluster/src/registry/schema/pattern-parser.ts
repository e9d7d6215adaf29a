/** Reads the part of RE2's language that patterns use. What a single character may be is left to JavaScript's own. */
import { lookup } from "@lotse/client/meta";
import type { PatternNode } from "./linear-pattern.ts";

/** Flags of an expression; groups may change them. */
interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

const DEEPEST = 200;
const MOST_REPEATS = 1_000;
const EMPTY: PatternNode = { type: "sequence", items: [] };

/** The pattern as a tree; undefined when it is none, or none that this reader knows. */
export function parsePattern(source: string): PatternNode | undefined {
  try {
    const parser = new Parser(source);
    return parser.whole();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { i: false, m: false, s: false };

  constructor(source: string) {
    this.#source = source;
  }

  whole(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new Unreadable();
    return node;
  }

  #choice(): PatternNode {
    if (++this.#depth > DEEPEST) throw new Unreadable();
    const before = this.#flags;
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    this.#depth--;
    this.#flags = before;
    return options.length === 1 ? (options[0] as PatternNode) : { type: "choice", options };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    while (this.#at < this.#source.length && !this.#sees("|") && !this.#sees(")")) {
      items.push(this.#repeated(this.#item()));
    }
    return items.length === 1 ? (items[0] as PatternNode) : { type: "sequence", items };
  }

  #repeated(item: PatternNode): PatternNode {
    let node = item;
    for (let range = this.#range(); range; range = this.#range()) {
      node = { type: "repeat", item: node, ...range, greedy: !this.#take("?") };
    }
    return node;
  }

  #range(): { least: number; most: number } | undefined {
    if (this.#take("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take("?")) return { least: 0, most: 1 };
    const [text, low, comma, high] = /^\{(\d+)(,?)(\d*)\}/.exec(this.#source.slice(this.#at, this.#at + 16)) ?? [];
    if (text === undefined) return undefined;
    this.#at += text.length;
    const least = Number(low);
    const most = comma === "" ? least : high === "" ? Number.POSITIVE_INFINITY : Number(high);
    if (least > MOST_REPEATS || (Number.isFinite(most) && most > MOST_REPEATS) || most < least) throw new Unreadable();
    return { least, most };
  }

  #item(): PatternNode {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) as number);
    this.#at += character.length;
    const { m, s } = this.#flags;
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      case ".":
        return { type: "char", test: s ? () => true : (found) => found !== "\n" };
      case "^":
        return assert(m ? (before) => before === "" || before === "\n" : (before) => before === "", !m);
      case "$":
        return assert(m ? (_, after) => after === "" || after === "\n" : (_, after) => after === "");
      case "*":
      case "+":
      case "?":
        throw new Unreadable();
      default:
        return this.#oneOf(character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&"));
    }
  }

  #group(): PatternNode {
    if (this.#take("?")) {
      const named = /^P?<\w+>/.exec(this.#source.slice(this.#at))?.[0];
      if (named) this.#at += named.length;
      else {
        const [text = "", on = "", , off = "", end] =
          /^([ims]*)(-([ims]+))?([:)])/.exec(this.#source.slice(this.#at)) ?? [];
        if (text === "") throw new Unreadable();
        this.#at += text.length;
        const outside = this.#flags;
        this.#flags = { ...this.#flags, ...each(on, true), ...each(off, false) };
        // Without a body, the flags hold for the rest of the enclosing group.
        if (end === ")") return EMPTY;
        const node = this.#choice();
        this.#flags = outside;
        this.#expect(")");
        return node;
      }
    }
    const node = this.#choice();
    this.#expect(")");
    return node;
  }

  #class(): PatternNode {
    const start = this.#at - 1;
    this.#take("^");
    this.#take("]");
    for (;;) {
      if (this.#at >= this.#source.length) throw new Unreadable();
      const posix = /^\[:\^?\w+:\]/.exec(this.#source.slice(this.#at, this.#at + 16))?.[0];
      if (posix) this.#at += posix.length;
      else if (this.#take("\\")) this.#at++;
      else if (this.#take("]")) break;
      else this.#at++;
    }
    return this.#oneOf(this.#source.slice(start, this.#at));
  }

  #escape(): PatternNode {
    const rest = this.#source.slice(this.#at);
    const text = /^(?:[pP]\{\^?[\w=]+\}|[pP]\w|x\{[\da-fA-F]+\}|x[\da-fA-F]{2}|[\s\S])/u.exec(rest)?.[0];
    if (text === undefined) throw new Unreadable();
    this.#at += text.length;
    switch (text[0]) {
      case "A":
        return assert((before) => before === "", true);
      case "z":
        return assert((_, after) => after === "");
      case "b":
        return assert((before, after) => WORD.test(before) !== WORD.test(after));
      case "B":
        return assert((before, after) => WORD.test(before) === WORD.test(after));
      case "a":
        return this.#oneOf("\\x07");
      case "Q":
      case "C":
      case "E":
        throw new Unreadable();
    }
    if (/^[1-9]/.test(text)) throw new Unreadable();
    return this.#oneOf(`\\${text}`);
  }

  /** A character by the rules of JavaScript's own; ASCII, of which most texts are, is remembered. */
  #oneOf(source: string): PatternNode {
    const native = single(translateClass(source), this.#flags.i ? "i" : "");
    if (!native) throw new Unreadable();
    const known = new Int8Array(128);
    const test = (character: string): boolean => {
      const code = character.charCodeAt(0);
      if (code >= 128) return native.test(character);
      if (known[code] === 0) known[code] = native.test(character) ? 1 : -1;
      return known[code] === 1;
    };
    return { type: "char", test };
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new Unreadable();
  }
}

const WORD = /^\w$/;

function assert(holds: (before: string, after: string) => boolean, start = false): PatternNode {
  return { type: "assert", start, holds };
}

function each(letters: string, value: boolean): Partial<Flags> {
  return Object.fromEntries([...letters].map((letter) => [letter, value]));
}

function single(source: string, flags: string): RegExp | undefined {
  // Unicode first, because it reads `\p{L}`; it is stricter about needless escapes.
  for (const mode of [`${flags}u`, flags]) {
    try {
      return new RegExp(`^(?:${source})$`, mode);
    } catch {}
  }
  return undefined;
}

/** One character's pattern in JavaScript's spelling. */
export function translateClass(source: string): string {
  return source
    .replace(/\\x\{([\da-fA-F]+)\}/g, "\\u{$1}")
    .replace(/\\([pP])(\w)/g, "\\$1{$2}")
    .replace(/\\([pP])\{\^/g, (_, letter: string) => (letter === "p" ? "\\P{" : "\\p{"))
    .replace(/\[:(\^?)(\w+):\]/g, (text, negated: string, name: string) => {
      const members = lookup(POSIX, name);
      return members === undefined || negated === "^" ? text : members;
    });
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  upper: "A-Z",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
