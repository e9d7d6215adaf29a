import { ConfigError, isObject } from "../meta/index.ts";

/** How to run a program that prints credentials. */
export interface ExecConfig {
  apiVersion: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: "Never" | "IfAvailable" | "Always";
}

/** Where a server is, and whom its certificate has to be from. */
export interface KubeconfigCluster {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
  "proxy-url"?: string;
}

/** Who to be: a token, a certificate, a program or a provider that gives them, and whom to impersonate. */
export interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  username?: string;
  password?: string;
  as?: string;
  "as-uid"?: string;
  "as-groups"?: string[];
  "as-user-extra"?: Record<string, string[]>;
  exec?: ExecConfig;
  "auth-provider"?: { name: string; config?: Record<string, string> };
}

/** Which user at which cluster, and in which namespace. */
export interface KubeconfigContext {
  cluster?: string;
  user?: string;
  namespace?: string;
}

/** A kubeconfig as it is in YAML or JSON. */
export interface Kubeconfig {
  apiVersion?: string;
  kind?: string;
  "current-context"?: string;
  clusters?: { name: string; cluster: KubeconfigCluster }[] | null;
  users?: { name: string; user: KubeconfigUser }[] | null;
  contexts?: { name: string; context: KubeconfigContext }[] | null;
}

/** A kubeconfig, and where it was read: file names in it are relative to `folder`. */
export interface KubeconfigPart {
  readonly config: Kubeconfig;
  readonly path?: string | undefined;
  readonly folder?: string | undefined;
  /** What was in the file. */
  readonly text?: string | undefined;
  /** Nothing was in it at all. */
  readonly empty?: boolean | undefined;
}

interface Entry<T> {
  readonly value: T;
  readonly folder: string | undefined;
  readonly path: string | undefined;
}

/** The lists of a kubeconfig, and the key under which each of their entries holds its content. */
export const LISTS = { clusters: "cluster", users: "user", contexts: "context" } as const;
/** The name of one of these lists. */
export type ListName = keyof typeof LISTS;
/** All of them. */
export const LIST_NAMES = Object.keys(LISTS) as ListName[];

/** Several kubeconfigs as one, by kubectl's rule: the first file to set a value wins. */
export interface MergedKubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  /** The files, for messages. */
  readonly origin: string;
  /** Nothing was in any of them. */
  readonly empty: boolean;
}

/** Checks the parsed text; a YAML file of something else is a common mistake. */
export function checkKubeconfig(value: unknown, origin: string): Kubeconfig {
  // An empty file counts as an empty configuration, as for kubectl.
  if (value === null || value === undefined) return {};
  if (!isObject(value) || LIST_NAMES.some((list) => value[list] != null && !Array.isArray(value[list]))) {
    throw new ConfigError(`${origin} is not a kubeconfig`, {
      hint: "it should have the lists clusters, users and contexts",
    });
  }
  for (const list of LIST_NAMES) {
    for (const [index, entry] of ((value[list] ?? []) as unknown[]).entries()) checkEntry(list, index, entry, origin);
  }
  const current = value["current-context"];
  if (current != null && typeof current !== "string") {
    throw new ConfigError(`current-context in ${origin} is no text`, { hint: "put it in quotes" });
  }
  return value as Kubeconfig;
}

function checkEntry(list: ListName, index: number, entry: unknown, origin: string): void {
  const what = LISTS[list];
  if (!isObject(entry) || typeof entry.name !== "string" || entry.name === "") {
    throw new ConfigError(`${list}[${index}] in ${origin} has no name`, {
      hint: `write "name: …" beside "${what}: …"; a name that looks like a number needs quotes`,
    });
  }
  if (entry[what] != null && !isObject(entry[what])) {
    throw new ConfigError(`the ${what} "${entry.name}" in ${origin} has no fields`, {
      hint: `indent what belongs to "${what}:"`,
    });
  }
}

/**
 * Several files as one, as kubectl merges them: of two entries of one name, and of two current contexts, the first
 * wins.
 */
export function mergeKubeconfigs(parts: readonly KubeconfigPart[]): MergedKubeconfig {
  const contexts = new Map<string, Entry<KubeconfigContext>>();
  const clusters = new Map<string, Entry<KubeconfigCluster>>();
  const users = new Map<string, Entry<KubeconfigUser>>();
  let currentContext: string | undefined;
  for (const { config, folder, path } of parts) {
    currentContext ??= config["current-context"] || undefined;
    const at = { folder, path };
    for (const { name, context } of config.contexts ?? []) keepFirst(contexts, name, { value: context ?? {}, ...at });
    for (const { name, cluster } of config.clusters ?? []) keepFirst(clusters, name, { value: cluster ?? {}, ...at });
    for (const { name, user } of config.users ?? []) keepFirst(users, name, { value: user ?? {}, ...at });
  }
  const origin = parts.map(({ path }) => path ?? "the given kubeconfig").join(", ");
  return { currentContext, contexts, clusters, users, origin, empty: parts.every(({ empty }) => empty === true) };
}

function keepFirst<T>(map: Map<string, T>, name: string, value: T): void {
  if (!map.has(name)) map.set(name, value);
}
