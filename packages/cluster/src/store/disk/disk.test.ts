import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Store, type StoredObject } from "../index.ts";
import { DiskJournal } from "./disk-journal.ts";
import { DataError, DataFolder, type DataOptions } from "./index.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "lotse-data-"));
});

afterEach(() => rm(root, { recursive: true, force: true }));

const object = (name: string, value: unknown): StoredObject => ({ metadata: { name, resourceVersion: "" }, value });

/** A store that is kept in a folder. */
async function openStore(folder: string, options: DataOptions = {}, now: () => number = () => 0) {
  const data = await DataFolder.open(folder, options);
  const store = new Store({ now, journal: data.journal });
  const { revision, rows, entries } = data.recovered;
  store.load(revision, rows, entries);
  data.journal.follow({
    state: () => ({ revision: store.revision, rows: store.rows() }),
    freeze: (to, why) => store.freeze(to, why),
  });
  return { data, store };
}

function put(store: Store, key: string, value: unknown): void {
  const current = store.get("r", key);
  if (current) store.update("r", key, current.revision, object(key, value));
  else store.create("r", key, object(key, value));
}

const valuesOf = (store: Store) => Object.fromEntries(store.list("r").map((entry) => [entry.key, entry.object.value]));

/** A folder with the log of several writes, each of them confirmed by itself; closed as if the process was killed. */
async function writtenFolder(values: readonly unknown[]): Promise<{ folder: string; log: string; ends: number[] }> {
  const folder = join(root, `f${Math.random().toString(36).slice(2)}`);
  const { data, store } = await openStore(folder);
  const log = join(folder, "log-0000000000000001");
  const ends = [(await stat(log)).size];
  for (const [i, value] of values.entries()) {
    put(store, `k${i}`, value);
    await data.journal.durable();
    ends.push((await stat(log)).size);
  }
  const copy = `${folder}-killed`;
  await mkdir(copy);
  await copyFile(log, join(copy, "log-0000000000000001"));
  await data.close();
  return { folder: copy, log: join(copy, "log-0000000000000001"), ends };
}

