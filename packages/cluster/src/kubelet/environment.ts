import { lookup, parseQuantity } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../registry/index.ts";
import { StartError } from "./runtime.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Reads an object of the cluster: a ConfigMap or a Secret that a container wants to know. */
export type FindObject = (plural: "configmaps" | "secrets", namespace: string, name: string) => ApiObject | undefined;

/** What a pod's own fields say when its status is known. */
export interface PodAddresses {
  readonly podIp: string;
  readonly hostIp: string;
}

/** What a node has for pods, by resource: `{ cpu: "8" }`. */
export type NodeAmounts = Readonly<Record<string, string>>;

/** The variables that a container's spec asks for, over those that every container has. */
export function containerEnvironment(
  pod: ApiObject,
  container: Fields,
  addresses: PodAddresses,
  base: Readonly<Record<string, string>>,
  find: FindObject,
  node: NodeAmounts,
): Record<string, string> {
  // No prototype: the names are the user's.
  const variables: Record<string, string> = Object.assign(Object.create(null), base);
  for (const source of listAt(container, "envFrom")) {
    const prefix = typeof source.prefix === "string" ? source.prefix : "";
    for (const [key, bytes] of Object.entries(sourceData(pod, source, find))) {
      variables[prefix + key] = new TextDecoder().decode(bytes);
    }
  }
  for (const { name, value, valueFrom } of listAt(container, "env")) {
    const found = isRecord(valueFrom)
      ? readValue(pod, container, valueFrom, addresses, find, node)
      : expand(String(value ?? ""), variables);
    if (found !== undefined) variables[String(name)] = found;
  }
  return variables;
}

/** Replaces `$(NAME)` by variables that are known; `$$` stands for a dollar sign. */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$(\$|\(([^()]*)\))/g, (whole: string, inner: string, name: string | undefined) => {
    if (inner === "$") return "$";
    return name !== undefined && Object.hasOwn(variables, name) ? (variables[name] as string) : whole;
  });
}

function sourceData(pod: ApiObject, source: Fields, find: FindObject): Record<string, Uint8Array> {
  for (const [plural, key, kind] of SOURCES) {
    const reference = source[`${key}Ref`];
    if (isRecord(reference))
      return dataOf(pod, plural, kind, String(reference.name), reference.optional === true, find);
  }
  return {};
}

const SOURCES = [
  ["configmaps", "configMap", "configmap"],
  ["secrets", "secret", "secret"],
] as const;

/** The data of a ConfigMap or Secret; nothing when it may be missing and is. */
export function dataOf(
  pod: ApiObject,
  plural: "configmaps" | "secrets",
  kind: string,
  name: string,
  optional: boolean,
  find: FindObject,
): Record<string, Uint8Array> {
  const object = find(plural, pod.metadata.namespace ?? "", name);
  if (!object) {
    if (optional) return {};
    throw new StartError("CreateContainerConfigError", `${kind} ${JSON.stringify(name)} not found`);
  }
  // No prototype: the keys are the user's.
  const data: Record<string, Uint8Array> = Object.create(null);
  const texts = Object.entries(objectAt(object, "data"));
  const encoder = new TextEncoder();
  for (const [key, value] of texts) {
    data[key] = plural === "secrets" ? fromBase64(String(value)) : encoder.encode(String(value));
  }
  for (const [key, value] of Object.entries(objectAt(object, "binaryData"))) data[key] = fromBase64(String(value));
  return data;
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

function readValue(
  pod: ApiObject,
  container: Fields,
  from: Fields,
  addresses: PodAddresses,
  find: FindObject,
  node: NodeAmounts,
): string | undefined {
  if (isRecord(from.fieldRef)) return fieldOf(pod, String(from.fieldRef.fieldPath), addresses);
  if (isRecord(from.resourceFieldRef)) {
    const { containerName } = from.resourceFieldRef;
    return resourceOf(containerName ? containerOf(pod, String(containerName)) : container, from.resourceFieldRef, node);
  }
  for (const [plural, key, kind] of SOURCES) {
    const reference = from[`${key}KeyRef`];
    if (!isRecord(reference)) continue;
    const optional = reference.optional === true;
    const bytes = lookup(dataOf(pod, plural, kind, String(reference.name), optional, find), String(reference.key));
    if (bytes !== undefined) return new TextDecoder().decode(bytes);
    if (optional) return undefined;
    const title = plural === "secrets" ? "Secret" : "ConfigMap";
    const message = `couldn't find key ${reference.key} in ${title} ${pod.metadata.namespace}/${reference.name}`;
    throw new StartError("CreateContainerConfigError", message);
  }
  return undefined;
}

/** A field of the pod as the downward API names it. */
export function fieldOf(pod: ApiObject, path: string, { podIp, hostIp }: PodAddresses): string {
  const subscript = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path);
  const { metadata } = pod;
  if (subscript) return lookup(metadata[subscript[1] as "labels" | "annotations"], subscript[2] as string) ?? "";
  switch (path) {
    case "metadata.labels":
    case "metadata.annotations":
      return formatMap(path === "metadata.labels" ? metadata.labels : metadata.annotations);
    case "status.podIP":
    case "status.podIPs":
      return podIp;
    case "status.hostIP":
    case "status.hostIPs":
      return hostIp;
    default: {
      const steps = path.split(".");
      const value = lookup(objectAt(pod, ...steps.slice(0, -1)), steps.at(-1) as string);
      return value === undefined || value === null ? "" : String(value);
    }
  }
}

function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join("\n");
}

/** The container of a pod that a reference names. */
export function containerOf(pod: ApiObject, name: string): Fields {
  const all = [...listAt(pod, "spec", "containers"), ...listAt(pod, "spec", "initContainers")];
  return all.find((container) => container.name === name) ?? {};
}

/**
 * An amount as the downward API tells it: how often the divisor fits, rounded up. A container without a limit has the
 * whole node's.
 */
export function resourceOf(container: Fields, reference: Fields, node: NodeAmounts): string {
  const [kind = "", ...rest] = String(reference.resource).split(".");
  const name = rest.join(".");
  const asked = lookup(objectAt(container, "resources", kind), name);
  const amount = String(asked ?? (kind === "limits" ? lookup(node, name) : undefined) ?? "0");
  const divisor = parseQuantity(String(reference.divisor ?? "0")).nanos;
  const unit = divisor === 0n ? 10n ** 9n : divisor;
  return String((parseQuantity(amount).nanos + unit - 1n) / unit);
}
