/** Manifests from files, folders, addresses, texts and streams. */

import { builtinClass } from "../builtin/index.ts";
import type { KubeBody } from "../kinds/index.ts";
import { ConfigError, isObject } from "../meta/index.ts";
import { guessKind, KubeObject, ManifestError } from "../objects/index.ts";
import type { Client } from "./client.ts";

/** Where manifests are: a file, a folder or a pattern (`deploy/**\/*.yaml`), an address, a text, or a stream. */
export type ManifestSource =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined }
  | AsyncIterable<string | Uint8Array>;

/** How to load manifests. */
export interface LoadOptions {
  /** Also the folders inside a folder. Default `false`. */
  readonly recursive?: boolean | undefined;
  /** Whose classes are used, and with which the objects talk. Default: the built-in classes. */
  readonly client?: Client | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The objects in YAML or JSON, in their order: several documents in one file, and lists, become single objects. Sends
 * nothing to the cluster; kinds that no class knows are looked up when they are used.
 *
 * @example
 * ```ts
 * await client.apply(await loadManifests("deploy/"));
 * const [crd] = await loadManifests(new URL("https://example.com/crd.yaml"));
 * const objects = await loadManifests(process.stdin);
 * ```
 */
export async function loadManifests(source: ManifestSource, o: LoadOptions = {}): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const { name, text } of await readSources(source, o)) {
    for (const body of await parseManifests(text, name)) objects.push(objectOf(body, o.client));
  }
  return objects;
}

/** The body as an object of the built-in class for its kind, or a plain {@link KubeObject}. */
export function fromManifest(body: KubeBody): KubeObject {
  return objectOf(body, undefined);
}

function objectOf(body: KubeBody, client: Client | undefined): KubeObject {
  if (client) return client.object(body);
  const Class = builtinClass(guessKind(body));
  return Class ? (new Class(body) as KubeObject) : new KubeObject(body);
}

interface Text {
  readonly name: string | undefined;
  readonly text: string;
}

async function readSources(source: ManifestSource, o: LoadOptions): Promise<Text[]> {
  if (typeof source === "object" && "text" in source) return [{ name: source.name, text: source.text }];
  if (source instanceof URL && source.protocol !== "file:") return [await download(source, o.signal)];
  if (typeof source === "string" || source instanceof URL) {
    const { readManifestFiles } = await import("./manifest-files.ts");
    return readManifestFiles(source, o);
  }
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of source) text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return [{ name: undefined, text: text + decoder.decode() }];
}

async function download(url: URL, signal: AbortSignal | undefined): Promise<Text> {
  const name = url.href;
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ConfigError(`manifests cannot be read from ${name}`, { hint: "use http:, https: or file:" });
  }
  const response = await fetch(url, { signal: signal ?? null }).catch((cause) => {
    signal?.throwIfAborted();
    throw new ManifestError(`cannot be reached: ${reasonOf(cause)}`, { file: name, cause });
  });
  if (!response.ok) throw new ManifestError(`the server answered ${response.status}`, { file: name });
  return { name, text: await response.text() };
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** The bodies of one text; errors name the file and the line. */
export async function parseManifests(text: string, file?: string): Promise<KubeBody[]> {
  const documents = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const parsed = documents ?? (await parseYaml(text, file));
  return parsed.flatMap(({ value, line }) => flatten(value, { file, line }));
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