describe("a data folder", () => {
  it("brings everything back: objects, versions, and history to watch from", async () => {
    const folder = join(root, "data");
    const first = await openStore(folder);
    put(first.store, "a", 1);
    put(first.store, "b", { text: "ä \u0000 \ud83d\ude00", list: [null, 1.5, true], __proto__x: {} });
    const seen = first.store.revision;
    put(first.store, "a", 2);
    const gone = first.store.get("r", "b");
    first.store.delete("r", "b", gone?.revision ?? 0);
    const { revision } = first.store;
    await first.data.close();

    const second = await openStore(folder);
    expect(second.store.revision).toBe(revision);
    expect(second.store.rows()).toEqual(first.store.rows());
    expect(second.data.report).toMatchObject({ objects: 1, cut: undefined });
    const events: string[] = [];
    second.store.watch("r", seen, (change) => events.push(`${change.type} ${change.key} ${change.revision}`));
    expect(events).toEqual([`updated a ${seen + 1}`, `deleted b ${seen + 2}`]);
    put(second.store, "c", 3);
    expect(second.store.revision).toBe(revision + 1);
    await second.data.close();
  });

  it("keeps keys that mean something to JavaScript as data", async () => {
    const folder = join(root, "data");
    const first = await openStore(folder);
    const body = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    put(first.store, "a", body);
    await first.data.close();
    const second = await openStore(folder);
    expect(JSON.stringify(second.store.get("r", "a")?.object.value)).toBe(JSON.stringify(body));
    await second.data.close();
  });

  it("counts the revisions that the passing of time takes", async () => {
    const folder = join(root, "data");
    let now = 0;
    const first = await openStore(folder, {}, () => now);
    put(first.store, "a", 1);
    now = 300_000;
    first.store.list("r");
    const { revision } = first.store;
    await first.data.close();
    const second = await openStore(folder);
    expect(second.store.revision).toBe(revision);
    await second.data.close();
  });

  it("confirms a write only when its bytes are in the file", async () => {
    const folder = join(root, "data");
    const { data, store } = await openStore(folder);
    const log = join(folder, "log-0000000000000001");
    const before = (await stat(log)).size;
    for (let i = 0; i < 50; i++) put(store, `k${i}`, i);
    expect(data.journal.settled).toBe(false);
    await data.journal.durable();
    expect(data.journal.settled).toBe(true);
    const text = (await readFile(log)).subarray(before).toString("latin1");
    for (let i = 0; i < 50; i++) expect(text).toContain(`"k${i}"`);
    // One turn of the event loop, one record: the mark of a record occurs once.
    expect(text.split("\u00ffLT\u00fe")).toHaveLength(2);
    await data.close();
  });

  it("replaces a long log by a snapshot, and reads back snapshot and log", async () => {
    const folder = join(root, "data");
    const first = await openStore(folder, { rotateBytes: 2_000 });
    for (let i = 0; i < 300; i++) {
      put(first.store, `k${i % 37}`, "x".repeat(50) + i);
      if (i % 7 === 0) await first.data.journal.durable();
    }
    await first.data.close();
    const files = await readdir(folder);
    expect(files.filter((name) => name.startsWith("snapshot-"))).toHaveLength(1);
    expect(files).not.toContain("log-0000000000000001");
    const second = await openStore(folder);
    expect(second.store.rows()).toEqual(first.store.rows());
    expect(second.store.revision).toBe(first.store.revision);
    await second.data.close();
  });

  it("lets only its owner read it", async () => {
    const folder = join(root, "data");
    const { data, store } = await openStore(folder);
    put(store, "a", 1);
    expect(
      await data.keep(
        "token",
        () => "one",
        () => {},
        "",
      ),
    ).toBe("one");
    expect(
      await data.keep(
        "token",
        () => "two",
        () => {},
        "",
      ),
    ).toBe("one");
    await data.journal.durable();
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
    expect((await stat(folder)).mode & 0o077).toBe(0);
    await data.close();
  });

  it("serves one at a time, and takes over from one that is dead", async () => {
    const folder = join(root, "data");
    const { data } = await openStore(folder);
    await expect(DataFolder.open(folder)).rejects.toThrow(`is in use by process ${process.pid}`);
    await data.close();
    expect(await readdir(folder)).not.toContain("lock");
    const dead = { pid: 2 ** 22 + 1, started: "", host: (await import("node:os")).hostname(), nonce: "x" };
    await writeFile(join(folder, "lock"), JSON.stringify(dead));
    const next = await openStore(folder);
    await next.data.close();
    // The same number, but a process that began at another time.
    await writeFile(join(folder, "lock"), JSON.stringify({ ...dead, pid: process.pid, started: "before the flood" }));
    await (await openStore(folder)).data.close();
    await writeFile(join(folder, "lock"), JSON.stringify({ ...dead, host: "elsewhere" }));
    await expect(DataFolder.open(folder)).rejects.toMatchObject({
      hint: `if that server is gone, remove ${join(folder, "lock")}`,
    });
  });

  it("refuses a format of the future", async () => {
    const { folder, log } = await writtenFolder([1]);
    const { encodeFrame } = await import("./disk-frames.ts");
    await writeFile(log, encodeFrame(0, JSON.stringify({ format: "lotse-log", version: 2, revision: 1 })));
    await expect(DataFolder.open(folder)).rejects.toThrow(
      "has version 2 of the format, and this release reads version 1",
    );
  });

  it("says when a log is missing", async () => {
    const folder = join(root, "data");
    const first = await openStore(folder, { rotateBytes: 500 });
    for (let i = 0; i < 60; i++) {
      put(first.store, `k${i}`, "x".repeat(50));
      await first.data.journal.durable();
    }
    await first.data.close();
    const log = (await readdir(folder)).findLast((name) => name.startsWith("log-")) as string;
    await rm(join(folder, log));
    await expect(DataFolder.open(folder)).rejects.toThrow(/has no log that goes on from revision \d+/);
  });
});

