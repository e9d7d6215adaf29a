/**
 * A kubeconfig to read and to change. It may lie in several files; what is read is their merge, and a change goes to the
 * file that defines the thing, as with kubectl:
 *
 *     a cluster, user or context that is there ──► the first file that has it
 *     a new one, and current-context           ──► the first file that exists
 *     removal                                  ──► every file that has it, else a later file's entry would show up
 *
 * Fields that this client does not know are kept. Comments are not: the YAML library does not read them.
 */
import { dirname, resolve } from "node:path";
import {
  applyMergePatch,
  ConfigError,
  compileJsonPath,
  deepClone,
  formatJsonPointer,
  parseJsonPointer,
} from "../meta/index.ts";
import type { KubeconfigSource } from "./contract.ts";
import { entryOf, flatten, readAt, setAt, unsetAt } from "./kubeconfig-edits.ts";
import {
  checkKubeconfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigUser,
  LIST_NAMES,
  LISTS,
  type ListName,
} from "./kubeconfig-parse.ts";

/** How to find a kubeconfig. */
export interface KubeConfigLoadOptions {
  /** Starts with an empty configuration where the named file is not there; `save` makes it. */
  readonly create?: boolean | undefined;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What to add or to change. A field that is `null` is taken away, others are kept. */
export interface KubeConfigEntries {
  readonly cluster?: ({ readonly name: string } & Partial<Changes<KubeconfigCluster>>) | undefined;
  readonly user?: ({ readonly name: string } & Partial<Changes<KubeconfigUser>>) | undefined;
  /** Where it names no cluster or user, those of the same call are meant. */
  readonly context?: ({ readonly name: string } & Partial<Changes<KubeconfigContext>>) | undefined;
}

type Changes<T> = { readonly [Key in keyof T]: T[Key] | null | undefined };

/** What to remove, by name. */
export interface KubeConfigNames {
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly context?: string | undefined;
}

interface ConfigFile {
  readonly path: string | undefined;
  readonly folder: string | undefined;
  /** What is in the file; undefined when it is not there. */
  text: string | undefined;
  config: Kubeconfig;
  changed: boolean;
}

/** Of such a pair kubectl uses the second and ignores the first, so a program that sets one means to be rid of the other. */
const RIVALS: readonly (readonly [string, string])[] = [
  ["certificate-authority", "certificate-authority-data"],
  ["client-certificate", "client-certificate-data"],
  ["client-key", "client-key-data"],
  ["token", "tokenFile"],
];

/**
 * Reads, changes and saves a kubeconfig.
 *
 * @example
 * ```ts
 * const config = await KubeConfig.load();
 * config.useContext("staging");
 * config.setNamespace("team-a");
 * config.upsert({
 *   cluster: { name: "local", server: "https://127.0.0.1:6443" },
 *   user: { name: "local-admin", token: "abc" },
 *   context: { name: "local" },
 * });
 * await config.save();
 * ```
 */
export class KubeConfig {
  readonly #files: readonly ConfigFile[];
  #saving: Promise<void> = Promise.resolve();

  private constructor(files: readonly ConfigFile[]) {
    this.#files = files;
  }

  /**
   * Reads `source`, by default what kubectl reads: the files of `$KUBECONFIG`, else `~/.kube/config`. Those need not be
   * there yet; a file that is named has to be, unless `create` is set.
   */
  static async load(source?: KubeconfigSource, o: KubeConfigLoadOptions = {}): Promise<KubeConfig> {
    const { absent, readDefault, readSource } = await import("./sources.ts");
    const { parts, paths } = source === undefined ? await readDefault(o.env ?? process.env) : await readSource(source);
    if (parts.length === 0 && source !== undefined && !o.create) throw absent(paths);
    const files = parts.map(
      ({ config, path, folder, text }): ConfigFile => ({
        path,
        folder,
        text,
        config: deepClone(config),
        changed: false,
      }),
    );
    if (files.length === 0) {
      // As kubectl: where none of the listed files is there, the last one is made.
      const path = paths.at(-1);
      files.push({ path, folder: path && dirname(path), text: undefined, config: {}, changed: false });
    }
    return new KubeConfig(files);
  }

  /** The files that it was read from. */
  get files(): readonly string[] {
    return this.#files.flatMap(({ path }) => path ?? []);
  }

