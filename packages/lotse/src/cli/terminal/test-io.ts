/** An {@link Io} for tests: nothing of the real process is touched. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";
import { main } from "../main.ts";
import type { Exports, LoadedOperator, ModuleLoader } from "../project/index.ts";
import { type RunOptions, runOperators } from "../run/index.ts";
import { type CodeAccess, type ProjectIo, type ScanResult, scanOperator } from "../scan/index.ts";
import type { StopSignal, UncaughtListener, UncaughtOrigin } from "./io.ts";
import { installedModules } from "./test-project.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

/** An {@link Io} that remembers what was written, and whose signals and keys a test sends. */
export interface TestIo extends ProjectIo {
  out(): string;
  err(): string;
  send(signal: StopSignal): void;
  press(key: string): void;
  /** As if the process had got SIGUSR2. */
  askForProfile(): void;
  /** As if no code had caught an error. */
  escape(error: unknown, origin: UncaughtOrigin): void;
  readonly exits: readonly number[];
  /** Resolves when the command listens to signals: from then on the command can be stopped. */
  readonly listening: Promise<void>;
}

/** Makes a {@link TestIo}. */
export function testIo(
  o: { cwd?: string; env?: Record<string, string>; tty?: boolean; now?: () => number; code?: CodeAccess } = {},
): TestIo {
  const texts = { out: "", err: "" };
  const exits: number[] = [];
  const signals = new Set<(signal: StopSignal) => void>();
  const keys = new Set<(key: string) => void>();
  const profiles = new Set<() => void>();
  const uncaught: UncaughtListener[] = [];
  let heard: () => void = () => {};
  const listening = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const output = (name: "out" | "err") => ({
    isTTY: o.tty ?? false,
    write: (text: string) => {
      texts[name] += text;
    },
  });
  return {
    stdout: output("out"),
    stderr: output("err"),
    env: o.env ?? {},
    cwd: o.cwd ?? "/",
    uptime: o.now ?? (() => 0),
    onSignal: (listener) => {
      signals.add(listener);
      heard();
      return () => signals.delete(listener);
    },
    onProfileSignal: (listener) => {
      profiles.add(listener);
      return () => profiles.delete(listener);
    },
    onKey: o.tty
      ? (listener) => {
          keys.add(listener);
          return () => keys.delete(listener);
        }
      : undefined,
    onUncaught: (listener) => {
      uncaught.push(listener);
      return () => uncaught.splice(uncaught.lastIndexOf(listener), 1);
    },
    exit: (code) => exits.push(code),
    code: o.code,
    out: () => texts.out,
    err: () => texts.err,
    send: (signal) => {
      for (const listener of [...signals]) listener(signal);
    },
    press: (key) => {
      for (const listener of [...keys]) listener(key);
    },
    askForProfile: () => {
      for (const listener of [...profiles]) listener();
    },
    escape: (error, origin) => uncaught.at(-1)?.(error, origin),
    exits,
    listening,
  };
}

/** Runs a command in this process to its end: its exit code, and what it wrote. */
export async function runCommand(
  argv: readonly string[],
  options: Parameters<typeof testIo>[0],
): Promise<{ code: number; out: string; err: string }> {
  const io = testIo(options);
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

/** `lotse run` of operators that are loaded already, in this process; `end` asks it to stop, and has its exit code. */
export function beginRun(
  operators: readonly LoadedOperator[],
  flags: RunOptions,
  options: Parameters<typeof testIo>[0],
): AsyncDisposable & { end(): Promise<number> } {
  const io = testIo(options);
  const ended = runOperators(operators, flags, io);
  const end = async () => {
    await Promise.race([io.listening, ended]);
    io.send("SIGINT");
    return ended;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

/**
 * Loads and reads each file once for as long as it stays the same: for tests that make several things of one operator.
 * Each reading takes the compiler a second or more.
 */
export function rememberedCode(): CodeAccess {
  const loader = freshLoader();
  const loads = new Map<string, Promise<Exports>>();
  const scans = new WeakMap<object, Promise<ScanResult>>();
  return {
    loader: {
      load: (file) => {
        const key = JSON.stringify([file, readFileSync(file, "utf8")]);
        const loaded = loads.get(key) ?? loader.load(file);
        loads.set(key, loaded);
        return loaded;
      },
    },
    scan: (loaded, cwd) => {
      const scanned = scans.get(loaded.operator) ?? scanOperator(loaded, cwd);
      scans.set(loaded.operator, scanned);
      return scanned;
    },
  };
}

/**
 * Loads a user's file anew each time. Inside of this repository Node.js itself does, with another name for the same file;
 * elsewhere the packages are not found, and come from bundles.
 */
export function freshLoader(): Pick<ModuleLoader, "load"> {
  let alias: Record<string, string> | undefined;
  return {
    load: (file) => {
      const url = pathToFileURL(file).href;
      if (file.startsWith(ROOT)) return import(`${url}?load=${randomUUID()}`) as Promise<Exports>;
      alias ??= bundles();
      const options = { moduleCache: false, interopDefault: false, tsconfigPaths: true, alias };
      return createJiti(url, options).import<Exports>(file);
    },
  };
}

/** Where a user's imports of the framework lead to. */
function bundles(): Record<string, string> {
  const modules = installedModules();
  const entries = { lotse: "lotse/dist/index.js", "lotse/client": "lotse/dist/client.js" };
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(modules, file)]));
}
