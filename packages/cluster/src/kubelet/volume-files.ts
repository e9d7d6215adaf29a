import { lookup } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../registry/index.ts";
import {
  containerOf,
  dataOf,
  expand,
  type FindObject,
  fieldOf,
  type NodeAmounts,
  type PodAddresses,
  resourceOf,
} from "./environment.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A token by which a pod is its service account. An empty audience means the API server. */
export type PodToken = (pod: ApiObject, audience: string, seconds: number) => string;

/** A file that a volume brings. */
export interface VolumeFile {
  readonly bytes: Uint8Array;
  /** Permissions: `0o644`. */
  readonly mode: number;
}

/** What files are made of. */
export interface FileSources {
  readonly addresses: PodAddresses;
  readonly node: NodeAmounts;
  readonly find: FindObject;
  readonly token: PodToken;
}

const DEFAULT_MODE = 0o644;
/** What the group of a pod's files may do at least. */
const GROUP_MODE = 0o440;

/** The files of a volume of ConfigMaps, Secrets, tokens and fields of the pod, by their paths in it. */
export function volumeFiles(pod: ApiObject, volume: Fields, sources: FileSources): Map<string, VolumeFile> {
  const files = new Map<string, VolumeFile>();
  const { fsGroup } = objectAt(pod, "spec", "securityContext");
  const shared = fsGroup === undefined ? 0 : GROUP_MODE;
  const projected = objectAt(volume, "projected");
  const given = [volume, ...listAt(projected, "sources")];
  for (const source of given) {
    for (const [path, bytes, own] of contentOf(pod, source, sources)) {
      const mode = own ?? modeOf(projected.defaultMode) ?? DEFAULT_MODE;
      files.set(path, { bytes, mode: mode | shared });
    }
  }
  return files;
}

/** The files that a container finds below its mounts, by their paths. Folders that are its own are not among them. */
export function mountedFiles(
  pod: ApiObject,
  container: Fields,
  env: Readonly<Record<string, string>>,
  sources: FileSources,
): Map<string, VolumeFile> {
  const files = new Map<string, VolumeFile>();
  const volumes = listAt(pod, "spec", "volumes");
  for (const mount of listAt(container, "volumeMounts")) {
    const volume = volumes.find((one) => one.name === mount.name);
    if (!volume) continue;
    const place = trim(String(mount.mountPath));
    const part = trim(
      mount.subPathExpr === undefined ? String(mount.subPath ?? "") : expand(String(mount.subPathExpr), env),
    );
    for (const [path, file] of volumeFiles(pod, volume, sources)) {
      if (part === "") files.set(`/${place}/${path}`, file);
      else if (path === part) files.set(`/${place}`, file);
      else if (path.startsWith(`${part}/`)) files.set(`/${place}/${path.slice(part.length + 1)}`, file);
    }
  }
  return files;
}

const trim = (path: string): string => path.replace(/^\/+|\/+$/g, "");
const modeOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

type Content = [path: string, bytes: Uint8Array, mode: number | undefined];

function contentOf(pod: ApiObject, source: Fields, { addresses, node, find, token }: FileSources): Content[] {
  if (isRecord(source.configMap)) {
    const { name, optional } = source.configMap;
    return chosen(source.configMap, dataOf(pod, "configmaps", "configmap", String(name), optional === true, find));
  }
  if (isRecord(source.secret)) {
    const name = source.secret.secretName ?? source.secret.name;
    const optional = source.secret.optional === true;
    return chosen(source.secret, dataOf(pod, "secrets", "secret", String(name), optional, find));
  }
  const encoder = new TextEncoder();
  if (isRecord(source.serviceAccountToken)) {
    const { path: place, audience, expirationSeconds } = source.serviceAccountToken;
    const text = token(pod, String(audience ?? ""), Number(expirationSeconds ?? 3_600));
    return [[String(place), encoder.encode(text), undefined]];
  }
  const { defaultMode } = objectAt(source, "downwardAPI");
  return listAt(source, "downwardAPI", "items").map((item) => {
    const { resourceFieldRef: resource } = item;
    const text = isRecord(resource)
      ? resourceOf(containerOf(pod, String(resource.containerName)), resource, node)
      : fieldOf(pod, String(objectAt(item, "fieldRef").fieldPath), addresses);
    return [String(item.path), encoder.encode(text), modeOf(item.mode) ?? modeOf(defaultMode)];
  });
}

/** All keys, or those that are listed, under the names that are given there. */
function chosen(source: Fields, data: Record<string, Uint8Array>): Content[] {
  const items = listAt(source, "items");
  const mode = modeOf(source.defaultMode);
  if (items.length === 0) return Object.entries(data).map(([key, bytes]) => [key, bytes, mode]);
  return items.flatMap((item): Content[] => {
    const bytes = lookup(data, String(item.key));
    return bytes === undefined ? [] : [[String(item.path), bytes, modeOf(item.mode) ?? mode]];
  });
}
