import { execFile } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import path from "node:path";
import type { TerminalSize } from "../runtime.ts";

/**
 * A command that runs the given one in a terminal of its own. Node.js has none to give; on Linux the program `script`
 * does. Undefined where there is none: then a command that wants a terminal has to do with pipes.
 */
export function inTerminal(command: readonly string[], searchPath: string): string[] | undefined {
  if (process.platform !== "linux") return undefined;
  const script = findProgram("script", searchPath);
  if (script === undefined) return undefined;
  const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return [script, "--quiet", "--flush", "--return", "--command", `exec ${line}`, "/dev/null"];
}

/** The file that a name stands for. */
export function findProgram(name: string, searchPath: string): string | undefined {
  if (name.includes("/")) return isExecutable(name) ? name : undefined;
  return searchPath
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tells the terminal that `script` (process `pid`) made how large it is; its programs get the usual signal. */
export function resizeTerminal(pid: number, { width, height }: TerminalSize): void {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    if (!child) return;
    execFile("stty", ["-F", `/proc/${child}/fd/0`, "rows", String(height), "cols", String(width)], () => {});
  } catch {
    // The command has ended meanwhile, or this machine does not tell who its child is: the size stays as it is.
  }
}
