/** Where two values differ, down to the smallest parts. Pure. */
import { isDeepStrictEqual } from "node:util";

/** One place where they differ. */
export interface Leaf {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** See the module comment. */
export function leaves(expected: unknown, actual: unknown, path: string): Leaf[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((one, i) => leaves(one, actual[i], `${path}[${i}]`));
  }
  if (!isMap(expected) || !isMap(actual)) return [{ path: path || ".", expected, actual }];
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key) => leaves(expected[key], actual[key], `${path}.${key}`));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
