import { type ChildProcess, spawn } from "node:child_process";
import os from "node:os";
import type { Readable } from "node:stream";
import type { ByteSink, ByteSource } from "../../bytes/index.ts";
import type { TerminalSize } from "../runtime.ts";
import { findProgram, inTerminal, resizeTerminal } from "./process-terminal.ts";

/** How a process is started. */
export interface ChildOptions {
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tty: boolean;
  /** Whether a client may write to it; else it reads nothing. */
  readonly stdin: boolean;
  /** Called when it has ended, while others may still keep its output open. */
  readonly onExit?: (() => void) | undefined;
}

/** How a process ended: signals count from 128, as shells do it. */
export interface ChildExit {
  readonly exitCode: number;
}

/** One process with those that it starts: they get signals together, and go together. */
export class Child {
  readonly exited: Promise<ChildExit>;
  readonly #process: ChildProcess;
  readonly #terminal: boolean;

  /** Throws when there is no such program. */
  constructor({ command, folder, env, tty, stdin, onExit }: ChildOptions) {
    const [program = "", ...args] = command;
    if (findProgram(program.startsWith(".") ? `${folder}/${program}` : program, env.PATH ?? "") === undefined) {
      throw new Error(`exec: ${JSON.stringify(program)}: executable file not found in $PATH`);
    }
    const wrapped = tty ? inTerminal(command, env.PATH ?? "") : undefined;
    this.#terminal = wrapped !== undefined;
    const [file, ...rest] = wrapped ?? [program, ...args];
    this.#process = spawn(file as string, rest, {
      cwd: folder,
      // The program that makes a terminal runs the command by a shell.
      env: wrapped ? { TERM: "xterm", ...env, SHELL: "/bin/sh" } : env,
      stdio: [stdin || wrapped ? "pipe" : "ignore", "pipe", "pipe"],
      // A group of its own, so that whatever it starts can be reached as well.
      detached: true,
    });
    // It may end without reading what it was sent.
    this.#process.stdin?.on("error", () => {});
    this.exited = new Promise((resolve) => {
      this.#process.once("error", () => resolve({ exitCode: 127 }));
      this.#process.once("close", (code, signal) => resolve({ exitCode: code ?? 128 + signalNumber(signal) }));
      // Those that it left behind go with it, else they would keep its output open.
      this.#process.once("exit", () => {
        this.#signalGroup("SIGKILL");
        onExit?.();
      });
    });
  }

  /** The process that leads the group; undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get stdout(): Readable {
    return this.#process.stdout as Readable;
  }

  get stderr(): Readable {
    return this.#process.stderr as Readable;
  }

  /** Asks it to end. A terminal's end is that of its programs. */
  signal(signal: NodeJS.Signals): void {
    if (this.#terminal) this.#signalGroup(signal);
    else this.#process.kill(signal);
  }

  kill(): void {
    this.#signalGroup("SIGKILL");
  }

  resize(size: TerminalSize): void {
    if (this.#terminal && this.#process.pid !== undefined) resizeTerminal(this.#process.pid, size);
  }

  /** Writes all of `source`, then ends the process's input. */
  async feed(source: ByteSource, end = true): Promise<void> {
    const { stdin } = this.#process;
    if (!stdin) return;
    for await (const chunk of source) {
      if (stdin.destroyed || !stdin.writable) return;
      if (stdin.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        const go = () => {
          stdin.off("drain", go);
          stdin.off("close", go);
          resolve();
        };
        stdin.on("drain", go);
        stdin.on("close", go);
      });
    }
    if (end) stdin.end();
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // No process of the group is left.
    }
  }
}

/** Hands on what a process writes, no faster than it is taken. */
export async function drain(from: Readable, to: ByteSink | undefined): Promise<void> {
  for await (const chunk of from) await to?.write(chunk as Buffer);
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : os.constants.signals[signal];
}