describe("a log that was cut anywhere", () => {
  it("has every write that was confirmed before, and none in part", async () => {
    const values = Array.from({ length: 12 }, (_, i) => "v".repeat(i * 7) + i);
    const { folder, log, ends } = await writtenFolder(values);
    const whole = await readFile(log);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0] as number, max: whole.length }), async (length) => {
        await writeFile(log, whole.subarray(0, length));
        const { data, store } = await openStore(folder);
        const kept = ends.filter((end) => end <= length).length - 1;
        expect(valuesOf(store)).toEqual(Object.fromEntries(values.slice(0, kept).map((value, i) => [`k${i}`, value])));
        expect(data.report.cut === undefined).toBe(ends.includes(length));
        // What is written after a cut can be read, too.
        put(store, "later", length);
        await data.close();
        const again = await openStore(folder);
        expect(again.store.get("r", "later")?.object.value).toBe(length);
        await again.data.close();
      }),
      { numRuns: 60 },
    );
  });

  it("tells what was cut off and keeps the bytes", async () => {
    const { folder, log, ends } = await writtenFolder([1, 2, 3]);
    const whole = await readFile(log);
    const torn = whole.subarray(0, (ends[3] as number) - 5);
    await writeFile(log, torn);
    const { data } = await openStore(folder);
    expect(data.report.cut).toMatchObject({
      file: log,
      offset: ends[2],
      bytes: torn.length - (ends[2] as number),
      what: "it ends too early",
    });
    expect(await readFile(data.report.cut?.kept as string)).toEqual(torn.subarray(ends[2]));
    await data.close();
  });

  it("takes zeros that a file system left at the end for an unfinished write", async () => {
    const { folder, log } = await writtenFolder([1, 2, 3]);
    await writeFile(log, Buffer.concat([await readFile(log), Buffer.alloc(4_096)]));
    const { data, store } = await openStore(folder);
    expect(data.report.cut?.bytes).toBe(4_096);
    expect(store.count("r")).toBe(3);
    await data.close();
  });
});

describe("a log that was damaged", () => {
  it("is left alone when the damage is before its last record, and never read wrongly", async () => {
    const values = Array.from({ length: 10 }, (_, i) => ({ text: "v".repeat(i * 5), i }));
    const { folder, log, ends } = await writtenFolder(values);
    const whole = await readFile(log);
    const all = Object.fromEntries(values.map((value, i) => [`k${i}`, value]));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const bytes = Buffer.from(whole);
          bytes[at] = (bytes[at] as number) ^ flip;
          await writeFile(log, bytes);
          if (at < (ends.at(-2) as number)) {
            await expect(DataFolder.open(folder)).rejects.toBeInstanceOf(DataError);
            expect(await readFile(log)).toEqual(bytes);
            expect(await readdir(folder)).not.toContain("lock");
            return;
          }
          const { data, store } = await openStore(folder);
          const { k9: _, ...before } = all;
          expect(valuesOf(store)).toEqual(before);
          await data.close();
        },
      ),
      { numRuns: 80 },
    );
  });

  it("is told with the file, the place, and what to do", async () => {
    const { folder, log, ends } = await writtenFolder([1, 2, 3]);
    const bytes = await readFile(log);
    bytes[(ends[1] as number) + 30] = 0x7f;
    await writeFile(log, bytes);
    await expect(DataFolder.open(folder)).rejects.toMatchObject({
      code: "LOTSE_DATA",
      message: `the data in ${log} is damaged at byte ${ends[1]}: its checksum is wrong`,
      hint: "nothing was changed: restore the folder from a copy, or start with an empty one",
    });
  });

  it("counts as damaged also in its last record when the server had stopped in peace", async () => {
    const folder = join(root, "data");
    const { data, store } = await openStore(folder);
    put(store, "a", 1);
    await data.close();
    const log = join(folder, "log-0000000000000001");
    const bytes = await readFile(log);
    bytes[bytes.indexOf('"a"') + 1] = 0x62;
    await writeFile(log, bytes);
    await expect(DataFolder.open(folder)).rejects.toThrow("its checksum is wrong");
  });

  it("counts as damaged in a snapshot wherever it is", async () => {
    const folder = join(root, "data");
    const first = await openStore(folder, { rotateBytes: 500 });
    for (let i = 0; i < 60; i++) {
      put(first.store, `k${i}`, "x".repeat(50));
      await first.data.journal.durable();
    }
    await first.data.close();
    const name = (await readdir(folder)).find((file) => file.startsWith("snapshot-")) as string;
    const whole = await readFile(join(folder, name));
    for (const length of [whole.length - 1, whole.length >> 1, 10, 0]) {
      await writeFile(join(folder, name), whole.subarray(0, length));
      await expect(DataFolder.open(folder)).rejects.toBeInstanceOf(DataError);
    }
  });
});

