/** Commands in containers: run and captured (`exec`), with streams (`spawn`), or the container's own (`attach`). */
import { once } from "node:events";
import { finished, type Readable, type Writable } from "node:stream";
import { ConfigError } from "../meta/index.ts";
import { linkSignals } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";
import { ExecError } from "./errors.ts";
import {
  type Channels,
  type ContainerOptions,
  type ExecProcess,
  openProcess,
  quote,
  type RemoteProcess,
} from "./process.ts";
import { type Terminal, wireTerminal } from "./terminal.ts";

/** What a command reads: all of it at once, or as it comes. */
export type ExecInput = string | Uint8Array | Readable | AsyncIterable<string | Uint8Array>;

/** How `exec` runs a command. */
export interface ExecOptions extends ContainerOptions {
  readonly stdin?: ExecInput | undefined;
  /** Also gets the output, as it comes; it is not ended. */
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
  /** `false`: the result's outputs are empty. Default `true`, and `false` with `interactive`. */
  readonly capture?: boolean | undefined;
  /** `"buffer"`: the outputs are bytes. Default `"utf8"`. */
  readonly encoding?: "utf8" | "buffer" | undefined;
  /** The most bytes to keep of each output; more is an error. Default 64 MiB. */
  readonly maxBuffer?: number | undefined;
  /** `false`: another exit code than 0 is a result like any other. Default `true`: it is an {@link ExecError}. */
  readonly check?: boolean | undefined;
  /** Gives the command a terminal: both outputs become one. Default: what `interactive` needs. */
  readonly tty?: boolean | undefined;
  /** Connects the command with this program's terminal, or with another one. */
  readonly interactive?: boolean | Terminal | undefined;
}

/** What came of a command. */
export interface ExecResult<Text extends string | Buffer = string> {
  readonly stdout: Text;
  readonly stderr: Text;
  readonly exitCode: number;
  readonly command: readonly string[];
  readonly container: string;
}

/** Which streams `spawn` opens. */
export interface SpawnOptions extends ContainerOptions {
  /** Default `true`. */
  readonly stdin?: boolean | undefined;
  /** Default `true`. */
  readonly stdout?: boolean | undefined;
  /** Default `true`, and `false` with `tty`. */
  readonly stderr?: boolean | undefined;
  /** Default `false`. */
  readonly tty?: boolean | undefined;
}

/** How `attach` connects. Default for each stream: what the container has. */
export interface AttachOptions extends ContainerOptions {
  readonly stdin?: boolean | undefined;
  readonly tty?: boolean | undefined;
}

const DEFAULT_MAX_BUFFER = 64 * 1024 * 1024;

/**
 * Runs a command in a container and resolves with what it wrote.
 *
 * @example
 * ```ts
 * const { stdout } = await exec(pod, ["cat", "/etc/os-release"]);
 * const sorted = await exec(pod, ["sort"], { stdin: "b\na\n" });
 * const { exitCode } = await exec(pod, ["test", "-d", "/data"], { check: false });
 * ```
 */
