/** How kubeconfigs are put together and taken apart: pure, over plain JSON. */
import { resolve } from "node:path";
import { ConfigError, deepClone, isObject, setKey } from "../meta/index.ts";
import { type Kubeconfig, LIST_NAMES, LISTS, type ListName } from "./kubeconfig-parse.ts";

/** The fields that hold paths, which are relative to the file that they stand in. */
const PATHS: Readonly<Record<ListName, readonly string[]>> = {
  clusters: ["certificate-authority"],
  users: ["client-certificate", "client-key", "tokenFile"],
  contexts: [],
};

interface Part {
  readonly config: Kubeconfig;
  readonly folder: string | undefined;
}

/** The entry of a list by its name, to be changed in place. */
export function entryOf(config: Kubeconfig, list: ListName, name: string): Record<string, unknown> | undefined {
  const entries: readonly { name: string }[] = config[list] ?? [];
  return entries.find((entry) => entry.name === name) as Record<string, unknown> | undefined;
}

/** Several configurations as one: the first to set a value wins. The parts stay as they are. */
export function flatten(parts: readonly Part[]): Kubeconfig {
  const merged: Record<string, unknown> = { apiVersion: "v1", kind: "Config" };
  for (const list of LIST_NAMES) merged[list] = [];
  for (const { config, folder } of parts) {
    for (const [key, value] of Object.entries(config)) {
      if (LIST_NAMES.includes(key as ListName) || !value || merged[key] !== undefined) continue;
      setKey(merged, key, deepClone(value));
    }
    for (const list of LIST_NAMES) {
      const known = merged[list] as { name: string }[];
      for (const entry of config[list] ?? []) {
        if (!known.some(({ name }) => name === entry.name)) known.push(absolute(list, entry, folder));
      }
    }
  }
  return merged as Kubeconfig;
}

function absolute(list: ListName, entry: { name: string }, folder: string | undefined): { name: string } {
  const copy = deepClone(entry) as { name: string } & Record<string, unknown>;
  const content = (copy[LISTS[list]] ?? {}) as Record<string, unknown>;
  copy[LISTS[list]] = content;
  if (folder === undefined) return copy;
  for (const key of PATHS[list]) {
    if (typeof content[key] === "string" && content[key] !== "") content[key] = resolve(folder, content[key]);
  }
  // A command without a slash is looked for in the PATH.
  const { exec } = content;
  if (isObject(exec) && typeof exec.command === "string" && /[\\/]/.test(exec.command)) {
    exec.command = resolve(folder, exec.command);
  }
  return copy;
}

/** The value at a pointer; entries of lists may be named. */
export function readAt(root: unknown, segments: readonly string[]): unknown {
  let value = root;
  for (const segment of segments) value = memberOf(value, segment);
  return value;
}

/** The root with a value set; what is missing on the way becomes an object. */
export function setAt(root: unknown, segments: readonly string[], value: unknown): unknown {
  const [segment, ...rest] = segments;
  if (segment === undefined) return value;
  if (Array.isArray(root)) {
    const index = segment === "-" ? root.length : indexOf(root, segment);
    if (index === undefined || index > root.length) throw nowhere(segment, "is no position in a list");
    root[index] = setAt(root[index], rest, value);
    return root;
  }
  // A list that is not there yet is a list all the same.
  if (root == null && segment === "-") return [setAt(undefined, rest, value)];
  if (root != null && !isObject(root)) throw nowhere(segment, "would be inside of a value that has no fields");
  const object = root ?? {};
  setKey(object, segment, setAt(Object.hasOwn(object, segment) ? object[segment] : undefined, rest, value));
  return object;
}

/** The root without the value at a pointer. */
export function unsetAt(root: unknown, segments: readonly string[]): unknown {
  const container = readAt(root, segments.slice(0, -1));
  const last = segments.at(-1) as string;
  if (Array.isArray(container)) {
    const index = indexOf(container, last);
    if (index !== undefined && index < container.length) container.splice(index, 1);
  } else if (isObject(container)) delete container[last];
  return root;
}

function memberOf(value: unknown, segment: string): unknown {
  if (Array.isArray(value)) {
    const index = indexOf(value, segment);
    return index === undefined ? undefined : value[index];
  }
  return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function indexOf(list: readonly unknown[], segment: string): number | undefined {
  const named = list.findIndex((entry) => isObject(entry) && entry.name === segment);
  if (named >= 0) return named;
  return /^\d+$/.test(segment) ? Number(segment) : undefined;
}

function nowhere(segment: string, what: string): ConfigError {
  return new ConfigError(`"${segment}" ${what}`, { hint: "check the JSON Pointer against the kubeconfig" });
}
