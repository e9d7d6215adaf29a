import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ApiObject, isRecord, listAt } from "../../registry/index.ts";
import { type FileSources, volumeFiles } from "../volume-files.ts";

type Fields = Readonly<Record<string, unknown>>;

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
  sources: FileSources,
): Promise<string> {
  const folder = path.join(podFolder, "containers", String(container.name));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const volumes = listAt(pod, "spec", "volumes");
  for (const mount of listAt(container, "volumeMounts")) {
    const volume = volumes.find((one) => one.name === mount.name);
    if (!volume) continue;
    const source = await makeVolume(podFolder, pod, volume, sources);
    const target = inside(folder, String(mount.mountPath));
    await mkdir(path.dirname(target), { recursive: true });
    await rm(target, { recursive: true, force: true });
    await symlink(inside(source, String(mount.subPath ?? "")), target);
  }
  return folder;
}

/** Volumes live as long as the pod: what a container wrote into one is there after a restart, and for the others. */
async function makeVolume(podFolder: string, pod: ApiObject, volume: Fields, sources: FileSources): Promise<string> {
  const { hostPath } = volume;
  if (isRecord(hostPath)) return String(hostPath.path);
  const folder = path.join(podFolder, "volumes", String(volume.name));
  await mkdir(folder, { recursive: true });
  for (const [name, { bytes }] of volumeFiles(pod, volume, sources)) {
    const file = inside(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  return folder;
}
