/** One server to a folder: two that append to the same log would destroy it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DataError } from "./errors.ts";

/** Who holds the lock. A number of a process is used again some day, hence the time of its start. */
interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly host: string;
  /** Tells two holders within one process apart. */
  readonly nonce: string;
}

/** The right to write in a folder, until it is released. */
export interface Lock {
  release(): Promise<void>;
}

const NAME = "lock";
const ATTEMPTS = 5;

/** Takes the lock of a folder, also from a holder that is gone without a word. */
export async function lockFolder(folder: string): Promise<Lock> {
  const path = join(folder, NAME);
  const own: Holder = {
    pid: process.pid,
    started: startOf(process.pid) ?? "",
    host: hostname(),
    nonce: randomBytes(8).toString("hex"),
  };
  const text = JSON.stringify(own);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await createLock(path, text)) return { release: () => releaseLock(path, text) };
    const found = await readFile(path, "utf8").catch(() => undefined);
    if (found === undefined) continue;
    const holder = parseHolder(found);
    if (holder && isAlive(holder)) throw inUse(folder, path, holder);
    await takeAway(path, found, own.nonce);
  }
  throw new DataError(`the lock ${path} cannot be taken`, { hint: "another server is starting on the folder" });
}

/** The file appears with its content: no other process ever reads an empty one. */
async function createLock(path: string, text: string): Promise<boolean> {
  const temporary = `${path}-${randomBytes(6).toString("hex")}.new`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Moves a dead holder's file out of the way; when it turns out to be another process's by now, it is put back. */
async function takeAway(path: string, expected: string, nonce: string): Promise<void> {
  const aside = `${path}-${nonce}.new`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const taken = await readFile(aside, "utf8").catch(() => "");
  if (taken !== expected) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

async function releaseLock(path: string, text: string): Promise<void> {
  const found = await readFile(path, "utf8").catch(() => undefined);
  if (found === text) await rm(path, { force: true });
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, started, host, nonce } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === "number" ? { pid, started: started ?? "", host: host ?? "", nonce: nonce ?? "" } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the holder still runs. Of another machine that cannot be told, so it does. */
function isAlive(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const started = startOf(holder.pid);
  if (started === ENDED) return false;
  return started === undefined || holder.started === "" || started === holder.started;
}

/** A process that was killed has its number until its parent has asked how it ended. */
const ENDED = "ended";

/** When a process began, in whatever unit the system has; undefined where it does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // The name of the program may contain blanks and brackets; the fields begin after its last one.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? ENDED : `${boot}/${fields[18] ?? ""}`;
  } catch {
    return pid === process.pid ? String(Math.round(performance.timeOrigin)) : undefined;
  }
}

function inUse(folder: string, path: string, holder: Holder): DataError {
  const elsewhere = holder.host === hostname() ? "" : ` on ${holder.host}`;
  return new DataError(`the data folder ${folder} is in use by process ${holder.pid}${elsewhere}`, {
    hint: elsewhere === "" ? "stop that server, or use another folder" : `if that server is gone, remove ${path}`,
  });
}