export function exec(
  pod: PodAccess,
  command: readonly string[],
  o: ExecOptions & { readonly encoding: "buffer" },
): Promise<ExecResult<Buffer>>;
export function exec(
  pod: PodAccess,
  command: readonly string[],
  o?: ExecOptions & { readonly encoding?: "utf8" | undefined },
): Promise<ExecResult>;
export function exec(pod: PodAccess, command: readonly string[], o?: ExecOptions): Promise<ExecResult<string | Buffer>>;
export async function exec(
  pod: PodAccess,
  command: readonly string[],
  o: ExecOptions = {},
): Promise<ExecResult<string | Buffer>> {
  const terminal = terminalOf(o);
  if (terminal && o.stdin !== undefined) {
    throw new ConfigError("`stdin` and `interactive` cannot both be the command's input", { hint: "leave one out" });
  }
  const tty = o.tty ?? terminal?.stdin.isTTY === true;
  const channels = { stdin: o.stdin !== undefined || terminal !== undefined, stdout: true, stderr: !tty, tty };
  const input = new InputFailure(o.stdin);
  const { signal, unlink } = linkSignals([o.signal, input.signal]);
  const leave = () => {
    unlink();
    input.ignore();
  };
  const opening = {
    ...o,
    signal,
    subresource: "exec",
    command: readCommand(command),
    channels: () => channels,
  } as const;
  const running = await openProcess(pod, opening).catch((error) => {
    leave();
    throw error;
  });
  const unwire = terminal ? wireTerminal(running, terminal, tty) : () => undefined;
  const capture = o.capture ?? terminal === undefined;
  const limit = capture ? (o.maxBuffer ?? DEFAULT_MAX_BUFFER) : 0;
  const stdout = new Capture(running, "stdout", limit, capture, o.stdout ?? terminal?.stdout);
  const stderr = new Capture(running, "stderr", limit, capture, o.stderr ?? terminal?.stdout);
  if (o.stdin !== undefined) feed(running, o.stdin);
  const text = (captured: Capture) => (o.encoding === "buffer" ? captured.bytes : captured.bytes.toString("utf8"));
  try {
    const [exitCode] = await Promise.all([running.exitCode, stdout.done, stderr.done]);
    const { container } = running;
    const result = { stdout: text(stdout), stderr: text(stderr), exitCode, command, container };
    if (exitCode === 0 || o.check === false) return result;
    throw new ExecError(
      `${quote(command)} in container ${container} of pod ${pod.namespace}/${pod.name} ended with code ${exitCode}${lastLine(stderr.bytes)}`,
      {
        ...result,
        failure: "exit",
        hint: "see `stdout` and `stderr` of this error, or pass `check: false`",
      },
    );
  } catch (error) {
    if (error instanceof ExecError && error.failure !== "exit") throw withOutput(error, text(stdout), text(stderr));
    throw error;
  } finally {
    unwire();
    leave();
  }
}

/**
 * Starts a command in a container and resolves with its streams once it is connected.
 *
 * @example
 * ```ts
 * const top = await spawn(pod, ["top", "-b"], { stdin: false });
 * for await (const chunk of top.stdout) { if (enough(chunk)) break; }
 * top.kill();
 * ```
 */
export function spawn(pod: PodAccess, command: readonly string[], o: SpawnOptions = {}): Promise<ExecProcess> {
  const tty = o.tty === true;
  const channels: Channels = {
    stdin: o.stdin !== false,
    stdout: o.stdout !== false,
    stderr: !tty && o.stderr !== false,
    tty,
  };
  return openChecked(pod, command, o, channels);
}

async function openChecked(pod: PodAccess, command: readonly string[], o: SpawnOptions, channels: Channels) {
  return openProcess(pod, { ...o, subresource: "exec", command: readCommand(command), channels: () => channels });
}

/**
 * Connects with the command that the container itself runs: what it writes from now on, and its input where the
 * container has `stdin: true`. Closing the connection does not end the container.
 *
 * @example
 * ```ts
 * await using shell = await attach(pod, { container: "debug" });
 * shell.stdin.write("ls\n");
 * ```
 */
export function attach(pod: PodAccess, o: AttachOptions = {}): Promise<ExecProcess> {
  return openProcess(pod, {
    ...o,
    subresource: "attach",
    command: [],
    channels(body, container) {
      const all = [...(body?.spec?.containers ?? []), ...(body?.spec?.ephemeralContainers ?? [])];
      const spec = all.find(({ name }) => name === container);
      if (o.stdin === true && spec?.stdin !== true) {
        throw new ConfigError(`container ${container} of pod ${pod.namespace}/${pod.name} has no input`, {
          hint: "set `stdin: true` on the container, or use exec",
        });
      }
      const tty = o.tty ?? spec?.tty === true;
      return { stdin: o.stdin ?? spec?.stdin === true, stdout: true, stderr: !tty, tty };
    },
  });
}

