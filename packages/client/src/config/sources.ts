import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../meta/index.ts";
import type { AccessOptions, KubeconfigSource } from "./contract.ts";
import { checkKubeconfig, type KubeconfigPart, type MergedKubeconfig, mergeKubeconfigs } from "./kubeconfig.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where a kubeconfig was looked for, and what was there. */
export interface Found {
  readonly merged: MergedKubeconfig | undefined;
  readonly looked: readonly string[];
}

/** Reads the kubeconfig that was asked for, else those of `$KUBECONFIG`, else `~/.kube/config`. */
export async function findKubeconfig(o: AccessOptions, env: Env): Promise<Found> {
  if (o.kubeconfig !== undefined) {
    return { merged: mergeKubeconfigs(await readSource(o.kubeconfig)), looked: [] };
  }
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "");
  const paths = listed.length > 0 ? listed : [join(env.HOME ?? env.USERPROFILE ?? homedir(), ".kube", "config")];
  const parts = (await Promise.all(paths.map((path) => readPart(path, { optional: true })))).filter(
    (part) => part !== undefined,
  );
  // kubectl too goes on when members of the list are missing.
  const looked = paths.map((path) => (listed.length > 0 ? `${path} ($KUBECONFIG)` : path));
  return { merged: parts.length > 0 ? mergeKubeconfigs(parts) : undefined, looked };
}

async function readSource(source: KubeconfigSource): Promise<KubeconfigPart[]> {
  if (source instanceof URL) return readPaths([fileURLToPath(source)]);
  if (typeof source === "string") return readPaths([source]);
  if (isPathList(source)) return readPaths(source);
  if ("text" in source && typeof source.text === "string") {
    return [{ config: checkKubeconfig(await parseYaml(source.text, "the given text"), "the given text") }];
  }
  return [{ config: checkKubeconfig(source, "the given object") }];
}

const isPathList = (source: KubeconfigSource): source is readonly string[] => Array.isArray(source);

async function readPaths(paths: readonly string[]): Promise<KubeconfigPart[]> {
  const parts = await Promise.all(paths.map((path) => readPart(path, { optional: false })));
  return parts.filter((part) => part !== undefined);
}

async function readPart(path: string, o: { optional: boolean }): Promise<KubeconfigPart | undefined> {
  const absolute = resolve(path);
  let text: string;
  try {
    text = await readFile(absolute, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" && o.optional) return undefined;
    if (code === "ENOENT") {
      throw new ConfigError(`there is no kubeconfig at ${absolute}`, {
        cause,
        hint: "check the path, or leave it out",
      });
    }
    const reason = code === "EISDIR" ? "it is a folder" : (cause as Error).message;
    throw new ConfigError(`cannot read the kubeconfig ${absolute}: ${reason}`, { cause, hint: "name a readable file" });
  }
  const config = checkKubeconfig(await parseYaml(text, absolute), absolute);
  return { config, path: absolute, folder: dirname(absolute) };
}

/** Loaded when needed: in a pod nobody reads YAML. */
async function parseYaml(text: string, origin: string): Promise<unknown> {
  const { load } = await import("js-yaml");
  if (text.trim() === "") return undefined;
  try {
    return load(text);
  } catch (cause) {
    throw new ConfigError(`${origin} is not valid YAML: ${(cause as Error).message}`, {
      cause,
      hint: "correct the line that the message names",
    });
  }
}
