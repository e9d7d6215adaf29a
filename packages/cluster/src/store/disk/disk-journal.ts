/**
 * The store's steps on disk. All that come in one turn of the event loop, and all that come while the disk is busy, go
 * down together with one sync: that is what makes it fast under load without ever answering too early.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Durability, Journal, JournalEntry, StoredRow } from "../journal.ts";
import { type DataFile, dataFile, listDataFiles, type Writing, writeAll, writeWhole } from "./disk-files.ts";
import { encodeFrame } from "./disk-frames.ts";
import type { LogEnd } from "./disk-recovery.ts";
import { DataError } from "./errors.ts";
import { encodeEntries, encodeRows, FAREWELL, preamble, trailer } from "./records.ts";

/** What a snapshot is made of, taken in one moment. */
export interface StoreState {
  readonly revision: number;
  readonly rows: readonly StoredRow[];
}

/** Where a journal writes to, and when it begins a new file. */
export interface JournalOptions extends Writing {
  readonly folder: string;
  /** The log is replaced by a snapshot when it is larger than this, and twice as large as the last snapshot. */
  readonly rotateBytes?: number;
}

/** The store whose steps are written down. */
export interface FollowedStore {
  /** What it is now. */
  readonly state: () => StoreState;
  /** Takes it back to a revision, for good; false when it cannot go back so far. */
  readonly freeze: (revision: number, why: Error) => boolean;
}

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const ROTATE_BYTES = 16 * 1_024 * 1_024;
/** Entries that go into one frame; a longer batch becomes several. */
const FRAME_ENTRIES = 1_000;
const SNAPSHOT_ROWS = 200;

/** Writes down each step of a store before a client is told that it was done. */
export class DiskJournal implements Journal, Durability {
  readonly #folder: string;
  readonly #rotateBytes: number;
  readonly #writing: Writing;
  #file: FileHandle;
  #name: string;
  #frames: number;
  #bytes: number;
  #pending: JournalEntry[] = [];
  #appended: number;
  #synced: number;
  #waiters: Waiter[] = [];
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  #store: FollowedStore | undefined;
  #frozen = false;
  #snapshot: Promise<void> | undefined;
  #snapshotBytes = 0;
  #closed = false;

  private constructor(options: JournalOptions, file: FileHandle, end: LogEnd, revision: number) {
    this.#folder = options.folder;
    this.#rotateBytes = options.rotateBytes ?? ROTATE_BYTES;
    this.#writing = { sync: options.sync, write: options.write };
    this.#file = file;
    this.#name = end.file.name;
    this.#frames = end.frames;
    this.#bytes = end.bytes;
    this.#appended = revision;
    this.#synced = revision;
  }

  /** Goes on at the end of a log; `revision` is the last one in it. */
  static async open(options: JournalOptions, end: LogEnd, revision: number): Promise<DiskJournal> {
    return new DiskJournal(options, await open(join(options.folder, end.file.name), "a", 0o600), end, revision);
  }

