/** kubectl's words for labels and annotations: `key=value` sets, `key-` removes. */
import { ConfigError } from "../meta/index.ts";
import type { WriteOptions } from "./options.ts";

/** Values to set; `null` removes. */
export type Marks = Readonly<Record<string, string | null>>;

/** Reads what `label()` and `annotate()` were given, a record and options or words, into the first form. */
export function readMarks(what: string, given: readonly unknown[]): { marks: Marks; o: WriteOptions | undefined } {
  const words = given.length > 0 && given.every((word) => typeof word === "string");
  const marks = words ? Object.fromEntries(given.map((word) => readWord(what, word))) : (given[0] as Marks | undefined);
  if (marks === undefined || Object.keys(marks).length === 0) {
    throw new ConfigError(`there is no ${what} to set or to remove`, {
      hint: `pass { key: "value", old: null }, or words: "key=value", "old-"`,
    });
  }
  return { marks, o: words ? undefined : (given[1] as WriteOptions | undefined) };
}

function readWord(what: string, word: string): [string, string | null] {
  const equals = word.indexOf("=");
  if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1)];
  if (word.length > 1 && word.endsWith("-")) return [word.slice(0, -1), null];
  throw new ConfigError(`"${word}" says neither how to set nor to remove a ${what}`, {
    hint: 'write "key=value" to set, "key-" to remove',
  });
}
