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

export interface KubeconfigCluster {
  server?: string;
  "certificate-authority"?: string;
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
  "proxy-url"?: string;
}

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
}

interface Entry<T> {
  readonly value: T;
  readonly folder: string | undefined;
}

/** Several kubeconfigs as one, by kubectl's rule: the first file to set a value wins. */
export interface MergedKubeconfig {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  /** The files, for messages. */
  readonly origin: string;
}

/** Checks the parsed text; a YAML file of something else is a common mistake. */
export function checkKubeconfig(value: unknown, origin: string): Kubeconfig {
  // An empty file counts as an empty configuration, as for kubectl.
  if (value === null || value === undefined) return {};
  const lists = ["clusters", "users", "contexts"] as const;
  if (!isObject(value) || lists.some((key) => value[key] != null && !Array.isArray(value[key]))) {
    throw new ConfigError(`${origin} is not a kubeconfig`, {
      hint: "it should have the lists clusters, users and contexts",
    });
  }
  return value as Kubeconfig;
}

export function mergeKubeconfigs(parts: readonly KubeconfigPart[]): MergedKubeconfig {
  const contexts = new Map<string, Entry<KubeconfigContext>>();
  const clusters = new Map<string, Entry<KubeconfigCluster>>();
  const users = new Map<string, Entry<KubeconfigUser>>();
  let currentContext: string | undefined;
  for (const { config, folder } of parts) {
    currentContext ??= config["current-context"] || undefined;
    for (const { name, context } of config.contexts ?? []) keepFirst(contexts, name, { value: context ?? {}, folder });
    for (const { name, cluster } of config.clusters ?? []) keepFirst(clusters, name, { value: cluster ?? {}, folder });
    for (const { name, user } of config.users ?? []) keepFirst(users, name, { value: user ?? {}, folder });
  }
  const origin = parts.map(({ path }) => path ?? "the given kubeconfig").join(", ");
  return { currentContext, contexts, clusters, users, origin };
}

function keepFirst<T>(map: Map<string, T>, name: string, value: T): void {
  if (!map.has(name)) map.set(name, value);
}