describe("a disk that fails", () => {
  it("makes every promise fail from then on", async () => {
    await symlink("/dev/full", join(root, "full"));
    const end = { file: { kind: "log", revision: 1, name: "full" }, bytes: 0, frames: 1, torn: undefined } as const;
    const journal = await DiskJournal.open({ folder: root }, end, 1);
    const store = new Store({ now: () => 0, journal });
    put(store, "a", 1);
    await expect(journal.durable()).rejects.toThrow(`the data in ${root} cannot be written: ENOSPC`);
    put(store, "b", 2);
    await expect(journal.durable()).rejects.toMatchObject({ code: "LOTSE_DATA" });
    expect(journal.settled).toBe(false);
    await journal.close();
  });

  it("takes the store back to what is on disk, which can be read on and not changed", async () => {
    let full = false;
    const write: NonNullable<DataOptions["write"]> = async (file, bytes) => {
      if (full) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      return (await file.write(bytes)).bytesWritten;
    };
    const { data, store } = await openStore(join(root, "data"), { write });
    put(store, "a", 1);
    put(store, "b", 1);
    await data.journal.durable();
    const { revision } = store;
    full = true;
    put(store, "a", 2);
    put(store, "c", 1);
    store.delete("r", "b", store.get("r", "b")?.revision ?? 0);
    await expect(data.journal.durable()).rejects.toThrow("ENOSPC");
    expect(data.journal.frozen).toBe(true);
    expect(valuesOf(store)).toEqual({ a: 1, b: 1 });
    expect(store.revision).toBe(revision);
    expect(() => put(store, "a", 3)).toThrow("cannot be written: ENOSPC");
    const seen: unknown[] = [];
    store.watch("r", 1, (change) => seen.push([change.key, change.object.value]));
    expect(seen).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    await data.close();
  });

  it("may take what it is given in several steps, and is not believed when it takes nothing", async () => {
    let most = 7;
    const write: NonNullable<DataOptions["write"]> = async (file, bytes) =>
      most === 0 ? 0 : (await file.write(bytes.subarray(0, most))).bytesWritten;
    const folder = join(root, "data");
    const first = await openStore(folder, { write, rotateBytes: 300 });
    for (let i = 0; i < 10; i++) {
      put(first.store, `k${i}`, "x".repeat(100));
      await first.data.journal.durable();
    }
    most = 0;
    put(first.store, "lost", 1);
    await expect(first.data.journal.durable()).rejects.toThrow(/only 0 of \d+ bytes were written/);
    await first.data.close();
    const second = await openStore(folder);
    expect(Object.keys(valuesOf(second.store))).toHaveLength(10);
    await second.data.close();
  });

  it.each(["EROFS", "EACCES"])("cannot be written to at all (%s): a sentence says so", async (code) => {
    const lock = () => Promise.reject(Object.assign(new Error(`${code}: open`), { code }));
    const opening = DataFolder.open(join(root, "data"), { lock });
    await expect(opening).rejects.toMatchObject({
      code: "LOTSE_DATA",
      message: expect.stringContaining(`the data folder ${join(root, "data")} cannot be written to: ${code}`),
    });
  });

  it("goes on with its log when it cannot begin another", async () => {
    const folder = join(root, "data");
    const { data, store } = await openStore(folder, { rotateBytes: 100 });
    await mkdir(join(folder, `log-${String(store.revision + 1).padStart(16, "0")}.new`));
    for (let i = 0; i < 3; i++) {
      put(store, `k${i}`, "x".repeat(200));
      await data.journal.durable();
    }
    await data.close();
    await rm(join(folder, `log-${String(2).padStart(16, "0")}.new`), { recursive: true });
    const again = await openStore(folder);
    expect(again.store.count("r")).toBe(3);
    await again.data.close();
  });
});
