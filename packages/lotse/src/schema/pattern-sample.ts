/**
 * Texts that match a pattern: of the part of regular expressions that schemas use. What it does not read (looking around,
 * referring back) it says so, and no text is made. Pure.
 */
import type { Random } from "./random.ts";

type Node =
  | { readonly type: "set"; readonly ranges: readonly Range[] }
  | { readonly type: "sequence"; readonly items: readonly Node[] }
  | { readonly type: "choice"; readonly options: readonly Node[] }
  | { readonly type: "repeat"; readonly item: Node; readonly least: number; readonly most: number };

type Range = readonly [low: number, high: number];

/** A pattern that texts can be made of. */
export interface PatternSampler {
  /** The shortest that there is to say, with the first of each choice. */
  shortest(): string;
  /** Any; what may be repeated without end is repeated up to `most` times. */
  any(random: Random, most: number): string;
}

/** Undefined for a pattern that it cannot read. */
export function samplePattern(pattern: string): PatternSampler | undefined {
  try {
    const tree = new Reader(pattern).whole();
    return { shortest: () => shortest(tree), any: (random, most) => any(tree, random, most) };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

const DIGIT: readonly Range[] = [[48, 57]];
const WORD: readonly Range[] = [
  [97, 122],
  [65, 90],
  [48, 57],
  [95, 95],
];
const SPACE: readonly Range[] = [
  [32, 32],
  [9, 9],
];
/** What stands for any character: letters first, because people read what is found. */
const ANY: readonly Range[] = [
  [97, 122],
  [65, 90],
  [48, 57],
  [32, 47],
  [58, 64],
  [91, 96],
  [123, 126],
];

const POSIX: Readonly<Record<string, readonly Range[]>> = {
  alpha: [
    [97, 122],
    [65, 90],
  ],
  lower: [[97, 122]],
  upper: [[65, 90]],
  digit: DIGIT,
  alnum: [
    [97, 122],
    [65, 90],
    [48, 57],
  ],
  word: WORD,
  space: SPACE,
  punct: [
    [33, 47],
    [58, 64],
    [91, 96],
    [123, 126],
  ],
  xdigit: [
    [97, 102],
    [65, 70],
    [48, 57],
  ],
};

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };

class Reader {
  readonly #text: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#text = [...source.replace(/^\(\?[s]\)/, "")];
  }

  whole(): Node {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new Unreadable();
    return node;
  }

  #choice(): Node {
    if (++this.#depth > 50) throw new Unreadable();
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    this.#depth--;
    return options.length === 1 ? (options[0] as Node) : { type: "choice", options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== "|" && this.#text[this.#at] !== ")") {
      const item = this.#item();
      if (item) items.push(this.#repeated(item));
    }
    return { type: "sequence", items };
  }

  #repeated(item: Node): Node {
    const [least, most] = this.#range() ?? [1, 1];
    if (least === 1 && most === 1) return item;
    this.#take("?");
    return { type: "repeat", item, least, most };
  }

  #range(): readonly [number, number] | undefined {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const [text, low = "", comma, high = ""] =
      /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at, this.#at + 16).join("")) ?? [];
    if (text === undefined) return undefined;
    this.#at += text.length;
    const least = Number(low);
    return [least, comma === "" ? least : high === "" ? Number.POSITIVE_INFINITY : Number(high)];
  }

  /** Undefined for what matches no character: the ends. Elsewhere they say what a whole text is tested for later. */
  #item(): Node | undefined {
    const character = this.#text[this.#at++] as string;
    switch (character) {
      case "^":
      case "$":
        return undefined;
      case "(":
        return this.#group();
      case "[":
        return { type: "set", ranges: this.#class() };
      case ".":
        return { type: "set", ranges: ANY };
      case "\\":
        return this.#escaped();
      case "*":
      case "+":
      case "?":
        throw new Unreadable();
      default:
        return one(character);
    }
  }

  #group(): Node {
    if (this.#take("?")) {
      if (this.#take("P")) this.#expect("<");
      else if (!this.#take("<")) this.#expect(":");
      if (this.#text[this.#at - 1] === "<") {
        if (/[=!]/.test(this.#text[this.#at] ?? "")) throw new Unreadable();
        while (this.#at < this.#text.length && this.#text[this.#at] !== ">") this.#at++;
        this.#expect(">");
      }
    }
    const node = this.#choice();
    this.#expect(")");
    return node;
  }

  #escaped(): Node | undefined {
    const character = this.#text[this.#at++] ?? "";
    if (character === "b" || character === "A" || character === "z") return undefined;
    if (/[1-9kBpP]/.test(character) || character === "") throw new Unreadable();
    return { type: "set", ranges: this.#escape(character) };
  }

  #escape(character: string): readonly Range[] {
    switch (character) {
      case "d":
        return DIGIT;
      case "w":
        return WORD;
      case "s":
        return SPACE;
      case "D":
        return without(DIGIT);
      case "W":
        return without(WORD);
      case "S":
        return without([...SPACE, [10, 13]]);
      case "x":
      case "u":
        return this.#code(character === "x" ? 2 : 4);
    }
    const code = Object.hasOwn(CONTROLS, character) ? CONTROLS[character] : character.codePointAt(0);
    return [[code as number, code as number]];
  }

  #code(digits: number): readonly Range[] {
    const rest = this.#text.slice(this.#at, this.#at + 10).join("");
    const [text, braced, plain] = new RegExp(`^(?:\\{([\\da-fA-F]+)\\}|([\\da-fA-F]{${digits}}))`).exec(rest) ?? [];
    if (text === undefined) throw new Unreadable();
    this.#at += text.length;
    const code = Number.parseInt(braced ?? plain ?? "", 16);
    return [[code, code]];
  }

  #class(): readonly Range[] {
    const negative = this.#take("^");
    const ranges: Range[] = [];
    for (let first = true; ; first = false) {
      const character = this.#text[this.#at++];
      if (character === undefined) throw new Unreadable();
      if (character === "]" && !first) break;
      const posix = /^\[:(\w+):\]/.exec(this.#text.slice(this.#at - 1, this.#at + 12).join(""));
      if (character === "[" && posix) {
        const known = Object.hasOwn(POSIX, posix[1] as string) ? POSIX[posix[1] as string] : undefined;
        if (!known) throw new Unreadable();
        ranges.push(...known);
        this.#at += posix[0].length - 1;
        continue;
      }
      ranges.push(...this.#member(character));
    }
    const found = negative ? without(ranges) : ranges;
    if (found.length === 0) throw new Unreadable();
    return found;
  }

  #member(character: string): readonly Range[] {
    const low = character === "\\" ? this.#escape(this.#text[this.#at++] ?? "") : one(character).ranges;
    const [[from, to] = [0, 0]] = low;
    if (low.length !== 1 || from !== to || this.#text[this.#at] !== "-" || this.#text[this.#at + 1] === "]") return low;
    this.#at++;
    const last = this.#text[this.#at++] ?? "";
    const [[high] = [from]] = last === "\\" ? this.#escape(this.#text[this.#at++] ?? "") : one(last).ranges;
    if (high < from) throw new Unreadable();
    return [[from, high]];
  }

  #take(text: string): boolean {
    if (this.#text[this.#at] !== text) return false;
    this.#at++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new Unreadable();
  }
}

function one(character: string): { readonly type: "set"; readonly ranges: readonly Range[] } {
  const code = character.codePointAt(0) ?? 0;
  return { type: "set", ranges: [[code, code]] };
}

/** Of the characters that people write, those that are in none of the ranges. */
function without(ranges: readonly Range[]): Range[] {
  const left: Range[] = [];
  for (const [low, high] of ANY) {
    for (let code = low; code <= high; code++) {
      if (ranges.some(([from, to]) => from <= code && code <= to)) continue;
      const last = left.at(-1);
      if (last && last[1] === code - 1) left[left.length - 1] = [last[0], code];
      else left.push([code, code]);
    }
  }
  return left;
}

function shortest(node: Node): string {
  switch (node.type) {
    case "set":
      return String.fromCodePoint((node.ranges[0] as Range)[0]);
    case "sequence":
      return node.items.map(shortest).join("");
    case "choice":
      return node.options.map(shortest).reduce((best, text) => (text.length < best.length ? text : best));
    case "repeat":
      return shortest(node.item).repeat(node.least);
  }
}

function any(node: Node, random: Random, most: number): string {
  switch (node.type) {
    case "set": {
      const [low, high] = random.of(node.ranges);
      const code = random.int(low, high);
      // Half a character is none.
      return String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? low : code);
    }
    case "sequence":
      return node.items.map((item) => any(item, random, most)).join("");
    case "choice":
      return any(random.of(node.options), random, most);
    case "repeat": {
      const times = random.int(node.least, Math.max(node.least, Math.min(node.most, node.least + most)));
      return Array.from({ length: times }, () => any(node.item, random, most)).join("");
    }
  }
}
