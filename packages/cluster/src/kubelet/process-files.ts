import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ApiObject, isRecord, listAt, objectAt } from "../registry/index.ts";
import { dataOf, type FindObject, fieldOf, type PodAddresses } from "./environment.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A place below `base`, wherever a path of a container points: there is no root of its own to start from. */
export function inside(base: string, place: string): string {
  return path.join(base, path.posix.normalize(`/${place}`));
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
): Promise<string> {
  const folder = path.join(podFolder, "containers", String(container.name));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const volumes = listAt(pod, "spec", "volumes");
  for (const mount of listAt(container, "volumeMounts")) {
    const volume = volumes.find((one) => one.name === mount.name);
    if (!volume) continue;
    const source = await makeVolume(podFolder, pod, volume, addresses, find);
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
): Promise<string> {
  const { hostPath } = volume;
  if (isRecord(hostPath)) return String(hostPath.path);
  const folder = path.join(podFolder, "volumes", String(volume.name));
  await mkdir(folder, { recursive: true });
  const projected = listAt(volume, "projected", "sources");
  for (const source of [volume, ...projected]) {
    for (const [name, bytes] of filesOf(pod, source, addresses, find)) {
      const file = inside(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, bytes);
    }
  }
  return folder;
}

function filesOf(pod: ApiObject, source: Fields, addresses: PodAddresses, find: FindObject): [string, Uint8Array][] {
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
    const bytes = data[String(item.key)];
    return bytes === undefined ? [] : [[String(item.path), bytes] as [string, Uint8Array]];
  });
}
