/** A user's project outside the repository, and the `lotse` command in it as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { installedModules } from "../../packages/lotse/src/cli/terminal/test-project.ts";

/** How a process ended: its exit code, or the signal that it died of. */
export type Ending = number | NodeJS.Signals;

/** A command at work. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ending>;
  out(): string;
  err(): string;
  /** Resolves when `text` was written to either stream, or the function says so; rejects when the command ends before, or after half a minute. */
  says(text: string | RegExp | (() => boolean)): Promise<void>;
}

/** What a command left behind, with the project's folder written as PROJECT. */
export interface Told {
  readonly code: Ending;
  readonly out: string;
  readonly err: string;
}

const PATIENCE_MS = 170_000;

/** See the module comment. */
export class Project {
  readonly folder: string;
  readonly #running = new Set<ChildProcess>();

  constructor() {
    this.folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "lotse-cli-")));
    symlinkSync(installedModules(), path.join(this.folder, "node_modules"));
    this.write("package.json", '{ "type": "module" }');
  }

  write(name: string, text: string): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Settings of TypeScript. */
  writeSettings(): void {
    const compilerOptions = {
      target: "es2023",
      lib: ["es2023", "esnext.disposable"],
      module: "nodenext",
      types: ["node"],
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    };
    this.write("tsconfig.json", JSON.stringify({ compilerOptions }));
  }

  /** Begins a command; the environment is a user's, not that of the tests. */
  begin(
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
    nodeFlags: readonly string[] = [],
  ): Running {
    const bin = path.join(this.folder, "node_modules/lotse/bin/lotse.js");
    return this.launch(process.execPath, [...nodeFlags, bin, ...argv], env);
  }

  /** Begins any program in the same surroundings. */
  launch(program: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn(program, argv, {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, TMPDIR: this.folder, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    const texts = { out: "", err: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      texts.out += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      texts.err += text;
    });
    const ended = new Promise<Ending>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        this.#running.delete(child);
        resolve(code ?? signal ?? 0);
      });
    });
    const [out, err] = [() => texts.out, () => texts.err];
    return { child, ended, out, err, says: (text) => says(text, () => texts.out + texts.err, child, ended) };
  }

  /** Runs a command to its end. */
  async lotse(
    argv: readonly string[],
    env?: Readonly<Record<string, string>>,
    nodeFlags?: readonly string[],
  ): Promise<Told> {
    const running = this.begin(argv, env, nodeFlags);
    const code = await running.ended;
    return { code, out: this.masked(running.out()), err: this.masked(running.err()) };
  }

  masked(text: string): string {
    return text.replaceAll(this.folder, "PROJECT");
  }

  /** Ends what still runs, and removes everything. */
  async remove(): Promise<void> {
    await Promise.all(
      [...this.#running].map(
        (child) =>
          new Promise((resolve) => {
            child.once("close", resolve);
            child.kill("SIGKILL");
          }),
      ),
    );
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function says(
  text: string | RegExp | (() => boolean),
  said: () => string,
  child: ChildProcess,
  ended: Promise<Ending>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream?.off("data", look);
      if (error) reject(error);
      else resolve();
    };
    const look = () => {
      const isSaid =
        typeof text === "function" ? text() : typeof text === "string" ? said().includes(text) : text.test(said());
      if (isSaid) finish();
    };
    const timer = setTimeout(() => finish(new Error(`it did not say ${String(text)}, but:\n${said()}`)), PATIENCE_MS);
    void ended.then((code) => finish(new Error(`it ended with ${code} before it said ${String(text)}:\n${said()}`)));
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", look);
    look();
  });
}
