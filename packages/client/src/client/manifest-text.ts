/** Manifests as text, YAML or JSON, taken apart into bodies. Loaded when a program first reads one. */
import type { KubeBody } from "../kinds/index.ts";
import { isObject } from "../meta/index.ts";
import { ManifestError } from "../objects/index.ts";

/** The bodies of one text; errors name the file and the line. */
export async function parseManifests(text: string, file?: string): Promise<KubeBody[]> {
  const documents = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const parsed = documents ?? (await parseYaml(text, file));
  return parsed.flatMap(({ value, line }) => flatten(value, { file, line }));
}

/** The documents of a text that need not be manifests; errors name the file and the line. */
export async function parseDocuments(text: string, file?: string): Promise<unknown[]> {
  const documents = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return (documents ?? (await parseYaml(text, file))).map(({ value }) => value);
}

interface Document {
  readonly value: unknown;
  /** Where it begins, counted from 1. */
  readonly line: number;
}

/** What begins like JSON may still be YAML in one line; that parser tells where the error is. */
function parseJson(text: string): Document[] | undefined {
  try {
    return [{ value: JSON.parse(text), line: 1 }];
  } catch {
    return undefined;
  }
}

async function parseYaml(text: string, file: string | undefined): Promise<Document[]> {
  const { load, CORE_SCHEMA, mergeTag, YAMLException } = await import("js-yaml");
  // As kubectl reads it: `<<` merges, and dates stay texts.
  const schema = CORE_SCHEMA.withTags(mergeTag);
  const documents: Document[] = [];
  for (const { text: part, line } of splitDocuments(text)) {
    if (/^(?:\s*(?:#.*)?(?:\r?\n|$))*$/.test(part)) continue;
    try {
      const first = part.split("\n").findIndex((row) => /^\s*[^\s#]/.test(row));
      documents.push({ value: load(part, { schema }), line: line + Math.max(0, first) });
    } catch (cause) {
      if (!(cause instanceof YAMLException)) throw cause;
      const at = cause.mark?.line;
      throw new ManifestError(`this is not YAML: ${cause.reason}`, {
        file,
        line: at === undefined ? line : line + at,
        cause,
        hint: "check the indentation and the quotes there, and in the line above",
      });
    }
  }
  return documents;
}

/** Split here and not by the parser, so that each document is known to begin at its line. */
function splitDocuments(text: string): { text: string; line: number }[] {
  const documents: { text: string; line: number }[] = [];
  let lines: string[] = [];
  let start = 1;
  const rows = text.replace(/^\uFEFF/, "").split("\n");
  for (const [index, row] of rows.entries()) {
    if (!/^(?:---|\.\.\.)(?:\s|$)/.test(row)) {
      // A directive belongs to the parser of whole streams; there is nothing in it that a manifest needs.
      lines.push(lines.length === 0 && row.startsWith("%") ? "" : row);
      continue;
    }
    documents.push({ text: lines.join("\n"), line: start });
    // What stands behind the marker belongs to the document already.
    lines = [row.startsWith("---") ? row.slice(3) : ""];
    start = index + 1;
  }
  documents.push({ text: lines.join("\n"), line: start });
  return documents;
}

interface Place {
  readonly file: string | undefined;
  readonly line: number;
}

/** Lists are what kubectl prints for several objects: their items count. */
function flatten(value: unknown, place: Place): KubeBody[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item) => flatten(item, place));
  if (!isObject(value)) {
    throw new ManifestError(`a manifest is an object, not ${JSON.stringify(value)}`, {
      ...place,
      hint: "it begins with apiVersion: and kind:",
    });
  }
  const { apiVersion, kind, items } = value;
  for (const [field, given] of Object.entries({ apiVersion, kind })) {
    if (typeof given === "string" && given !== "") continue;
    const name =
      isObject(value.metadata) && typeof value.metadata.name === "string" ? ` of "${value.metadata.name}"` : "";
    throw new ManifestError(`the manifest${name} has no ${field}`, {
      ...place,
      hint: "it begins with apiVersion: and kind:",
    });
  }
  const text = kind as string;
  if (!text.endsWith("List") || !Array.isArray(items)) return [value as KubeBody];
  const inherited = text === "List" ? {} : { apiVersion, kind: text.slice(0, -"List".length) };
  return items.flatMap((item) => flatten(isObject(item) ? { ...inherited, ...item } : item, place));
}