  /** From now on logs that grow are replaced by snapshots of this store, and a disk that fails takes it back. */
  follow(store: FollowedStore): void {
    this.#store = store;
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  get settled(): boolean {
    return this.#failure === undefined && this.#synced === this.#appended;
  }

  append(entry: JournalEntry): void {
    this.#appended = entry.revision;
    if (this.#failure !== undefined) return;
    this.#pending.push(entry);
    this.#running ??= this.#run();
  }

  durable(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#synced === this.#appended) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ revision: this.#appended, resolve, reject }));
  }

  /** Writes what is left and proves that all of it is whole. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#running;
    await this.#snapshot;
    try {
      if (this.#failure === undefined) await this.#write(FAREWELL);
    } finally {
      await this.#file.close();
    }
  }

  async #run(): Promise<void> {
    // Every write of this turn of the event loop joins the first one.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      while (this.#pending.length > 0) {
        await this.#writeAll(this.#take());
        if (this.#isTooLong()) await this.#rotate();
      }
    } catch (error) {
      this.#fail(error as Error);
    } finally {
      this.#running = undefined;
    }
  }

  #take(): JournalEntry[] {
    const batch = this.#pending;
    this.#pending = [];
    return batch;
  }

  async #writeAll(batch: readonly JournalEntry[]): Promise<void> {
    for (let start = 0; start < batch.length; start += FRAME_ENTRIES) {
      const part = batch.slice(start, start + FRAME_ENTRIES);
      await this.#write(encodeEntries(part));
      this.#confirm((part.at(-1) as JournalEntry).revision);
    }
  }

  /** The next frame is begun only after this one is down: reading the log back relies on it. */
  async #write(json: string): Promise<void> {
    const frame = encodeFrame(this.#frames, json);
    await writeAll(this.#file, frame, this.#writing.write);
    if (this.#writing.sync !== false) await this.#file.datasync();
    this.#frames++;
    this.#bytes += frame.length;
  }

  #confirm(revision: number): void {
    this.#synced = revision;
    const waiting: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.revision <= revision) waiter.resolve();
      else waiting.push(waiter);
    }
    this.#waiters = waiting;
  }

  /**
   * What became of the data on disk is not known any more, and trying again would not tell: nothing is promised again.
   * What was written before can still be read, so the store goes back to it.
   */
  #fail(cause: Error): void {
    this.#failure = new DataError(`the data in ${this.#folder} cannot be written: ${cause.message}`, {
      hint: "make room on the disk or repair it, and start again: all that was answered before is there",
      cause,
    });
    this.#pending = [];
    this.#frozen = this.#store?.freeze(this.#synced, this.#failure) ?? false;
    for (const waiter of this.#waiters) waiter.reject(this.#failure);
    this.#waiters = [];
  }

  #isTooLong(): boolean {
    if (this.#store === undefined || this.#snapshot !== undefined) return false;
    return this.#bytes > Math.max(this.#rotateBytes, 2 * this.#snapshotBytes);
  }

  /**
   * Ends this log and begins the next. The state is taken in the same moment as the last entries of this log, so that the
   * snapshot is exactly what the next log goes on from. Until it is written, the old files stay and are enough.
   */
  async #rotate(): Promise<void> {
    const state = (this.#store as FollowedStore).state();
    await this.#writeAll(this.#take());
    const next = dataFile("log", state.revision);
    const first = encodeFrame(0, preamble("log", state.revision));
    let file: FileHandle;
    try {
      await writeWhole(this.#folder, next.name, [first], this.#writing);
      file = await open(join(this.#folder, next.name), "a", 0o600);
    } catch {
      // No new log, so this one grows on; a disk that is full will say so with the next record.
      this.#snapshotBytes = this.#bytes;
      return;
    }
    await this.#file.close();
    this.#file = file;
    this.#name = next.name;
    this.#frames = 1;
    this.#bytes = first.length;
    this.#snapshot = this.#writeSnapshot(state).finally(() => {
      this.#snapshot = undefined;
    });
  }

  async #writeSnapshot(state: StoreState): Promise<void> {
    let bytes = 0;
    const frames = function* (): Iterable<Buffer> {
      for (const frame of snapshotFrames(state)) {
        bytes += frame.length;
        yield frame;
      }
    };
    try {
      await writeWhole(this.#folder, dataFile("snapshot", state.revision).name, frames(), this.#writing);
      this.#snapshotBytes = bytes;
      await removeFiles(
        this.#folder,
        (await listDataFiles(this.#folder)).filter(
          (file) => file.revision < state.revision && file.name !== this.#name,
        ),
      );
    } catch {
      // The logs are all there, so nothing is lost; the next rotation tries again.
      this.#snapshotBytes = Math.max(this.#snapshotBytes, this.#rotateBytes);
    }
  }
}

function* snapshotFrames({ revision, rows }: StoreState): Iterable<Buffer> {
  let number = 0;
  yield encodeFrame(number++, preamble("snapshot", revision));
  for (let start = 0; start < rows.length; start += SNAPSHOT_ROWS) {
    yield encodeFrame(number++, encodeRows(rows.slice(start, start + SNAPSHOT_ROWS)));
  }
  yield encodeFrame(number, trailer(rows.length));
}

/** Removes files that a snapshot has made superfluous; those that are gone already are fine. */
export async function removeFiles(folder: string, files: readonly DataFile[]): Promise<void> {
  for (const file of files) await rm(join(folder, file.name), { force: true });
}
