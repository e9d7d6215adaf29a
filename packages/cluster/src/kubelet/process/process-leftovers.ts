/**
 * Folders of pods that no process could remove: the watchdog does it for a process that was killed, but when the machine
 * itself went down there was no watchdog either.
 */
import { lstat, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

const NAME = /^lotse-pods-(\d+)-/;

/** How the folder of this process's pods begins: the sweep can tell by it which process made the folder. */
export const homePrefix = (pid: number): string => `lotse-pods-${pid}-`;

/** A folder that may have been left behind. */
export interface Candidate {
  readonly name: string;
  /** When it last changed, in ms. */
  readonly changedMs: number;
  readonly uid: number;
}

/** What is known of the machine. */
export interface Machine {
  /** When it was started, in ms. */
  readonly bootMs: number;
  /** Whose folders may be removed; undefined where users have no numbers. */
  readonly uid: number | undefined;
  readonly isAlive: (pid: number) => boolean;
}

/**
 * Whether no process can be using a folder. It is not enough that its process is gone: processes of another container that
 * shares the folder cannot be seen from here. Nor that it is older than the machine's start: clocks are put right.
 */
export function isLeftover({ name, changedMs, uid }: Candidate, machine: Machine): boolean {
  const pid = Number(NAME.exec(name)?.[1] ?? 0);
  if (pid === 0 || (machine.uid !== undefined && machine.uid !== uid)) return false;
  return changedMs < machine.bootMs && !machine.isAlive(pid);
}

/** This machine. */
export function thisMachine(): Machine {
  return { bootMs: Date.now() - os.uptime() * 1000, uid: process.getuid?.(), isAlive };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Removes what was left behind in `folder`. What cannot be removed stays: it does no harm. */
export async function sweepLeftovers(folder: string, machine = thisMachine()): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name));
  for (const name of names) {
    const place = path.join(folder, name);
    const found = await lstat(place).catch(() => undefined);
    if (!found || !isLeftover({ name, changedMs: found.mtimeMs, uid: found.uid }, machine)) continue;
    await rm(place, { recursive: true, force: true }).catch(() => {});
  }
}