  /** The contexts by name. */
  get contexts(): ReadonlyMap<string, KubeconfigContext> {
    return new Map((this.#merged().contexts ?? []).map(({ name, context }) => [name, context]));
  }

  /** The clusters by name; paths in them are absolute. */
  get clusters(): ReadonlyMap<string, KubeconfigCluster> {
    return new Map((this.#merged().clusters ?? []).map(({ name, cluster }) => [name, cluster]));
  }

  /** The users by name; paths in them are absolute. */
  get users(): ReadonlyMap<string, KubeconfigUser> {
    return new Map((this.#merged().users ?? []).map(({ name, user }) => [name, user]));
  }

  /** The name of the current context; undefined when none is set. */
  get currentContext(): string | undefined {
    return this.#merged()["current-context"] || undefined;
  }

  /** The namespace of the current context, else `default`. */
  get namespace(): string {
    return this.contexts.get(this.currentContext ?? "")?.namespace || "default";
  }

  /** Makes a context the current one. */
  useContext(name: string): this {
    this.#find("contexts", name);
    return this.#edit(this.#first, (config) => ({ ...config, "current-context": name }));
  }

  /** Gives a context another name; where it is the current one it stays so. */
  renameContext(from: string, to: string): this {
    const { file } = this.#find("contexts", from);
    if (from === to) return this;
    if (to === "") throw new ConfigError("a context needs a name", { hint: "pass the new name" });
    if (this.contexts.has(to)) {
      throw new ConfigError(`there is a context "${to}" already in ${this.#origin}`, {
        hint: "remove it first, or choose another name",
      });
    }
    this.#edit(file, (config) => {
      const entry = entryOf(config, "contexts", from);
      if (entry) entry.name = to;
      return config;
    });
    for (const each of this.#files) {
      if (each.config["current-context"] === from) this.#edit(each, (c) => ({ ...c, "current-context": to }));
    }
    return this;
  }

  /** Sets the namespace of the current context, or of another one; `undefined` takes it away. */
  setNamespace(namespace: string | undefined, o: { readonly context?: string | undefined } = {}): this {
    const name = o.context ?? this.currentContext;
    if (name === undefined) {
      throw new ConfigError(`${this.#origin} has no current context`, { hint: "call useContext, or name a context" });
    }
    this.#find("contexts", name);
    return this.#upsert("contexts", { name, namespace: namespace ?? null });
  }

  /**
   * Adds or changes a cluster, a user and a context. A relative path is relative to the file that it is written to.
   *
   * @example
   * ```ts
   * config.upsert({ cluster: { name: "dev", server: "https://dev:6443" }, context: { name: "dev", user: "me" } });
   * ```
   */
  upsert({ cluster, user, context }: KubeConfigEntries): this {
    if (cluster) this.#upsert("clusters", cluster);
    if (user) this.#upsert("users", user);
    if (!context) return this;
    return this.#upsert("contexts", {
      ...(cluster && { cluster: cluster.name }),
      ...(user && { user: user.name }),
      ...Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined)),
      name: context.name,
    });
  }

