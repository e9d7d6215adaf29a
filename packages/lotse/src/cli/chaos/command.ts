/** The command that harm is done to: started again when it was killed or has died, as a Deployment does. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Io, Problem } from "../terminal/index.ts";
import type { CommandLife, Witness } from "./witness.ts";

/** How long it may take to stop. */
const GRACE_MS = 10_000;
/** Before it is started again after it has died by itself. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** See the module comment. */
export class OperatorCommand {
  readonly #argv: readonly string[];
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #io: Pick<Io, "cwd" | "stderr">;
  readonly #witness: Witness;
  readonly #now: () => number;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #isKilled = false;

  constructor(
    argv: readonly string[],
    o: {
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly io: Pick<Io, "cwd" | "stderr">;
      readonly witness: Witness;
      readonly now: () => number;
    },
  ) {
    this.#argv = argv;
    this.#env = o.env;
    this.#io = o.io;
    this.#witness = o.witness;
    this.#now = o.now;
  }

  /** Whether there is one at work. */
  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Runs it again and again. Resolves when it was stopped, or has ended with success. */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isOver) {
      const life = await this.#live();
      if (this.#isOver || (life.end === "itself" && life.code === 0)) return;
      if (life.end === "killed") {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }

  /** As `kill -9` does; resolves when it is dead. */
  readonly kill = async (): Promise<void> => {
    this.#isKilled = true;
    this.#send("SIGKILL");
    await this.#ended;
  };

  /** Asks it to stop, and insists. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#send("SIGTERM");
    const patience = new AbortController();
    const insist = delay(GRACE_MS, undefined, { signal: patience.signal }).then(
      () => this.#send("SIGKILL"),
      () => undefined,
    );
    await this.#ended;
    patience.abort();
    await insist;
  }

  async #live(): Promise<CommandLife> {
    const [program = "", ...args] = this.#argv;
    const life: CommandLife = { startedMs: this.#now() };
    const child = spawn(program, args, {
      cwd: this.#io.cwd,
      env: this.#env as NodeJS.ProcessEnv,
      // What it starts itself dies with it, and Ctrl-C reaches it only through us.
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => this.#io.stderr.write(text));
    }
    const ended = once(child, "close") as Promise<[number | null, string | null]>;
    this.#ended = ended.catch(() => undefined);
    this.#isKilled = false;
    let code: number | null;
    let signal: string | null;
    try {
      [code, signal] = await ended;
    } catch (cause) {
      throw new Problem(
        { what: `${program} cannot be started`, why: (cause as Error).message, todo: "name a program behind --" },
        { exitCode: 2, cause },
      );
    }
    const end = this.#isKilled ? "killed" : this.#isOver ? "stopped" : "itself";
    Object.assign(life, { endedMs: this.#now(), code, signal, end, lastFault: this.#witness.lastFault });
    this.#witness.lives.push(life);
    return life;
  }

  #send(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined || !this.isRunning) return;
    try {
      if (process.platform === "win32") this.#child?.kill(signal);
      else process.kill(-pid, signal);
    } catch (error) {
      // It has ended in this very moment.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
