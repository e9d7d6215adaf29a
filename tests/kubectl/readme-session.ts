/** The two terminals of somebody who follows a README: `lotse dev` in the one, commands in the other. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { type Outcome, run } from "../run.ts";
import { kubectlPath } from "./kubectl.ts";

/** READMEs are followed in the root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

const START_MS = 60_000;
const STOP_MS = 20_000;

/** See the module comment. */
export class ReadmeSession implements AsyncDisposable {
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #dev: ChildProcess;
  readonly #closed: Promise<void>;
  #text = "";

  private constructor(command: string) {
    this.#folder = mkdtempSync(path.join(os.tmpdir(), "lotse-readme-"));
    const bin = path.join(this.#folder, "bin");
    mkdirSync(bin);
    symlinkSync(kubectlPath(), path.join(bin, "kubectl"));
    this.#env = {
      PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}`,
      KUBECONFIG: path.join(this.#folder, "kubeconfig"),
      KUBECACHEDIR: path.join(this.#folder, "cache"),
      // Else somebody who develops here at the same time would lose the cluster.
      LOTSE_DEV_KUBECONFIG: path.join(this.#folder, "kubeconfig"),
      NO_COLOR: "1",
    };
    // A group of its own, so that npx and everything below it can be stopped together.
    this.#dev = spawn("sh", ["-c", command], {
      cwd: root,
      // What handlers ask for is not written down beside the examples: a test leaves the repository as it is.
      env: { ...process.env, ...this.#env, LOTSE_RECORD: "off" },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const collect = (text: string) => {
      this.#text += text;
    };
    this.#dev.stdout?.setEncoding("utf8").on("data", collect);
    this.#dev.stderr?.setEncoding("utf8").on("data", collect);
    this.#closed = new Promise((resolve) => this.#dev.on("close", () => resolve()));
  }

  /** Runs the README's first command; resolves when the operator is ready. */
  static async open(command: string): Promise<ReadmeSession> {
    const session = new ReadmeSession(command);
    try {
      await vi.waitFor(
        () => {
          if (session.#dev.exitCode !== null) throw new Error(`${command} has ended:\n${session.text}`);
          const told = session.text.includes(`export KUBECONFIG=${session.#env.KUBECONFIG}\n`);
          if (!told || !session.text.includes(" the operator is ready "))
            throw new Error(`not ready:\n${session.text}`);
        },
        { timeout: START_MS, interval: 50 },
      );
      return session;
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What the first terminal shows. */
  get text(): string {
    return this.#text;
  }

  /** Runs a command in the second terminal. */
  shell(command: string): Promise<Outcome> {
    return run("sh", ["-c", command], { cwd: root, env: this.#env });
  }

  /** Ctrl-C in the first terminal; resolves when everything in it has ended. The exit code is npx's own. */
  async close(): Promise<void> {
    this.#signal("SIGINT");
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => reject(new Error(`does not end at Ctrl-C:\n${this.text}`)), STOP_MS);
      cancel = () => clearTimeout(timer);
    });
    await Promise.race([this.#closed, late]).finally(() => cancel());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Gently first: pods that are processes would outlive a cluster that is killed, and keep their ports.
    await this.close().catch(() => {});
    this.#signal("SIGKILL");
    await this.#closed;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#dev.pid === undefined) return;
    try {
      process.kill(-this.#dev.pid, signal);
    } catch {
      // The group has ended by itself.
    }
  }
}
