/**
 * Recordings of terminals for the documentation: commands are run as a reader would run them, and what the terminals show
 * is written down, with one steady value for each thing that differs from run to run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { kubectlPath } from "../../tests/kubectl/kubectl.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where the reader's clone lies, for the reader of the page. */
const HOME = "/home/me/lotse";

/** A command in the second terminal, and what the first one shows when it has seen to it. */
interface Step {
  readonly command: string;
  readonly until: RegExp;
}

/** Something to record. */
interface Recording {
  /** What is there before; not shown. */
  readonly before?: Step;
  /** The first terminal. */
  readonly start: Step;
  readonly steps: readonly Step[];
  /** What the first terminal shows last, after Ctrl-C. */
  readonly end: RegExp;
}

const EXAMPLE = "examples/exchange-rates";
const stopped = /the operator has stopped .*\n$/;

/** The recordings by their names: `docs/recordings/<name>.txt`. */
export const RECORDINGS: Readonly<Record<string, Recording>> = {
  dev: {
    start: { command: `npx lotse dev ${EXAMPLE}/operator.ts`, until: /the operator is ready .*\n$/ },
    steps: [
      {
        command: `kubectl apply -f ${EXAMPLE}/manifests/rate.yaml`,
        until: /handler succeeded handler=publishRate .*\n$/,
      },
      { command: "kubectl get xr", until: /$/ },
      {
        command: `kubectl patch xr euro --type merge -p '{"spec":{"currency":"XXX"}}'`,
        until: /all handlers are done .*\n$/,
      },
      {
        command: `kubectl patch xr euro --type merge -p '{"spec":{"currency":"JPY"}}'`,
        until: /handler succeeded handler=followCurrency .*\n$/,
      },
      { command: "kubectl get xr", until: /$/ },
      { command: "kubectl delete xr euro", until: /$/ },
    ],
    end: stopped,
  },
  run: {
    before: { command: "npx lotse cluster", until: /export KUBECONFIG=.*\n/ },
    start: {
      command: `npx lotse run ${EXAMPLE}/operator.ts --install-crds --log-format pretty`,
      until: /the operator is ready .*\n$/,
    },
    steps: [
      {
        command: `kubectl apply -f ${EXAMPLE}/manifests/rate.yaml`,
        until: /handler succeeded .*handler=publishRate .*\n$/,
      },
      { command: "npx lotse explain xr euro", until: /$/ },
    ],
    end: stopped,
  },
};

/** Runs a recording and returns its text. */
export async function record(name: string): Promise<string> {
  const recording = RECORDINGS[name];
  if (!recording) throw new Error(`there is no recording ${name}; there are ${Object.keys(RECORDINGS).join(", ")}`);
  const desk = new Desk();
  try {
    if (recording.before) await desk.open(recording.before);
    const terminal = await desk.open(recording.start);
    let text = `$ ${recording.start.command}\n${terminal.news()}`;
    for (const { command, until } of recording.steps) {
      const printed = await desk.run(command);
      await terminal.until(until);
      text += `\n$ ${command}  # in another terminal\n${printed}`;
      const news = terminal.news();
      if (news !== "") text += `\n${news}`;
    }
    terminal.interrupt();
    await terminal.until(recording.end);
    text += `\n^C\n${terminal.news()}`;
    return steady(text, desk.folder);
  } finally {
    await desk.close();
  }
}

/** One steady value for each thing that differs from run to run. */
export function steady(text: string, folder: string): string {
  return text
    .replaceAll(path.join(folder, "kubeconfig"), `${HOME}/.lotse/kubeconfig`)
    .replaceAll(/\b\d\d:\d\d:\d\d\.\d{3}\b/g, "12:00:00.000")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-01T12:00:00.000Z")
    .replaceAll(/(console +)http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/g, "$1http://127.0.0.1:8081/#token=…")
    .replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, "https://127.0.0.1:6443")
    .replaceAll(/(url=)http:\/\/127\.0\.0\.1:\d+/g, "$1http://127.0.0.1:8082")
    .replaceAll(/up after \d+ ms/g, "up after 300 ms")
    .replaceAll(/\b(took[= ]|after )(?:\d+m?s)+/g, "$110ms")
    .replaceAll(/\bin (?:\d+[hms]s?)+/g, "in 59m58s")
    .replaceAll(/\b(version +)\d+\b/g, "$112")
    .replaceAll(/\b(waited for )(?:\d+m?s)+/g, "$11s")
    .replaceAll(/\b(runId=|run )[0-9a-z]{5}-/g, "$1k3x9f-")
    .replaceAll(/(euro)-[a-z0-9]{5}\b/g, "$1-x7k2p")
    .replaceAll(/(\s)\d+s$/gm, "$13s");
}

/** Both terminals, with an environment of their own. */
class Desk {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), "lotse-recording-"));
  readonly #terminals: Terminal[] = [];
  readonly #env: Record<string, string | undefined>;

  constructor() {
    const bin = path.join(this.folder, "bin");
    mkdirSync(bin);
    symlinkSync(kubectlPath(), path.join(bin, "kubectl"));
    const kubeconfig = path.join(this.folder, "kubeconfig");
    this.#env = {
      ...process.env,
      PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}`,
      KUBECONFIG: kubeconfig,
      KUBECACHEDIR: path.join(this.folder, "cache"),
      LOTSE_DEV_KUBECONFIG: kubeconfig,
      LOTSE_CLUSTER_KUBECONFIG: kubeconfig,
      // Operators are asked by sockets in a folder; only those of this recording shall answer.
      XDG_RUNTIME_DIR: this.folder,
      // What handlers ask for in the examples is kept already, and must not change by a recording.
      LOTSE_RECORD: "off",
      NO_COLOR: "1",
      npm_config_loglevel: "silent",
    };
  }

  async open({ command, until }: Step): Promise<Terminal> {
    const terminal = new Terminal(command, this.#env);
    this.#terminals.push(terminal);
    await terminal.until(until);
    return terminal;
  }

  async run(command: string): Promise<string> {
    const terminal = new Terminal(command, this.#env);
    await terminal.closed;
    return terminal.news();
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals.reverse()) await terminal.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const PATIENCE_MS = 60_000;
/** What belongs to one thing that happened arrives in one go. */
const QUIET_MS = 300;

/** A command, and what it writes, both outputs in the order of their lines. */
class Terminal {
  readonly closed: Promise<void>;
  readonly #command: string;
  readonly #child: ChildProcess;
  #text = "";
  #shown = 0;
  #heard = performance.now();

  constructor(command: string, env: Record<string, string | undefined>) {
    this.#command = command;
    // A group of its own, so that npx and everything below it can be stopped together.
    this.#child = spawn("sh", ["-c", `${command} 2>&1`], {
      cwd: root,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      this.#heard = performance.now();
    });
    this.closed = new Promise((resolve) => this.#child.on("close", () => resolve()));
  }

  /** What has been written since the last question. */
  news(): string {
    const news = this.#text.slice(this.#shown);
    this.#shown = this.#text.length;
    return news;
  }

  /** Resolves when the news end in `pattern` and nothing follows. */
  async until(pattern: RegExp): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!pattern.test(this.#text.slice(this.#shown)) || performance.now() - this.#heard < QUIET_MS) {
      if (performance.now() > deadline) {
        throw new Error(`${this.#command} does not come to ${pattern}:\n${this.#text.slice(this.#shown)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.#signal("SIGINT");
  }

  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.closed;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended by itself.
    }
  }
}
