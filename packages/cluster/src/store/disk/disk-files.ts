/** Names of the files of a data folder, and the few ways in which they are written. */
import { chmod, type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FileKind } from "./records.ts";

/** A log or a snapshot. The number is in the name, so that the folder alone tells what belongs together. */
export interface DataFile {
  readonly kind: FileKind;
  readonly revision: number;
  readonly name: string;
}

const NAME = /^(log|snapshot)-(\d{16})$/;

/** The file that begins at a revision. Names sort as revisions do. */
export function dataFile(kind: FileKind, revision: number): DataFile {
  return { kind, revision, name: `${kind}-${String(revision).padStart(16, "0")}` };
}

/** The logs and snapshots of a folder, oldest first. */
export async function listDataFiles(folder: string): Promise<DataFile[]> {
  const files: DataFile[] = [];
  for (const name of await readdir(folder)) {
    const match = NAME.exec(name);
    if (match) files.push({ kind: match[1] as FileKind, revision: Number(match[2]), name });
  }
  return files.sort((a, b) => a.revision - b.revision);
}

const TEMPORARY = ".new";

/** What a write that was cut short has left. It was never part of the data. */
export async function removeTemporaries(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    // Those of the lock belong to a process that is just trying to get it.
    if (name.endsWith(TEMPORARY) && !name.startsWith("lock")) await rm(join(folder, name), { force: true });
  }
}

/** Writes to the end of a file; resolves to how many bytes went down, which may be fewer. */
export type WriteBytes = (file: FileHandle, bytes: Uint8Array) => Promise<number>;

/** Writes to a real file; tests pass one that fails. */
export const writeBytes: WriteBytes = async (file, bytes) => (await file.write(bytes)).bytesWritten;

/** How files are written. */
export interface Writing {
  /** How bytes get to the disk. */
  readonly write?: WriteBytes | undefined;
  /** False: nothing waits for the disk, and what was written survives the process but not the machine. */
  readonly sync?: boolean | undefined;
}

/** All of it, however many steps the system takes; a step that gets nowhere is an error. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, write: WriteBytes = writeBytes): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const more = await write(file, bytes.subarray(done));
    if (more <= 0) throw new Error(`only ${done} of ${bytes.length} bytes were written`);
    done += more;
  }
}

/** Writes a file that is there whole or not at all, whatever happens meanwhile. Only its owner can read it. */
export async function writeWhole(
  folder: string,
  name: string,
  chunks: Iterable<Buffer | string>,
  { sync = true, write = writeBytes }: Writing = {},
): Promise<void> {
  const path = join(folder, name);
  const temporary = `${path}${TEMPORARY}`;
  const file = await open(temporary, "w", 0o600);
  try {
    for (const chunk of chunks) await writeAll(file, Buffer.from(chunk as string), write);
    if (sync) await file.sync();
  } finally {
    await file.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, path);
  if (sync) await syncFolder(folder);
}

/** A new name in a folder is on disk only when the folder is. */
export async function syncFolder(folder: string): Promise<void> {
  let directory: Awaited<ReturnType<typeof open>>;
  try {
    directory = await open(folder, "r");
  } catch {
    return; // Some systems do not open folders; they keep names by themselves.
  }
  try {
    await directory.sync();
  } catch {
    // The same.
  } finally {
    await directory.close();
  }
}
