import type { Kubeconfig } from "@lotse/client";
import type { Credentials } from "./access/index.ts";
import { addressWithToken } from "./transport/index.ts";

/** The cluster and the user that a kubeconfig is to name. */
export interface KubeconfigInput {
  readonly name: string;
  readonly url: string;
  /** Empty over plain HTTP, where clients must be told not to insist on TLS. */
  readonly caPem: string;
  readonly user: Credentials;
  /** The name under which the user stands there; that of the cluster unless told. */
  readonly userName?: string;
  /** `default` unless told. */
  readonly namespace?: string;
}

/**
 * A kubeconfig with credentials. Over plain HTTP the server's address carries them, too: kubectl sends no others there.
 */
export function buildKubeconfig(input: KubeconfigInput): Kubeconfig {
  const { name, url, caPem, user, userName = name, namespace = "default" } = input;
  const trust =
    caPem === ""
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": Buffer.from(caPem).toString("base64") };
  const server = caPem === "" && user?.token !== undefined ? addressWithToken(url, user.token) : url;
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name: userName, user }],
    contexts: [{ name, context: { cluster: name, user: userName, namespace } }],
    "current-context": name,
  };
}

/** Texts that YAML takes for nothing but texts, without quotes. */
const PLAIN = /^[A-Za-z/][\w./+=-]*(?::\/\/[\w.:/[\]-]+)?$/;
const KEYWORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

/** A kubeconfig as it stands in a file. A parser of YAML could write it, too, but takes longer to load than a cluster. */
export function kubeconfigText(kubeconfig: Kubeconfig): string {
  return `${lines(kubeconfig, "").join("\n")}\n`;
}

function lines(value: object, indent: string): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    if (Array.isArray(item)) return [`${indent}${key}:`, ...item.flatMap((one) => listItem(one, `${indent}  `))];
    if (typeof item === "object" && item !== null) return [`${indent}${key}:`, ...lines(item, `${indent}  `)];
    return item === undefined ? [] : [`${indent}${key}: ${scalar(item)}`];
  });
}

function listItem(item: object, indent: string): string[] {
  const [first = "", ...rest] = lines(item, `${indent}  `);
  return [`${indent}- ${first.trimStart()}`, ...rest];
}

function scalar(value: unknown): string {
  return typeof value === "string" && PLAIN.test(value) && !KEYWORDS.test(value) ? value : JSON.stringify(value);
}
