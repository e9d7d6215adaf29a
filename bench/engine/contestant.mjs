// Those who are measured: how each is started, and what it costs, from /proc.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../../scripts/process.mjs";
import { root } from "../../scripts/workspace.mjs";

const fileOf = (name) => fileURLToPath(new URL(`./contestants/${name}`, import.meta.url));

/** How to start each, given the namespace: none of them logs a line for each object. */
const commands = {
  floor: () => [process.execPath, [fileOf("floor.mjs")]],
  kopf: ({ namespace, program }) => [
    program,
    ["-m", "kopf", "run", "--standalone", "--quiet", "--namespace", namespace, fileOf("kopf_operator.py")],
  ],
  lotse: ({ namespace }) => [
    process.execPath,
    [
      path.join(root, "packages", "lotse", "bin", "lotse.js"),
      ...["run", "--quiet", "--namespace", namespace, fileOf("lotse.mjs")],
    ],
  ],
  "controller-runtime": ({ program }) => [program, []],
  "kube-rs": ({ program }) => [program, []],
};

export const contestants = Object.keys(commands);
/** Those of a run that names none: nothing is compiled for them. */
export const usualContestants = ["floor", "kopf", "lotse"];
/** Those on Node.js: they can be profiled. */
export const onNode = ["floor", "lotse"];

/**
 * How a contestant is started.
 *
 * @returns {[file: string, args: string[]]}
 */
export const commandOf = (name, options) => commands[name](options);

/** Ticks of /proc in a second: USER_HZ is 100 on every Linux that Node.js runs on. */
const ticksPerSecond = 100;

export function requireProc() {
  try {
    readFileSync("/proc/self/stat");
  } catch {
    throw new Failure("The benchmark reads processor time and memory from /proc, which only Linux has.", 2);
  }
}

/** A contestant at work. */
export class Contestant {
  #child;
  #ended;
  #output = "";
  #exit;
  startedAt;

  /**
   * @param {string} name one of {@link contestants}, or any with a `command` of its own
   * @param {{ namespace: string, kubeconfig: string, child: boolean, program?: string, keep?: boolean, profile?: string,
   *   stages?: string, command?: [file: string, args: string[]] }} options `program` is what {@link commandOf} starts for
   *   those that have to be made first, `stages` the folder for the times of the stages
   */
  constructor(name, options) {
    const [command, args] = options.command ?? commandOf(name, options);
    const env = { ...process.env, KUBECONFIG: options.kubeconfig, BENCH_NAMESPACE: options.namespace };
    if (options.child) env.BENCH_CHILD = "1";
    if (options.keep) env.BENCH_KEEP = "1";
    if (options.stages) env.BENCH_STAGES = options.stages;
    const flags =
      options.profile && command === process.execPath ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`] : [];
    this.name = name;
    this.startedAt = performance.now();
    this.#child = spawn(command, [...flags, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      // The end of it is enough to tell why it broke down.
      stream.setEncoding("utf8").on("data", (text) => {
        this.#output = (this.#output + text).slice(-4000);
      });
    }
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
  alive = () => {
    if (this.#exit !== undefined) throw new Error(`${this.name} ended by itself (${this.#exit}):\n${this.#output}`);
  };

  /** What it wrote last: nothing, when all is well. */
  get output() {
    return this.#output.trim();
  }

  /** Processor time so far, user and system, in milliseconds. */
  cpu() {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    // The program's name stands in parentheses and may have any character.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
  }

  /** Memory in MiB: now, and at its highest. */
  memory() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const of = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
    return { now: of("VmRSS"), peak: of("VmHWM") };
  }

  /** Sends it a signal that is not meant to end it. */
  signal(name) {
    this.#child.kill(name);
  }

  /** Asks it to end, and makes it end when it does not. */
  async stop() {
    if (this.#exit !== undefined) return;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 15_000);
    await this.#ended;
    clearTimeout(timer);
  }
}
