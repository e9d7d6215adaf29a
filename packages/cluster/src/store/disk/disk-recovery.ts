/** Reads a data folder back. Looks only; what has to be changed is told in the answer. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JournalEntry, StoredRow } from "../journal.ts";
import { type DataFile, listDataFiles } from "./disk-files.ts";
import { type Scan, scanFrames } from "./disk-frames.ts";
import { DataError, damaged } from "./errors.ts";
import { decodeEntries, decodeRows, type FileKind, FORMAT_VERSION, type Preamble } from "./records.ts";

/** A store as it was: rows at one revision, and what happened after it. */
export interface Recovered {
  readonly revision: number;
  readonly rows: readonly StoredRow[];
  readonly entries: readonly JournalEntry[];
}

/** Where the next record goes, and what must be cut off before. */
export interface LogEnd {
  readonly file: DataFile;
  readonly bytes: number;
  readonly frames: number;
  /** Bytes after the last good record; a write that was cut short. */
  readonly torn: { readonly offset: number; readonly bytes: Buffer; readonly what: string } | undefined;
}

/** What a folder held, and where its log goes on. */
export interface Recovery {
  readonly state: Recovered;
  /** Undefined in a new folder. */
  readonly log: LogEnd | undefined;
  /** What a newer snapshot made superfluous. */
  readonly leftovers: readonly DataFile[];
}

/** The revision of a store in which nothing has happened. */
export const FIRST_REVISION = 1;

/** Reads a folder after a stop of any kind: the newest snapshot and the steps since. Throws when one is missing. */
export async function recover(folder: string): Promise<Recovery> {
  const files = await listDataFiles(folder);
  const base = files.findLast((file) => file.kind === "snapshot");
  const revision = base?.revision ?? FIRST_REVISION;
  const logs = files.filter((file) => file.kind === "log" && file.revision >= revision);
  const leftovers = files.filter((file) => file.revision < revision);
  const rows = base ? await readSnapshot(folder, base) : [];
  if (logs.length === 0 && files.length === 0)
    return { state: { revision, rows, entries: [] }, log: undefined, leftovers };
  if (logs[0]?.revision !== revision) {
    throw new DataError(`the data folder ${folder} has no log that goes on from revision ${revision}`, {
      hint: "a file is missing: restore the folder from a copy, or start with an empty one",
    });
  }
  const entries: JournalEntry[] = [];
  let at = revision;
  let end: LogEnd | undefined;
  for (const [i, file] of logs.entries()) {
    if (file.revision !== at) throw damaged(join(folder, file.name), 0, `it does not go on from revision ${at}`);
    const { scan, payloads, bytes } = await readFrames(folder, file, "log", i === logs.length - 1);
    for (const entry of payloads.flatMap((payload) => decodeEntries(payload.toString()))) {
      if (entry.revision !== at + 1) {
        throw damaged(join(folder, file.name), 0, `revision ${entry.revision} follows ${at}`);
      }
      entries.push(entry);
      at = entry.revision;
    }
    const { damage } = scan;
    end = {
      file,
      bytes: scan.end,
      frames: scan.payloads.length,
      torn: damage && { offset: scan.end, bytes: Buffer.from(bytes.subarray(scan.end)), what: damage.what },
    };
  }
  return { state: { revision, rows, entries }, log: end, leftovers };
}

async function readSnapshot(folder: string, file: DataFile): Promise<StoredRow[]> {
  const { payloads, bytes } = await readFrames(folder, file, "snapshot", false);
  const last = payloads.pop();
  const expected = last && (JSON.parse(last.toString()) as { rows?: number }).rows;
  const rows = payloads.flatMap((payload) => decodeRows(payload.toString()));
  if (expected !== rows.length) throw damaged(join(folder, file.name), bytes.length, "its end is missing");
  return rows;
}

interface Frames {
  readonly bytes: Buffer;
  readonly scan: Scan;
  /** Without the first, which tells what the file is. */
  readonly payloads: Buffer[];
}

async function readFrames(folder: string, file: DataFile, kind: FileKind, mayBeTorn: boolean): Promise<Frames> {
  const path = join(folder, file.name);
  const bytes = await readFile(path);
  const scan = scanFrames(bytes);
  const [first, ...payloads] = scan.payloads;
  // Files appear with their first record in them, so not even the youngest can lack it.
  if (scan.damage && !(mayBeTorn && scan.damage.atEnd && first))
    throw damaged(path, scan.damage.offset, scan.damage.what);
  if (!first) throw damaged(path, 0, "it is empty");
  const { format, version, revision } = JSON.parse(first.toString()) as Partial<Preamble>;
  if (format === `lotse-${kind}` && version !== FORMAT_VERSION) {
    throw new DataError(
      `${path} has version ${version} of the format, and this release reads version ${FORMAT_VERSION}`,
      {
        hint: "use the release that wrote it, or start with an empty folder",
      },
    );
  }
  if (format !== `lotse-${kind}` || revision !== file.revision) throw damaged(path, 0, "it is not what its name says");
  return { bytes, scan, payloads };
}
