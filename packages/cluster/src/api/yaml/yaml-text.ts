import { YAMLException } from "js-yaml";
import { DEEPEST } from "../../registry/index.ts";
import { type DecodedYaml, decodeYaml, YamlValueError } from "./yaml-decode.ts";
import { composeYaml, UnknownAnchorError } from "./yaml-nodes.ts";
import { ScalarTagError } from "./yaml-scalars.ts";

/** YAML with what is wrong about it, in the words of a real server's parser. */
export interface ParsedYaml {
  readonly value: unknown;
  /** Keys that occur twice in one mapping: `line 7: key "a" already set in map`. The last one counts. */
  readonly complaints: readonly string[];
}

/** The complaint about a text that is not YAML. */
export class YamlTextError extends Error {}

/** The first document of a text; null when there is none. */
export function parseYaml(text: string): ParsedYaml {
  try {
    const root = composeYaml(text, DEEPEST);
    if (root === undefined) return { value: null, complaints: [] };
    const { value, duplicates } = decodeYaml(root, DEEPEST);
    return { value, complaints: complain(text, duplicates) };
  } catch (error) {
    throw new YamlTextError(describe(error));
  }
}

/** Reasons of this parser and what the real server's says instead. */
const REASONS: readonly (readonly [ours: RegExp, theirs: string])[] = [
  [/bad indentation of a mapping entry/, "mapping values are not allowed in this context"],
  [
    /unexpected end of the (?:document|stream) within a (?:double|single) quoted scalar/,
    "found unexpected end of stream",
  ],
  [/tab characters must not be used|end of the stream or a document separator/, "did not find expected key"],
];
/** Those that the real one tells without a place. */
const PLACELESS: readonly (readonly [ours: RegExp, theirs: string])[] = [
  [/non-printable|null byte/, "control characters are not allowed"],
  [/nesting exceeded/, "exceeded max depth of 10000"],
];

function describe(error: unknown): string {
  if (error instanceof UnknownAnchorError) return `yaml: unknown anchor '${error.message}' referenced`;
  if (error instanceof ScalarTagError) return `yaml: ${error.message}`;
  if (error instanceof YamlValueError) {
    return error.message.startsWith("json: ") ? error.message : `yaml: ${error.message}`;
  }
  if (!(error instanceof YAMLException)) throw error;
  const { reason, mark } = error;
  const placeless = PLACELESS.find(([ours]) => ours.test(reason));
  if (placeless) return `yaml: ${placeless[1]}`;
  const [, words = "did not find expected node content"] = REASONS.find(([ours]) => ours.test(reason)) ?? [];
  // The first line is not worth mentioning there.
  const line = mark?.line ?? 0;
  return line > 0 ? `yaml: line ${line + 1}: ${words}` : `yaml: ${words}`;
}

/** The text is searched once for its lines, however many keys there are. */
function complain(text: string, duplicates: DecodedYaml["duplicates"]): string[] {
  if (duplicates.length === 0) return [];
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return duplicates.map(({ key, at }) => `line ${lineOf(starts, at)}: key ${key} already set in map`);
}

function lineOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle;
  }
  return low + 1;
}
