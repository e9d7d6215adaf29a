import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../meta/index.ts";
import type { AccessOptions, KubeconfigSource } from "./contract.ts";
import { allOrFirstFailure } from "./first-failure.ts";
import { checkKubeconfig, type KubeconfigPart, type MergedKubeconfig, mergeKubeconfigs } from "./kubeconfig-parse.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where a kubeconfig was looked for, and what was there. */
export interface Found {
  readonly merged: MergedKubeconfig | undefined;
  readonly looked: readonly string[];
}

/** The parts of a kubeconfig, and all files that may be parts of it, present or not. */
export interface Located {
  readonly parts: readonly KubeconfigPart[];
  readonly paths: readonly string[];
}

/** Reads the kubeconfig that was asked for, else those of `$KUBECONFIG`, else `~/.kube/config`. */
export async function findKubeconfig(o: AccessOptions, env: Env): Promise<Found> {
  if (o.kubeconfig !== undefined) {
    const { parts, paths } = await readSource(o.kubeconfig);
    if (parts.length === 0) throw absent(paths);
    return { merged: mergeKubeconfigs(parts), looked: [] };
  }
  const { parts, paths } = await readDefault(env);
  const looked = paths.map((path) => (env.KUBECONFIG ? `${path} ($KUBECONFIG)` : path));
  return { merged: parts.length > 0 ? mergeKubeconfigs(parts) : undefined, looked };
}

/** What kubectl would read. */
export function readDefault(env: Env): Promise<Located> {
  const listed = pathsOf(env.KUBECONFIG ?? "");
  return readPaths(listed.length > 0 ? listed : [join(env.HOME ?? env.USERPROFILE ?? homedir(), ".kube", "config")]);
}

/** Members of a list of files may be missing, as for kubectl; the caller that needs one sees that there are no parts. */
export async function readSource(source: KubeconfigSource): Promise<Located> {
  if (source instanceof URL) return readPaths([pathOfUrl(source)]);
  if (typeof source === "string") return readPaths(pathsOf(source));
  if (isPathList(source)) return readPaths(source);
  if ("text" in source && typeof source.text === "string") {
    const value = await parseYaml(source.text, "the given text");
    return { parts: [{ config: checkKubeconfig(value, "the given text"), empty: value === undefined }], paths: [] };
  }
  return { parts: [{ config: checkKubeconfig(source, "the given object") }], paths: [] };
}

/** That none of the files is there. */
export function absent(paths: readonly string[]): ConfigError {
  return new ConfigError(`there is no kubeconfig at ${paths.join(", nor at ") || "an empty path"}`, {
    hint: "check the path, or leave it out",
  });
}

const isPathList = (source: KubeconfigSource): source is readonly string[] => Array.isArray(source);

/** Several paths in one text are separated as in `$KUBECONFIG`. */
const pathsOf = (text: string): string[] => text.split(delimiter).filter((path) => path !== "");

function pathOfUrl(url: URL): string {
  if (url.protocol === "file:") return fileURLToPath(url);
  throw new ConfigError(`a kubeconfig cannot be read from ${url.protocol}//`, {
    hint: "fetch it first, and pass it as { text }",
  });
}

async function readPaths(paths: readonly string[]): Promise<Located> {
  const absolute = paths.filter((path) => path !== "").map((path) => resolve(path));
  const parts = await allOrFirstFailure(absolute.map(readPart));
  return { parts: parts.filter((part) => part !== undefined), paths: absolute };
}

async function readPart(path: string): Promise<KubeconfigPart | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const reason = code === "EISDIR" ? "it is a folder" : code === "EACCES" ? "permission denied" : message;
    throw new ConfigError(`cannot read the kubeconfig ${path}: ${reason}`, { cause, hint: "name a readable file" });
  }
  const value = await parseYaml(text, path);
  return { config: checkKubeconfig(value, path), path, folder: dirname(path), text, empty: value === undefined };
}

/**
 * Loaded when needed: in a pod there is no YAML to read, and programs often write JSON. `undefined` when there is nothing
 * but blanks and comments.
 */
async function parseYaml(text: string, origin: string): Promise<unknown> {
  const json = text.startsWith("{") ? parsedJson(text) : undefined;
  if (json !== undefined) return json;
  if (text.replace(/^\s*(?:#.*|---\s*)?$/gm, "").trim() === "") return undefined;
  const { load } = await import("js-yaml");
  try {
    return load(text) ?? undefined;
  } catch (cause) {
    // The library's message shows the lines around the error, and those may hold a token.
    const { reason, mark } = cause as { reason?: string; mark?: { line: number; column: number } };
    const where = mark === undefined ? "" : ` in line ${mark.line + 1}, column ${mark.column + 1}`;
    throw new ConfigError(`${origin} is not valid YAML${where}: ${reason ?? "it cannot be read"}`, {
      hint: "correct that line, or write the file anew with the tool that made it",
    });
  }
}

/** Undefined when it is not JSON: YAML allows more inside of braces. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
