/** Which processes of this machine belong to a pod, and which ports they have opened. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { listeningSockets, readLsof } from "./process-sockets-table.ts";

/**
 * Every process of a pod has this variable; its value is a path of its own for each run of a container, in the pod's
 * folder. By it one is found that has left its group and its parent, as daemons do.
 */
export const POD_VARIABLE = "LOTSE_POD";

/** Who may have opened a port for a pod. */
export interface PodProcesses {
  /** The pod's folder. */
  readonly folder: string;
  /** The processes that were started for it; each leads a group of its own. */
  readonly leaders: readonly number[];
}

/**
 * Whether it is a process of the pod that answers on a port of this machine's loopback address. Linux tells who holds a
 * socket in `/proc`; elsewhere `lsof` is asked.
 */
export function hasOpened(pod: PodProcesses, port: number): Promise<boolean> {
  return process.platform === "linux" ? hasOpenedOnLinux(pod, port) : hasOpenedBesides(pod, port);
}

async function hasOpenedOnLinux({ folder, leaders }: PodProcesses, port: number): Promise<boolean> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const sockets = listeningSockets(tables[0] ?? "", tables[1] ?? "", port);
  if (sockets.size === 0) return false;
  for (const pid of leaders) if (await treeHolds(pid, sockets)) return true;
  for (const pid of await processesOf(folder)) if (await holds(pid, sockets)) return true;
  return false;
}

async function treeHolds(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  if (await holds(pid, sockets)) return true;
  for (const child of await childrenOf(pid)) if (await treeHolds(child, sockets)) return true;
  return false;
}

/** Of a process that has ended meanwhile, or is another user's, nothing is known: it holds nothing of ours. */
async function holds(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  return targets.some((target) => sockets.has(target));
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
  );
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

async function processesOf(folder: string): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => isOf(await readFile(`/proc/${pid}/environ`, "latin1").catch(() => ""), folder)),
  );
  return pids.filter((_, i) => found[i]).map(Number);
}

/** Whether an environment, as Linux tells it, names `folder` as that of its pod, or a path below it. */
function isOf(environment: string, folder: string): boolean {
  const wanted = Buffer.from(`${POD_VARIABLE}=${folder}`).toString("latin1");
  return environment.split("\0").some((one) => one === wanted || one.startsWith(`${wanted}/`));
}

/**
 * Ends the processes of what is in `folder`: a run of a container, a pod, all pods; also those that have left their groups. Only Linux tells who they
 * are. Never rejects.
 */
export async function endStrays(folder: string): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    for (const pid of await processesOf(folder)) end(pid);
  } catch (error) {
    // No request waits for this, and a server must not end for it; those that are left go with the cluster at the latest.
    process.emitWarning(`processes that a pod left behind could not be looked for: ${(error as Error).message}`);
  }
}

/** The same at once: for the last thing that this process does. */
export function endStraysNow(folder: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (isOf(readFileSync(`/proc/${pid}/environ`, "latin1"), folder)) end(Number(pid));
    } catch {
      // It has ended meanwhile, or is another user's.
    }
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

function hasOpenedBesides({ leaders }: PodProcesses, port: number): Promise<boolean> {
  const flags = ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpg"];
  return new Promise((resolve, reject) => {
    execFile("lsof", flags, (error, stdout) => {
      // It ends with 1 when it has found no process.
      if (error && typeof error.code !== "number") {
        reject(new Error(`lsof, which tells who listens on port ${port}, cannot be run: ${error.message}`));
      } else resolve(readLsof(stdout).some(({ pid, group }) => leaders.includes(group) || leaders.includes(pid)));
    });
  });
}
