// Running other programs, and saying what happens while they run.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

export const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

export const say = (line) => process.stdout.write(`${line}\n`);

/** A failure that the user can act upon: printed as it is, without a stack. */
export class Failure extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a script's main function: a Failure becomes its message and exit code, anything else keeps its stack. */
export async function main(run) {
  // Whoever reads us may stop reading (`| head`), which is no reason for a stack.
  process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 1));
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Failure ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = error instanceof Failure ? error.exitCode : 1;
  }
}

/** Runs a program to its end and collects what it wrote; never rejects for an exit code. */
export function capture(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ exitCode: code ?? 1, signal, stdout, stderr }));
  });
}

/**
 * Runs a program in the foreground. It shares our terminal, hence gets Ctrl-C by itself; SIGTERM and SIGHUP are passed
 * on. We end only after it did, with its exit code (128 + number for a signal, as shells do).
 */
export function foreground(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    const pass = (signal) => child.kill(signal);
    const stay = () => {};
    process.on("SIGTERM", pass).on("SIGHUP", pass).on("SIGINT", stay);
    const done = () => process.off("SIGTERM", pass).off("SIGHUP", pass).off("SIGINT", stay);
    child.on("error", (error) => {
      done();
      reject(error);
    });
    child.on("close", (code, signal) => {
      done();
      resolve(code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1));
    });
  });
}

/** How to call npm: the very npm that runs us when there is one (npm_execpath), else the one in PATH. */
export function npm(args) {
  const self = process.env.npm_execpath;
  if (self && /npm-cli\.[cm]?js$/.test(self)) return [process.execPath, [self, ...args], {}];
  return ["npm", args, process.platform === "win32" ? { shell: true } : {}];
}

/** Says every few seconds that something still runs; returns the function that ends it. */
export function heartbeat(what, everyMs = 5000) {
  const since = performance.now();
  const timer = setInterval(() => say(`  … ${what} (${seconds(since)})`), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Leaves the counts of a suite for .ci/run where it asked for them (the environment variable LOTSE_RESULTS). */
export function leaveResults(passed, failed) {
  const file = process.env.LOTSE_RESULTS;
  if (!file) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ passed, failed }));
}
