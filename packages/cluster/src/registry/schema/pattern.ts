import { LARGEST_PATTERN, LinearPattern, type PatternNode, type Span, sizeOf } from "./linear-pattern.ts";
import { parsePattern, translateClass } from "./pattern-parser.ts";

/** A regular expression of the server's dialect (RE2). */
export interface Pattern {
  test(text: string): boolean;
  /** The first match at or after `from`. */
  find(text: string, from?: number): Span | undefined;
}

/**
 * Compiles a regular expression of the server's dialect. JavaScript's own engine runs it where that is sure to end soon;
 * else one does that takes no longer than the text is long. Undefined when the pattern is none.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  const tree = parsePattern(pattern);
  const native = compileNative(pattern);
  if (!tree) return native && !FOREIGN.test(pattern) ? fromNative(native) : undefined;
  if (sizeOf(tree) > LARGEST_PATTERN) return undefined;
  let linear: LinearPattern | undefined;
  const careful = (): LinearPattern => {
    linear ??= new LinearPattern(tree);
    return linear;
  };
  if (!native) return careful();
  const quick = fromNative(native);
  const risk = riskOf(tree);
  const choose = (text: string): Pattern => (isQuick(risk, text.length) ? quick : careful());
  return {
    test: (text) => choose(text).test(text),
    find: (text, from) => choose(text).find(text, from),
  };
}

/** What JavaScript finds wrong with a pattern, and what the server says then. */
const COMPLAINTS: readonly (readonly [ours: RegExp, theirs: (pattern: string) => string])[] = [
  [/Unterminated group/, (pattern) => `missing closing ): \`${pattern}\``],
  [/Unmatched '\)'/, (pattern) => `unexpected ): \`${pattern}\``],
  [/Unterminated character class/, (pattern) => `missing closing ]: \`${pattern.slice(pattern.lastIndexOf("["))}\``],
  [
    /Nothing to repeat/,
    (pattern) => `missing argument to repetition operator: \`${/[*+?{]/.exec(pattern)?.[0] ?? ""}\``,
  ],
  [/Range out of order/, (pattern) => `invalid character class range: \`${/\w-\w/.exec(pattern)?.[0] ?? ""}\``],
  [/\\ at end of pattern/, () => "trailing backslash at end of expression: ``"],
];

/** Why a pattern is none, in the words of the server. */
export function patternComplaint(pattern: string): string {
  const foreign = FOREIGN.exec(pattern);
  if (foreign) {
    return foreign[0].startsWith("(")
      ? `invalid or unsupported Perl syntax: \`${foreign[0].slice(0, 3)}\``
      : `invalid escape sequence: \`${foreign[0].slice(0, 2)}\``;
  }
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    const found = COMPLAINTS.find(([ours]) => ours.test((error as Error).message));
    if (found) return found[1](pattern);
  }
  return `invalid escape sequence: \`${pattern}\``;
}

/** What the server's dialect does not have: looking around, and referring back. */
const FOREIGN = /\(\?<?[=!]|\\[1-9]|\\k</;

function fromNative(native: RegExp): Pattern {
  return {
    test: (text) => native.test(text),
    find(text, from = 0) {
      const search = new RegExp(native.source, `${native.flags}g`);
      search.lastIndex = from;
      const match = search.exec(text);
      return match ? { start: match.index, end: match.index + match[0].length } : undefined;
    },
  };
}

/** The dialects differ in spelling only: inline flags at the start, named groups, text anchors and POSIX classes. */
function compileNative(pattern: string): RegExp | undefined {
  let source = pattern;
  let flags = "";
  const inline = /^\(\?([imsU]+)\)/.exec(source);
  if (inline) {
    source = source.slice(inline[0].length);
    for (const flag of "ims") if (inline[1]?.includes(flag)) flags += flag;
  }
  source = translateClass(source.replaceAll("(?P<", "(?<").replace(/\\A/g, "^").replace(/\\z/g, "$"));
  // Unicode first, because it reads `\p{L}` and counts characters as Go does; it is stricter about needless escapes.
  for (const mode of [`${flags}u`, flags]) {
    try {
      return new RegExp(source, mode);
    } catch {}
  }
  return undefined;
}

/** How badly a search that tries one way after the other can do. */
interface Risk {
  /** The time grows with this power of the text's length. */
  readonly power: number;
  /** And is multiplied by so many ways. */
  readonly ways: number;
  /** Loops in loops: it grows exponentially. */
  readonly wild: boolean;
}

const STEPS = 1_000_000;
const HARMLESS_LENGTH = 12;

function isQuick({ power, ways, wild }: Risk, length: number): boolean {
  return wild ? length <= HARMLESS_LENGTH : (length + 1) ** power * ways <= STEPS;
}

function riskOf(tree: PatternNode): Risk {
  const { power, ways, wild } = branching(tree);
  return { power: power + (isAnchored(tree) ? 0 : 1), ways, wild };
}

function branching(node: PatternNode): Risk {
  switch (node.type) {
    case "char":
    case "assert":
      return { power: 0, ways: 1, wild: false };
    case "sequence":
      return combine(node.items.map(branching));
    case "choice": {
      const risk = combine(node.options.map(branching));
      return { ...risk, ways: risk.ways * node.options.length };
    }
    case "repeat": {
      const inner = branching(node.item);
      const simple = inner.power === 0 && inner.ways === 1;
      if (node.most <= 1) return { ...inner, ways: inner.ways * 2 };
      if (node.least === node.most && simple) return inner;
      return { power: inner.power + 1, ways: inner.ways, wild: inner.wild || !simple };
    }
  }
}

function combine(parts: readonly Risk[]): Risk {
  return {
    power: parts.reduce((sum, part) => sum + part.power, 0),
    ways: Math.min(
      parts.reduce((product, part) => product * part.ways, 1),
      STEPS,
    ),
    wild: parts.some((part) => part.wild),
  };
}

function isAnchored(node: PatternNode): boolean {
  if (node.type === "assert") return node.start;
  if (node.type === "choice") return node.options.every(isAnchored);
  return node.type === "sequence" && node.items[0] !== undefined && isAnchored(node.items[0]);
}
