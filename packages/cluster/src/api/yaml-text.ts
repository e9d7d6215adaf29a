import { CORE_SCHEMA, eventsToAst, load, type Node, parseEvents, YAMLException } from "js-yaml";

/** YAML with what is wrong about it, in the words of a real server's parser. */
export interface ParsedYaml {
  readonly value: unknown;
  /** Keys that occur twice in one mapping: `line 7: key "a" already set in map`. The last one counts. */
  readonly complaints: readonly string[];
}

/** The complaint about a text that is not YAML. */
export class YamlTextError extends Error {}

export function parseYaml(text: string): ParsedYaml {
  try {
    return { value: load(text), complaints: [] };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason !== "duplicated mapping key") throw new YamlTextError(describe(error));
    return { value: load(text, { json: true }), complaints: duplicates(text) };
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
  [/unidentified alias/, "unknown anchor referenced"],
];

function describe({ reason, mark }: YAMLException): string {
  const [, words = "did not find expected node content"] = REASONS.find(([ours]) => ours.test(reason)) ?? [];
  // The first line is not worth mentioning there.
  const line = mark?.line ?? 0;
  return line > 0 ? `yaml: line ${line + 1}: ${words}` : `yaml: ${words}`;
}

function duplicates(text: string): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (node.kind === "sequence") node.items.forEach(visit);
    if (node.kind !== "mapping") return;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      if (key.kind === "scalar") {
        if (seen.has(key.value)) found.push(key.value);
        seen.add(key.value);
      }
      visit(value);
    }
  };
  for (const { contents } of eventsToAst(parseEvents(text, {}), { source: text, schema: CORE_SCHEMA }))
    if (contents) visit(contents);
  return complain(text, found);
}

/** The tree does not say where its keys stand, so the text is asked: the second line that begins with the key. */
function complain(text: string, keys: readonly string[]): string[] {
  const lines = text.split("\n");
  return keys.map((key) => {
    const places = lines.flatMap((line, i) => (mentions(line, key) ? [i + 1] : []));
    return `line ${places[1] ?? places[0] ?? 1}: key ${JSON.stringify(key)} already set in map`;
  });
}

function mentions(line: string, key: string): boolean {
  return new RegExp(`(?:^|[\\s{,"'-])${key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}["']?\\s*:`).test(line);
}
