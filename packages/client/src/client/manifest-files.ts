/** Which files a path or a pattern means, and what is in them. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ManifestError } from "../objects/index.ts";

const IS_MANIFEST = /\.(?:ya?ml|json)$/i;
const IS_PATTERN = /[*?[\]{}]/;

interface Text {
  readonly name: string;
  readonly text: string;
}

/** The texts of a file, of a folder's manifests in the order of their names, or of all files that a pattern means. */
export async function readManifestFiles(
  source: string | URL,
  o: { readonly recursive?: boolean | undefined },
): Promise<Text[]> {
  const path = typeof source === "string" ? source : fileURLToPath(source);
  const files = await findFiles(path, o.recursive ?? false);
  return Promise.all(
    files.map(async (name) => ({ name, text: await readFile(name, "utf8").catch((cause) => unreadable(name, cause)) })),
  );
}

async function findFiles(path: string, recursive: boolean): Promise<string[]> {
  const known = await stat(path).catch((cause) => {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT" && IS_PATTERN.test(path)) return undefined;
    return unreadable(path, cause);
  });
  if (known === undefined) return expand(path);
  if (!known.isDirectory()) return [path];
  const files = (await walk(path, recursive)).filter((file) => IS_MANIFEST.test(file));
  if (files.length > 0) return files;
  throw new ManifestError("there is no .yaml, .yml or .json in this folder", {
    file: path,
    ...(!recursive && { hint: "pass { recursive: true } for the folders inside it" }),
  });
}

/** In the order of their names, folder by folder, so that two runs do the same. */
async function walk(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => unreadable(folder, cause));
  const files: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) files.push(path);
    else if (recursive) files.push(...(await walk(path, true)));
  }
  return files;
}

async function expand(pattern: string): Promise<string[]> {
  const segments = resolve(pattern).split(sep);
  const fixed = segments.slice(
    0,
    segments.findIndex((segment) => IS_PATTERN.test(segment)),
  );
  const base = fixed.join(sep) || sep;
  const wanted = patternOf(segments.slice(fixed.length));
  const deep = segments.length - fixed.length > 1;
  const found = (await walk(base, deep)).filter((file) => wanted.test(file.slice(base.length).replace(/^[\\/]/, "")));
  if (found.length > 0) return found;
  throw new ManifestError("no file matches this pattern", { file: pattern });
}

/** `*` and `?` stay inside a folder's name, `**` does not; `{a,b}` and `[abc]` as in a shell. */
export function patternOf(segments: readonly string[]): RegExp {
  const parts = segments.map((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === "**") return last ? ".*" : "(?:[^/\\\\]+[/\\\\])*";
    return segmentPattern(segment) + (last ? "" : "[/\\\\]");
  });
  return new RegExp(`^${parts.join("")}$`);
}

function segmentPattern(segment: string): string {
  let depth = 0;
  return segment.replace(/\[[^\]]+\]|[\s\S]/g, (token) => {
    if (token.length > 1) return token.replace(/^\[!/, "[^");
    if (token === "*") return "[^/\\\\]*";
    if (token === "?") return "[^/\\\\]";
    if (token === "{") {
      depth++;
      return "(?:";
    }
    if (token === "}" && depth > 0) {
      depth--;
      return ")";
    }
    if (token === "," && depth > 0) return "|";
    return token.replace(/[.+^$()|\\[\]{}]/g, "\\$&");
  });
}

function unreadable(file: string, cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException;
  const what = code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "this file may not be read" : message;
  throw new ManifestError(what, { file, cause });
}
