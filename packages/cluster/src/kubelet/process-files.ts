import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { lookup } from "@lotse/client/meta";
import { type ApiObject, isRecord, listAt, objectAt } from "../registry/index.ts";
import { dataOf, type FindObject, fieldOf, type PodAddresses } from "./environment.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A token by which a pod is its service account. An empty audience means the API server. */
export type PodToken = (pod: ApiObject, audience: string, seconds: number) => string;

/** A place below `base`, wherever a path of a container points: there is no root of its own to start from. */
export function inside(base: string, place: string): string {
  return path.resolve(base, `.${path.posix.normalize(`/${place}`)}`);
}

/**
 * A word of a command as the machine must read it: a path in one of the container's mounts leads there, any other word
 * stays as it is. So `cat /etc/settings/colour` finds what the spec mounts at `/etc/settings`.
 */
export function placeWord(word: string, folder: string, container: Fields): string {
  if (!word.startsWith("/")) return word;
  const place = path.posix.normalize(word);
  const mounts = listAt(container, "volumeMounts").map(({ mountPath }) => path.posix.join("/", String(mountPath), "/"));
  return mounts.some((mount) => mount !== "/" && `${place}/`.startsWith(mount)) ? inside(folder, place) : word;
}

/**
 * Makes the directory that a container runs in, empty, with its volumes where it mounts them: `/data` of the spec is
 * `data` in there.
 */
export async function makeDirectory(
  podFolder: string,
  pod: ApiObject,
  container: Fields,
  addresses: PodAddresses,
  find: FindObject,
  token: PodToken,
): Promise<string> {
  const folder = path.join(podFolder, "containers", String(container.name));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const volumes = listAt(pod, "spec", "volumes");
  for (const mount of listAt(container, "volumeMounts")) {
    const volume = volumes.find((one) => one.name === mount.name);
    if (!volume) continue;
    const source = await makeVolume(podFolder, pod, volume, addresses, find, token);
    const target = inside(folder, String(mount.mountPath));
    await mkdir(path.dirname(target), { recursive: true });
    await rm(target, { recursive: true, force: true });
    await symlink(inside(source, String(mount.subPath ?? "")), target);
  }
  return folder;
}

/** Volumes live as long as the pod: what a container wrote into one is there after a restart, and for the others. */
async function makeVolume(
  podFolder: string,
  pod: ApiObject,
  volume: Fields,
  addresses: PodAddresses,
  find: FindObject,
  token: PodToken,
): Promise<string> {
  const { hostPath } = volume;
  if (isRecord(hostPath)) return String(hostPath.path);
  const folder = path.join(podFolder, "volumes", String(volume.name));
  await mkdir(folder, { recursive: true });
  const projected = listAt(volume, "projected", "sources");
  for (const source of [volume, ...projected]) {
    for (const [name, bytes] of filesOf(pod, source, addresses, find, token)) {
      const file = inside(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
  }
  return folder;
}

function filesOf(
  pod: ApiObject,
  source: Fields,
  addresses: PodAddresses,
  find: FindObject,
  token: PodToken,
): [string, Uint8Array][] {
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
    return [[String(place), encoder.encode(text)]];
  }
  return listAt(source, "downwardAPI", "items").map((item) => [
    String(item.path),
    encoder.encode(fieldOf(pod, String(objectAt(item, "fieldRef").fieldPath), addresses)),
  ]);
}

/** All keys, or those that are listed, under the names that are given there. */
function chosen(source: Fields, data: Record<string, Uint8Array>): [string, Uint8Array][] {
  const items = listAt(source, "items");
  if (items.length === 0) return Object.entries(data);
  return items.flatMap((item) => {
    const bytes = lookup(data, String(item.key));
    return bytes === undefined ? [] : [[String(item.path), bytes] as [string, Uint8Array]];
  });
}
