/** What a word of YAML means to a real server's parser, which reads YAML 1.1: `yes` is true there, and `010` is eight. */

/** A word that does not mean what its tag says. */
export class ScalarTagError extends Error {}

const WORDS: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
  ...["y", "yes", "true", "on"].flatMap((word) => spellings(word).map((text) => [text, true] as const)),
  ...["n", "no", "false", "off"].flatMap((word) => spellings(word).map((text) => [text, false] as const)),
  ...["", "~", ...spellings("null")].map((text) => [text, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((text) => [text, Number.NaN] as const),
  ...[".inf", ".Inf", ".INF"].flatMap((text) => [
    [text, Number.POSITIVE_INFINITY] as const,
    [`+${text}`, Number.POSITIVE_INFINITY] as const,
    [`-${text}`, Number.NEGATIVE_INFINITY] as const,
  ]),
]);

function spellings(word: string): string[] {
  return [...new Set([word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`, word.toUpperCase()])];
}

/** The value of a scalar. Only what stands there without quotes and without a tag is anything but text. */
export function resolveScalar(text: string, plain: boolean, tag: string): unknown {
  const name = nameOfTag(tag);
  if (name === undefined) return plain ? resolvePlain(text) : text;
  if (name === "binary") return decodeBinary(text);
  if (!TYPED.has(name)) return text;
  const value = resolvePlain(text);
  const type = typeName(value, text);
  if (name === type || (name === "float" && type === "int")) return value;
  throw new ScalarTagError(`cannot decode !!${type} \`${text}\` as a !!${name}`);
}

const TYPED = new Set(["bool", "int", "float", "null"]);
const STANDARD = "tag:yaml.org,2002:";

function nameOfTag(tag: string): string | undefined {
  if (tag === "") return undefined;
  if (tag.startsWith("!!")) return tag.slice(2);
  if (tag.startsWith(`!<${STANDARD}`)) return tag.slice(2 + STANDARD.length, -1);
  return tag;
}

function typeName(value: unknown, text: string): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "bool";
  if (typeof value !== "number") return "str";
  return Number.isInteger(value) && !/^[-+]?(?!0x)[^x]*[.eE]/.test(text) ? "int" : "float";
}

function decodeBinary(text: string): string {
  try {
    return atob(text.replace(/[\r\n]/g, ""));
  } catch {
    throw new ScalarTagError("!!binary value contains invalid base64 data");
  }
}

function resolvePlain(text: string): unknown {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  // Most texts are words: a number begins with a digit, a sign or a dot.
  if (first === 0x2e) return /^\.[0-9]+(?:[eE][-+]?[0-9]+)?$/.test(text) ? finite(text) : text;
  if (first !== 0x2b && first !== 0x2d && !(first >= 0x30 && first <= 0x39)) return text;
  // Nothing that is longer is meant as a number.
  if (text.length > LONGEST_NUMBER) return text;
  return resolveNumber(text);
}

const LONGEST_NUMBER = 1_000;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const WHOLE = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/;

function resolveNumber(text: string): unknown {
  const digits = text.replaceAll("_", "");
  const whole = WHOLE.exec(digits);
  if (whole) {
    const [, sign, hex, binary, octal, decimal] = whole;
    const read =
      hex !== undefined
        ? `0x${hex}`
        : binary !== undefined
          ? `0b${binary}`
          : octal !== undefined
            ? `0o${octal}`
            : `${decimal}`;
    const size = BigInt(read);
    if (size <= (sign === "-" ? MOST_NEGATIVE : MOST)) return Number(sign === "-" ? -size : size);
    if (decimal === undefined && octal === undefined) return text;
  }
  return FLOAT.test(digits) ? finite(digits, text) : text;
}

const MOST = 2n ** 64n - 1n;
const MOST_NEGATIVE = 2n ** 63n;

function finite(digits: string, text: string = digits): number | string {
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}
