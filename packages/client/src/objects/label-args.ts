/** kubectl's words for labels and annotations: `key=value` sets, `key-` removes. */
import { ConfigError } from "../meta/index.ts";
import type { WriteOptions } from "./options.ts";

/** Values to set; `null` removes. */
export type LabelChanges = Readonly<Record<string, string | null>>;

/** Reads what `label()` and `annotate()` were given, a record and options or words, into the first form. */
export function readLabelChanges(
  what: string,
  given: readonly unknown[],
): { changes: LabelChanges; o: WriteOptions | undefined } {
  const words = given.length > 0 && given.every((word) => typeof word === "string");
  const changes = words
    ? Object.fromEntries(given.map((word) => readWord(what, word)))
    : (given[0] as LabelChanges | undefined);
  if (changes === undefined || Object.keys(changes).length === 0) {
    throw new ConfigError(`there is no ${what} to set or to remove`, {
      hint: `pass { key: "value", old: null }, or words: "key=value", "old-"`,
    });
  }
  return { changes, o: words ? undefined : (given[1] as WriteOptions | undefined) };
}

function readWord(what: string, word: string): [string, string | null] {
  const equals = word.indexOf("=");
  if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1)];
  if (word.length > 1 && word.endsWith("-")) return [word.slice(0, -1), null];
  throw new ConfigError(`"${word}" says neither how to set nor to remove a ${what}`, {
    hint: 'write "key=value" to set, "key-" to remove',
  });
}
