/**
 * How Kopf names its annotations, and by which it knows those of other operators.
 *
 * A name is the handler's id with `/`, `<` and `>` replaced, cut to what Kubernetes allows; what was cut off is stood
 * for by a digest. There are two generations: V2 measures the name alone and hashes the id as it is, V1 measured prefix
 * and name together and hashed the replaced id. Kopf reads V2 before V1 and writes both where they differ.
 */
import type { KubeBody } from "@lotse/client";
import { blake2b } from "./blake2b.ts";

/** Longest name that Kubernetes takes. */
const LONGEST_NAME = 63;
const MARKER = "kopf-managed";
const KOPF_PREFIX = "kopf.zalando.org";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Ids of handlers are few; those of sub-handlers may be made up at run time. */
const MOST_REMEMBERED = 1_000;

/** Names the annotations in which Kopf keeps what belongs to an id on a body, in the order in which it reads them. */
export function kopfKeyMaker(prefix: string, v1: boolean): (id: string, body: KubeBody) => readonly string[] {
  // Digests cost more than all the rest of reading an object.
  const made = new Map<string, readonly string[]>();
  return (id, body) => {
    const key = isDeploymentsReplicaSet(body) ? `${id}-ofDRS` : id;
    const known = made.get(key);
    if (known) return known;
    const keys = kopfKeys(key, prefix, v1);
    if (made.size >= MOST_REMEMBERED) made.clear();
    made.set(key, keys);
    return keys;
  };
}

function kopfKeys(key: string, prefix: string, v1: boolean): string[] {
  const second = v2Key(key, prefix);
  const first = v1 ? v1Key(key, prefix) : second;
  return first === second ? [second] : [second, first];
}

/** Kubernetes copies a Deployment's annotations to its ReplicaSets; these need keys of their own. */
function isDeploymentsReplicaSet(body: KubeBody): boolean {
  return body.kind === "ReplicaSet" && (body.metadata?.ownerReferences ?? []).some(({ kind }) => kind === "Deployment");
}

/** Lengths are in characters, not in UTF-16 units, as in Python. */
function v2Key(key: string, prefix: string): string {
  const characters = [...key];
  const suffix = characters.length > LONGEST_NAME ? suffixOf(key) : "";
  return `${prefix}/${safe(key, LONGEST_NAME - suffix.length)}${suffix}`;
}

function v1Key(key: string, prefix: string): string {
  const room = LONGEST_NAME - [...prefix].length - 1;
  const replaced = safe(key);
  const suffix = [...key].length > room ? suffixOf(replaced) : "";
  // With a long prefix this becomes negative, and cuts from the end: what Kopf does is what its keys are called.
  return `${prefix}/${safe(key, room - suffix.length)}${suffix}`;
}

function safe(key: string, end?: number): string {
  return [...key.replaceAll("/", ".").replace(/[<>]/g, "_")].slice(0, end).join("");
}

function suffixOf(key: string): string {
  const digest = Buffer.from(blake2b(Buffer.from(key, "utf8"), 4)).toString("base64");
  return `-${digest.replaceAll("+", "-").replaceAll("/", ".")}`.replace(/[=\-.]+$/, "");
}

/** The annotation that tells other operators whose the prefix is; undefined where the prefix tells it by itself. */
export function kopfMarker(prefix: string): string | undefined {
  return prefix.startsWith("kopf.") ? undefined : `${prefix}/${MARKER}`;
}

/** Those of `keys` that are bookkeeping: of the operators with `prefixes`, of any Kopf operator, of `kubectl apply`. */
export function bookkeeping(keys: readonly string[], prefixes: readonly string[]): string[] {
  const marked = new Set(prefixes);
  for (const key of keys) {
    const [prefix, name] = split(key);
    if (prefix === undefined) continue;
    if (name === MARKER || prefix === KOPF_PREFIX || prefix.endsWith(`.${KOPF_PREFIX}`)) marked.add(prefix);
  }
  return keys.filter((key) => key === LAST_APPLIED || marked.has(split(key)[0] ?? ""));
}

function split(key: string): [prefix: string | undefined, name: string] {
  const slash = key.indexOf("/");
  return slash < 0 ? [undefined, key] : [key.slice(0, slash), key.slice(slash + 1)];
}
