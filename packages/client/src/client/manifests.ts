/** Manifests from files, folders, addresses, texts and streams. */

import { builtinClass } from "../builtin/index.ts";
import type { KubeBody } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
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
  const { parseManifests } = await import("./manifest-text.ts");
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

/**
 * The documents of a text in YAML or JSON, which need not be manifests. Read as kubectl does: dates stay texts, and errors
 * name the line.
 *
 * @example
 * ```ts
 * const [settings] = await readDocuments("size: 3\n", "settings.yaml");
 * ```
 */
export async function readDocuments(text: string, file?: string): Promise<unknown[]> {
  const { parseDocuments } = await import("./manifest-text.ts");
  return parseDocuments(text, file);
}