  /**
   * Removes a cluster, a user, a context. `current-context` stays as it is, as with kubectl: a name that is gone is an
   * error at the next connection, and no command goes to another cluster by surprise.
   */
  remove(names: KubeConfigNames): this {
    for (const list of LIST_NAMES) {
      const name = names[LISTS[list]];
      if (name === undefined) continue;
      this.#find(list, name);
      for (const file of this.#files) {
        if (!entryOf(file.config, list, name)) continue;
        this.#edit(file, (config) => {
          const entries: readonly { name: string }[] = config[list] ?? [];
          return { ...config, [list]: entries.filter((entry) => entry.name !== name) } as Kubeconfig;
        });
      }
    }
    return this;
  }

  /**
   * A value of the merged configuration by JSON Pointer, or all values that a JSONPath finds. In a pointer the entries of a
   * list may be named.
   *
   * @example
   * ```ts
   * config.get("/contexts/staging/context/namespace"); // "team-a"
   * config.get("{.users[*].name}");                     // ["jane", "admin"]
   * ```
   */
  get(pointer: `/${string}`): unknown;
  get(jsonPath: string): unknown[];
  get(path: string): unknown {
    const merged = this.#merged();
    if (!path.startsWith("/")) return compileJsonPath(path).evaluate(merged);
    return readAt(merged, segmentsOf(path));
  }

  /** Sets a value by JSON Pointer; what is missing on the way is made, `/contexts/-` adds to a list. */
  set(pointer: string, value: unknown): this {
    const { file, segments } = this.#locate(pointer);
    return this.#edit(file, (config) => setAt(config, segments, deepClone(value)) as Kubeconfig);
  }

  /** Takes a value away by JSON Pointer; one that is not there is no error. */
  unset(pointer: string): this {
    const segments = segmentsOf(pointer);
    const [top, name] = segments;
    if (isList(top) && segments.length === 2) {
      const named = nameAt(this.#merged(), top, name as string);
      return named === undefined ? this : this.remove({ [LISTS[top]]: named });
    }
    const files = segments.length === 1 ? this.#files : [this.#locate(pointer).file];
    for (const file of files) {
      const local = isList(top) ? this.#locate(pointer).segments : segments;
      if (readAt(file.config, local) !== undefined) {
        this.#edit(file, (config) => unsetAt(config, local) as Kubeconfig);
      }
    }
    return this;
  }

  /** The merged configuration, paths absolute. */
  async toYAML(): Promise<string> {
    const { kubeconfigYaml } = await import("./kubeconfig-yaml.ts");
    return kubeconfigYaml(this.#merged());
  }

  /**
   * Writes the files that have changed, each at once or not at all, readable by its owner only. A file that another program
   * has changed meanwhile is left alone, with an error. With `path` the merged configuration goes there instead.
   * Comments in a file that is written are lost.
   */
  save(path?: string): Promise<void> {
    const saving = this.#saving.catch(() => undefined).then(() => this.#write(path));
    this.#saving = saving;
    return saving;
  }

  async #write(path: string | undefined): Promise<void> {
    const { replaceFile } = await import("./replace-file.ts");
    const { kubeconfigYaml } = await import("./kubeconfig-yaml.ts");
    if (path !== undefined) return replaceFile(resolve(path), await this.toYAML());
    for (const file of this.#files) {
      if (!file.changed) continue;
      if (file.path === undefined) {
        throw new ConfigError("this kubeconfig came from no file", { hint: "call save(path), or take toYAML()" });
      }
      const text = kubeconfigYaml(file.config);
      const written = file.config;
      await replaceFile(file.path, text, { expected: file.text });
      file.text = text;
      file.changed = file.config !== written;
    }
  }

  /** The first file that exists: where new things go. */
  get #first(): ConfigFile {
    return this.#files[0] as ConfigFile;
  }

  get #origin(): string {
    return this.files.join(", ") || "the given kubeconfig";
  }

  #merged(): Kubeconfig {
    return flatten(this.#files);
  }

  /** Every change comes through here: it is made on a copy, and counts only if a kubeconfig comes out. */
  #edit(file: ConfigFile, change: (config: Kubeconfig) => Kubeconfig): this {
    const config = change(deepClone(file.config));
    file.config = checkKubeconfig(config, file.path ?? "the given kubeconfig");
    file.changed = true;
    return this;
  }

  #find(list: ListName, name: string): { file: ConfigFile; index: number } {
    for (const file of this.#files) {
      const index = (file.config[list] ?? []).findIndex((entry) => entry.name === name);
      if (index >= 0) return { file, index };
    }
    const known = (this.#merged()[list] ?? []).map((entry) => entry.name);
    throw new ConfigError(`there is no ${LISTS[list]} "${name}" in ${this.#origin}`, {
      hint: known.length > 0 ? `the ${list} are: ${known.join(", ")}` : `it has no ${list} at all`,
    });
  }

  #upsert(list: ListName, { name, ...fields }: { readonly name: string; readonly [field: string]: unknown }): this {
    const key = LISTS[list];
    const file = this.#files.find(({ config }) => entryOf(config, list, name)) ?? this.#first;
    return this.#edit(file, (config) => {
      const patch: Record<string, unknown> = {};
      for (const [field, value] of Object.entries(fields)) {
        if (value === undefined) continue;
        patch[field] = value;
        const rival = value === null ? undefined : rivalOf(field);
        if (rival !== undefined && !(rival in fields)) patch[rival] = null;
      }
      const known = entryOf(config, list, name);
      if (known) {
        known[key] = applyMergePatch(known[key] ?? {}, patch);
        return config;
      }
      const entries = [...(config[list] ?? []), { name, [key]: applyMergePatch({}, patch) }];
      return { apiVersion: "v1", kind: "Config", ...config, [list]: entries } as Kubeconfig;
    });
  }

  /** The file in which a value stands, and the pointer to it there. */
  #locate(pointer: string): { file: ConfigFile; segments: string[] } {
    const segments = segmentsOf(pointer);
    const [top, second, ...rest] = segments;
    if (!isList(top) || second === undefined || second === "-") {
      const owner = top === "current-context" ? undefined : this.#files.find(({ config }) => top && top in config);
      return { file: owner ?? this.#first, segments };
    }
    const { file, index } = this.#find(top, nameAt(this.#merged(), top, second) ?? second);
    return { file, segments: [top, String(index), ...rest] };
  }
}

function segmentsOf(pointer: string): string[] {
  const segments = parseJsonPointer(pointer);
  if (segments !== undefined && segments.length > 0) return segments;
  throw new ConfigError(`${JSON.stringify(pointer)} is no JSON Pointer into a kubeconfig`, {
    hint: `write it as in ${formatJsonPointer(["contexts", "name", "context", "namespace"])}`,
  });
}

const isList = (name: string | undefined): name is ListName => LIST_NAMES.includes(name as ListName);

/** The name of the entry that a segment means: by its position in the merged list, or by name. */
function nameAt(merged: Kubeconfig, list: ListName, segment: string): string | undefined {
  const entries: readonly { name: string }[] = merged[list] ?? [];
  if (entries.some(({ name }) => name === segment)) return segment;
  return /^\d+$/.test(segment) ? entries[Number(segment)]?.name : undefined;
}

function rivalOf(field: string): string | undefined {
  for (const [one, other] of RIVALS) {
    if (field === one) return other;
    if (field === other) return one;
  }
  return undefined;
}
