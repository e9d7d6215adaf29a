import { chmod, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { dataFile, removeTemporaries, syncFolder, type Writing, writeWhole } from "./disk-files.ts";
import { encodeFrame } from "./disk-frames.ts";
import { DiskJournal, removeFiles } from "./disk-journal.ts";
import { type Lock, lockFolder } from "./disk-lock.ts";
import { FIRST_REVISION, type LogEnd, type Recovered, recover } from "./disk-recovery.ts";
import { DataError } from "./errors.ts";
import { preamble } from "./records.ts";

/** What was found in a data folder. */
export interface DataReport {
  /** Absolute path. */
  readonly folder: string;
  /** Objects that were there. */
  readonly objects: number;
  /** A write that was never finished, hence never answered, was cut off. */
  readonly cut: CutTail | undefined;
}

/** The end of a log that was never finished, hence cut off when the data was read. */
export interface CutTail {
  /** The log that it was cut from. */
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /** What was wrong there. */
  readonly what: string;
  /** Where the bytes are now, for the curious. */
  readonly kept: string;
}

/** How a folder of data is taken and written; tests make the files small. */
export interface DataOptions extends Writing {
  readonly rotateBytes?: number;
  /** How the folder is taken. */
  readonly lock?: (folder: string) => Promise<Lock>;
}

/** What a system says about places that cannot be written to. */
const NOT_WRITABLE: ReadonlySet<string | undefined> = new Set(["EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT"]);

/** A folder that a cluster keeps itself in. */
export class DataFolder {
  readonly recovered: Recovered;
  readonly report: DataReport;
  readonly journal: DiskJournal;
  readonly #lock: Lock;
  readonly #sync: boolean;

  private constructor(recovered: Recovered, report: DataReport, journal: DiskJournal, lock: Lock, sync: boolean) {
    this.#sync = sync;
    this.recovered = recovered;
    this.report = report;
    this.journal = journal;
    this.#lock = lock;
  }

  /** Takes a folder over, or makes it. */
  static async open(path: string, options: DataOptions = {}): Promise<DataFolder> {
    const folder = resolve(path);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new DataError(`the data folder ${folder} cannot be made: ${(cause as Error).message}`, {
        hint: "choose another place",
        cause,
      });
    }
    try {
      return await DataFolder.#take(folder, options);
    } catch (cause) {
      if (!NOT_WRITABLE.has((cause as NodeJS.ErrnoException).code)) throw cause;
      throw new DataError(`the data folder ${folder} cannot be written to: ${(cause as Error).message}`, {
        hint: "make it writable for this user, make room on its disk, or choose another place",
        cause,
      });
    }
  }

  static async #take(folder: string, { lock: take = lockFolder, ...options }: DataOptions): Promise<DataFolder> {
    const lock = await take(folder);
    try {
      const { state, log, leftovers } = await recover(folder);
      await removeTemporaries(folder);
      await removeFiles(folder, leftovers);
      const cut = log && (await cutTail(folder, log));
      const end = log ?? (await beginLog(folder, options));
      const revision = state.entries.at(-1)?.revision ?? state.revision;
      const journal = await DiskJournal.open({ folder, ...options }, end, revision);
      return new DataFolder(
        state,
        { folder, objects: countObjects(state), cut },
        journal,
        lock,
        options.sync !== false,
      );
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * A text that must be the same at each start: made once, then kept where only its owner reads it. `check` throws when
   * what was kept cannot be what was made; `without` says what becomes of a cluster that makes it anew.
   */
  async keep(name: string, make: () => string, check: (text: string) => unknown, without: string): Promise<string> {
    const path = join(this.report.folder, name);
    const known = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw new DataError(`${path} cannot be read: ${error.message}`, { cause: error });
    });
    if (known !== undefined) {
      try {
        check(known);
      } catch (cause) {
        throw new DataError(`${path} is damaged: ${(cause as Error).message}`, {
          hint: `restore it from a copy, or remove it: ${without}`,
          cause,
        });
      }
      await chmod(path, 0o600);
      return known;
    }
    const made = make();
    await writeWhole(this.report.folder, name, [made], { sync: this.#sync });
    return made;
  }

  async close(): Promise<void> {
    try {
      await this.journal.close();
    } finally {
      await this.#lock.release();
    }
  }
}

async function beginLog(folder: string, writing: Writing): Promise<LogEnd> {
  const file = dataFile("log", FIRST_REVISION);
  const first = encodeFrame(0, preamble("log", FIRST_REVISION));
  await writeWhole(folder, file.name, [first], writing);
  return { file, bytes: first.length, frames: 1, torn: undefined };
}

/** The bytes are put aside first: should they matter to the user after all, they are still there. */
async function cutTail(folder: string, { file, torn }: LogEnd): Promise<CutTail | undefined> {
  if (!torn) return undefined;
  const path = join(folder, file.name);
  const kept = join(folder, `cut-${file.name}-${torn.offset}`);
  await writeFile(kept, torn.bytes, { mode: 0o600 });
  await syncFolder(folder);
  await truncate(path, torn.offset);
  return { file: path, offset: torn.offset, bytes: torn.bytes.length, what: torn.what, kept };
}

function countObjects({ rows, entries }: Recovered): number {
  const keys = new Set(rows.map(({ resource, key }) => `${resource} ${key}`));
  for (const entry of entries) {
    if (entry.type === "put") keys.add(`${entry.resource} ${entry.key}`);
    else if (entry.type === "delete") keys.delete(`${entry.resource} ${entry.key}`);
  }
  return keys.size;
}