/** Checks what the compiler cannot check in JavaScript. */
function readCommand(command: readonly string[]): readonly string[] {
  if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string")) return command;
  const said = typeof command === "string" ? "one text" : JSON.stringify(command);
  throw new ConfigError(`a command is a list of words, not ${said}`, {
    hint: 'write ["ls", "-l"], or sh("ls | wc -l") to let a shell read it',
  });
}

function terminalOf({ interactive }: ExecOptions): Terminal | undefined {
  if (interactive === true) return { stdin: process.stdin, stdout: process.stdout };
  return interactive || undefined;
}

/** Writes the input and ends it. A command that ends before it has read everything is no failure. */
function feed(running: RemoteProcess, input: ExecInput): void {
  if (typeof input === "string" || input instanceof Uint8Array) {
    running.stdin.end(input);
  } else if (isStream(input)) {
    // Piped, because a source that stays silent must not hold the command's end up; leaving it is `pipe`'s own matter.
    input.pipe(running.stdin);
  } else {
    pour(input, running.stdin).catch((error) => running.abort(error));
  }
}

/** Aborts when a stream that is to be the input fails, which may be long before the command has started. */
class InputFailure {
  readonly #controller = new AbortController();
  readonly ignore: () => void = () => undefined;

  constructor(input: ExecInput | undefined) {
    if (!isStream(input)) return;
    this.ignore = finished(input, { writable: false }, (error) => {
      if (error) this.#controller.abort(error);
    });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }
}

const isStream = (input: ExecInput | undefined): input is Readable =>
  typeof input === "object" && "pipe" in input && typeof input.pipe === "function";

async function pour(source: AsyncIterable<string | Uint8Array>, target: Writable): Promise<void> {
  for await (const chunk of source) {
    if (target.destroyed) return;
    if (!target.write(chunk)) await roomIn(target);
  }
  if (!target.destroyed) target.end();
}

/** Resolves when a stream can take more, or never will again. */
async function roomIn(target: Writable): Promise<void> {
  if (target.destroyed) return;
  const leave = new AbortController();
  const { signal } = leave;
  const ignore = () => undefined;
  try {
    await Promise.race([once(target, "drain", { signal }), once(target, "close", { signal })]).catch(ignore);
  } finally {
    leave.abort();
  }
}

/** Keeps an output, and hands it on. */
class Capture {
  readonly done: Promise<void>;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(running: RemoteProcess, name: "stdout" | "stderr", limit: number, keep: boolean, copy?: Writable) {
    this.done = this.#read(running, name, limit, keep, copy);
    // The same failure is the exit code's, which is looked at first.
    this.done.catch(() => undefined);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  async #read(running: RemoteProcess, name: "stdout" | "stderr", limit: number, keep: boolean, copy?: Writable) {
    for await (const chunk of running[name] as AsyncIterable<Buffer>) {
      if (keep) {
        this.#chunks.push(chunk.subarray(0, limit - this.#length));
        this.#length += chunk.length;
        if (this.#length > limit) {
          const what = `wrote more than ${limit} bytes to ${name}`;
          const hint = "pass a larger `maxBuffer`, or read its streams with spawn";
          const error = running.explain("buffer", what, hint);
          running.abort(error);
          // Thrown as well: the command may have ended by itself meanwhile, and half an output is no success.
          throw error;
        }
      }
      if (copy && !copy.write(chunk)) await roomIn(copy);
    }
  }
}

function withOutput(error: ExecError, stdout: string | Buffer, stderr: string | Buffer): ExecError {
  const { message, failure, exitCode, command, container, hint, cause } = error;
  return new ExecError(message, {
    failure,
    exitCode,
    command,
    container,
    stdout,
    stderr,
    ...(hint === undefined ? {} : { hint }),
    cause,
  });
}

function lastLine(bytes: Buffer): string {
  const line = bytes.toString("utf8").trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${line.slice(0, 200)}`;
}
