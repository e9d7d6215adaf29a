import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";

/** One running server of the real cluster, its log in a file. */
export class ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #ended: Promise<void>;
  #running = true;

  private constructor(name: string, child: ChildProcess, pid: number, logFile: string) {
    this.name = name;
    this.pid = pid;
    this.#child = child;
    this.#logFile = logFile;
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => {
        this.#running = false;
        resolve();
      });
    });
  }

  /** Starts a program. It is the leader of its own process group: Ctrl-C reaches the test, and the test ends it. */
  static async start(program: string, args: readonly string[], folder: string): Promise<ServerProcess> {
    const name = path.basename(program);
    const logFile = path.join(folder, `${name}.log`);
    const log = openSync(logFile, "a");
    try {
      const child = spawn(program, args, { cwd: folder, detached: true, stdio: ["ignore", log, log] });
      const pid = await new Promise<number>((resolve, reject) => {
        child.once("spawn", () => resolve(child.pid ?? 0));
        child.once("error", (error) => reject(new Error(`${name} does not start: ${error.message}`)));
      });
      return new ServerProcess(name, child, pid, logFile);
    } finally {
      closeSync(log);
    }
  }

  get running(): boolean {
    return this.#running;
  }

  /** The last lines that the server wrote. */
  tail(lines = 20): string {
    return readFileSync(this.#logFile, "utf8").trim().split("\n").slice(-lines).join("\n");
  }

  /** Asks the server to end, waits for its end, and ends it by force when it takes longer than `patienceMs`. */
  async stop(patienceMs = 15_000): Promise<void> {
    if (!this.#running) return;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), patienceMs);
    await this.#ended;
    clearTimeout(timer);
  }
}

/** Ports of the loopback interface on which nobody listens right now. */
export async function freePorts(count: number): Promise<number[]> {
  // All are held before any is given back, so that no two are the same.
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once("error", reject);
        server.listen(0, "127.0.0.1", () => resolve(server));
      });
    }),
  );
  return Promise.all(
    servers.map((server) => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      return new Promise<number>((resolve) => server.close(() => resolve(port)));
    }),
  );
}
