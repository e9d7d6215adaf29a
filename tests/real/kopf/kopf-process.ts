import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Berth, Call } from "./berths.ts";

const operatorFile = fileURLToPath(new URL("operator.py", import.meta.url));
/** Kopf gives its tasks some seconds to end; a machine under load may need more. */
const stopLimitMs = 30_000;

/** How operator.py runs. */
export interface KopfProcessOptions {
  /** The Python that has Kopf. */
  readonly python: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly berth: Berth;
  readonly storage: Berth["storage"];
  readonly journal: (call: Call) => void;
}

/** operator.py at work. */
export class KopfProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = "";
  #exit: string | undefined;

  constructor({ python, kubeconfig, namespace, berth, storage, journal }: KopfProcessOptions) {
    this.#child = spawn(python, ["-m", "kopf", "run", "--standalone", "--namespace", namespace, operatorFile], {
      env: {
        ...process.env,
        KUBECONFIG: kubeconfig,
        HANDOVER_KIND: JSON.stringify(berth.kind),
        HANDOVER_SECTION: berth.section,
        HANDOVER_STORAGE: storage,
        // It would leave compiled files beside the sources.
        PYTHONDONTWRITEBYTECODE: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) throw new Error("Kopf has no output");
    createInterface({ input: stdout }).on("line", (line) => journal(JSON.parse(line) as Call));
    stderr.setEncoding("utf8").on("data", (text: string) => {
      // Its end is enough to tell why it broke down.
      this.#errors = (this.#errors + text).slice(-8_000);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#exit = error.message;
        resolve();
      });
      this.#child.once("close", (code, signal) => {
        this.#exit ??= signal ?? `exit code ${code}`;
        resolve();
      });
    });
  }

  /** Throws when it ended by itself. */
  check(): void {
    if (this.#exit !== undefined) throw new Error(`Kopf ended by itself (${this.#exit}):\n${this.#errors}`);
  }

  /** What it logged last. */
  get log(): string {
    return this.#errors;
  }

  /** Stops it as a cluster does; it must have lived until now and end in time. */
  async stop(): Promise<void> {
    this.check();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), stopLimitMs);
    await this.#ended;
    clearTimeout(timer);
    if (this.#exit !== "exit code 0")
      throw new Error(`Kopf did not stop as it should (${this.#exit}):\n${this.#errors}`);
  }

  /** Ends it at once, whatever state it is in. */
  async kill(): Promise<void> {
    if (this.#exit !== undefined) return;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
