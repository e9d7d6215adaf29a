/** How two values differ, leaf by leaf, as lines that people read. Pure. */
import { isObject } from "@lotse/client/meta";

/** One place where two values differ; undefined: there is nothing there. */
export interface LeafDifference {
  /** `spec.ports[0].name` */
  readonly path: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/** Every place where the two differ. */
export function leafDifferences(wanted: unknown, found: unknown, path = ""): LeafDifference[] {
  if (Object.is(wanted, found)) return [];
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const length = Math.max(wanted.length, found.length);
    return Array.from({ length }, (_, i) => leafDifferences(wanted[i], found[i], `${path}[${i}]`)).flat();
  }
  if (isObject(wanted) && isObject(found)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])];
    return keys.flatMap((key) => leafDifferences(wanted[key], found[key], below(path, key)));
  }
  return [{ path, wanted, found }];
}

/** Where a value is not what a pattern asks for: what the pattern does not name may be anything. */
export function patternDifferences(pattern: unknown, found: unknown, path = ""): LeafDifference[] {
  if (Array.isArray(pattern) && Array.isArray(found)) {
    const lengths = pattern.length === found.length ? [] : [{ path, wanted: pattern, found }];
    return lengths.length > 0
      ? lengths
      : pattern.flatMap((item, i) => patternDifferences(item, found[i], `${path}[${i}]`));
  }
  if (isAsymmetric(pattern)) return pattern.asymmetricMatch(found) ? [] : [{ path, wanted: String(pattern), found }];
  if (pattern instanceof RegExp) {
    return typeof found === "string" && pattern.test(found) ? [] : [{ path, wanted: String(pattern), found }];
  }
  if (isObject(pattern)) {
    return Object.entries(pattern).flatMap(([key, member]) =>
      patternDifferences(member, isObject(found) ? found[key] : undefined, below(path, key)),
    );
  }
  return Object.is(pattern, found) ? [] : [{ path, wanted: pattern, found }];
}

/** `expect.any(String)` and its siblings, of every test runner. */
function isAsymmetric(value: unknown): value is { asymmetricMatch(other: unknown): boolean } {
  return isObject(value) && typeof (value as { asymmetricMatch?: unknown }).asymmetricMatch === "function";
}

const LONGEST = 160;

/** `- status.size: 7` for what is wanted, `+ status.size: 3` for what is there. */
export function differenceLines(differences: readonly LeafDifference[], most = 20): string[] {
  const lines = differences.slice(0, most).flatMap(({ path, wanted, found }) => {
    const place = path === "" ? "" : `${path}: `;
    return [
      ...(wanted === undefined ? [] : [`- ${place}${valueText(wanted)}`]),
      ...(found === undefined
        ? wanted === undefined
          ? []
          : [`+ ${place}(nothing)`]
        : [`+ ${place}${valueText(found)}`]),
    ];
  });
  return differences.length > most ? [...lines, `… and ${differences.length - most} more`] : lines;
}

/** A value in one line. */
export function valueText(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

function below(path: string, key: string): string {
  const word = /^[\w-]+$/.test(key) ? key : `["${key}"]`;
  return path === "" || word.startsWith("[") ? `${path}${word}` : `${path}.${word}`;
}
