/**
 * A command in a container, over one WebSocket: three streams, a terminal size, and one `Status` at the end.
 *
 * All channels share one connection, so an output that the program does not read holds up the other one and the end as
 * well, as the pipes of a local process do. Failures reach all that wait: the streams are destroyed with the reason, and
 * `exitCode` rejects with it.
 */
import { Readable, Writable } from "node:stream";
import { type Clock, type Duration, durationMs, formatDuration } from "../meta/index.ts";
import { linkSignals, type WebSocketConnection } from "../transport/index.ts";
import { nameOf, type PodAccess } from "./access.ts";
import {
  CHANNEL_PROTOCOLS,
  canCloseInput,
  chunksOf,
  closeFrame,
  frame,
  readEnd,
  resizeFrame,
  STATUS,
  STDERR,
  STDIN,
  STDOUT,
  type TerminalSize,
} from "./channels.ts";
import { awaitRunning } from "./containers.ts";
import { ExecError, type ExecFailure } from "./errors.ts";

/**
 * A command that runs in a container.
 *
 * @example
 * ```ts
 * await using build = await pod.spawn(["make", "all"]);
 * for await (const chunk of build.stdout) process.stdout.write(chunk);
 * console.log("ended with", await build.exitCode);
 * ```
 */
export interface ExecProcess extends AsyncDisposable {
  /** Empty for `attach`. */
  readonly command: readonly string[];
  readonly container: string;
  /** What was agreed with the server: `v5.channel.k8s.io` or `v4.channel.k8s.io`. */
  readonly protocol: string;
  /** Ending it ends the command's input, where the server speaks v5. */
  readonly stdin: Writable;
  /** An output that is not read holds up the command, as with a local process: read it, or `resume()` it. */
  readonly stdout: Readable;
  /** Empty with `tty`: a terminal has one output. */
  readonly stderr: Readable;
  /** Rejects with an {@link ExecError} when the command does not come to its end. */
  readonly exitCode: Promise<number>;
  /** Tells the terminal's size, with `tty`. */
  resize(size: TerminalSize): Promise<void>;
  /**
   * Closes the connection. The command loses its streams; whether it ends is up to it, because Kubernetes has no signal
   * for it.
   */
  kill(): void;
}

/** What every way to talk to a container takes. */
export interface ContainerOptions {
  /** Default: the one of the annotation `kubectl.kubernetes.io/default-container`, else the first. */
  readonly container?: string | undefined;
  /** For the whole call, from the wait for the container to the command's end. Default: none. */
  readonly timeout?: Duration | undefined;
  /** The longest silence of the command. Default: none. */
  readonly idleTimeout?: Duration | undefined;
  /** Waits until the container runs, for `timeout` or 30 s. Default `true`. */
  readonly waitReady?: boolean | undefined;
  /** Aborting closes the connection and rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Hears that a server cannot be told of the end of the input. Default: a warning of the process. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

interface Opening extends ContainerOptions {
  readonly subresource: "exec" | "attach";
  readonly command: readonly string[];
  /** Decided by the pod for `attach`: its containers say whether they have an input and a terminal. */
  channels(body: Awaited<ReturnType<PodAccess["read"]>> | undefined, container: string): Channels;
}

/** Which streams there shall be. */
export interface Channels {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

const DEFAULT_WAIT_MS = 30_000;

/** Waits for the container, connects, and hands out the streams. */
export async function openProcess(pod: PodAccess, o: Opening): Promise<RemoteProcess> {
  const ended = new AbortController();
  const { signal = ended.signal, unlink } = linkSignals([ended.signal, o.signal]);
  const timeoutMs = o.timeout === undefined ? undefined : durationMs(o.timeout);
  let container = o.container;
  const explain = (failure: ExecFailure, what: string, hint: string) => {
    const where = `${container === undefined ? "" : `container ${container} of `}${nameOf(pod)}`;
    const said = o.subresource === "attach" ? "attach" : quote(o.command);
    return new ExecError(`${said} in ${where} ${what}`, {
      failure,
      exitCode: undefined,
      command: o.command,
      container,
      hint,
    });
  };
  const cancelTimeout =
    timeoutMs === undefined
      ? () => undefined
      : pod.clock.after(timeoutMs, () => {
          const what = `did not end within ${formatDuration(timeoutMs)}`;
          ended.abort(explain("timeout", what, "pass a longer `timeout`; the command may still be running there"));
        });
  const release = () => {
    cancelTimeout();
    unlink();
  };
  try {
    let body: Awaited<ReturnType<PodAccess["read"]>> | undefined;
    if (o.waitReady !== false || container === undefined) {
      const found = await awaitRunning(pod, {
        container,
        limitMs: o.waitReady === false ? 0 : (timeoutMs ?? DEFAULT_WAIT_MS),
        mustRun: o.waitReady !== false,
        signal,
      });
      ({ container, body } = found);
    } else if (o.subresource === "attach") {
      body = await pod.read({ signal });
    }
    const channels = o.channels(body, container);
    const connection = await pod.webSocket({
      path: `${pod.path}/${o.subresource}`,
      query: queryOf(o.command, container, channels),
      protocols: CHANNEL_PROTOCOLS,
      signal,
    });
    const idleMs = o.idleTimeout === undefined ? undefined : durationMs(o.idleTimeout);
    return new RemoteProcess(connection, {
      command: o.command,
      container,
      channels,
      clock: pod.clock,
      idleMs,
      ended,
      release,
      explain,
      onWarning: o.onWarning ?? ((message) => process.emitWarning(message, "LotseWarning")),
    });
  } catch (error) {
    release();
    throw error;
  }
}

function queryOf(command: readonly string[], container: string, channels: Channels): [string, string][] {
  const query: [string, string][] = command.map((word) => ["command", word]);
  query.push(["container", container]);
  // Names that are left out mean no; some servers take a mere mention for a yes.
  for (const name of ["stdin", "stdout", "stderr", "tty"] as const) if (channels[name]) query.push([name, "true"]);
  return query;
}

/** A command as people read it, not too long. */
export function quote(command: readonly string[]): string {
  const text = command.join(" ");
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

interface RemoteProcessInit {
  readonly command: readonly string[];
  readonly container: string;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly idleMs: number | undefined;
  /** Aborting it ends the connection; its reason is what all that wait hear. */
  readonly ended: AbortController;
  release(): void;
  explain(failure: ExecFailure, what: string, hint: string): ExecError;
  onWarning(message: string): void;
}

/** A command in a container, its streams carried by the channels of one connection. */
export class RemoteProcess implements ExecProcess {
  readonly command: readonly string[];
  readonly container: string;
  readonly stdin: Writable;
  readonly stdout = new Output();
  readonly stderr = new Output();
  readonly exitCode: Promise<number>;
  readonly #connection: WebSocketConnection;
  readonly #init: RemoteProcessInit;
  #cancelIdle: () => void = () => undefined;

  constructor(connection: WebSocketConnection, init: RemoteProcessInit) {
    this.#connection = connection;
    this.#init = init;
    this.command = init.command;
    this.container = init.container;
    this.stdin = new Input(connection, () =>
      init.onWarning(
        `the server speaks ${connection.protocol}, which cannot tell ${quote(init.command)} that its input is over: it may wait for more`,
      ),
    );
    // The caller that waits for the exit code hears of every failure; unheard on a stream, it would end the program.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.on("error", () => undefined);
    if (!init.channels.stdin) this.stdin.destroy();
    this.exitCode = this.#run();
    this.exitCode.catch(() => undefined);
  }

  get protocol(): string {
    return this.#connection.protocol;
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#connection.send(resizeFrame(size));
  }

  kill(): void {
    this.abort(this.#init.explain("killed", "was given up", "the command may still be running there"));
  }

  /** Ends the connection; all that wait hear `reason`. */
  abort(reason: unknown): void {
    this.#init.ended.abort(reason);
  }

  /** An error about this command. */
  explain(failure: ExecFailure, what: string, hint: string): ExecError {
    return this.#init.explain(failure, what, hint);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    await this.exitCode.catch(() => undefined);
  }

  async #run(): Promise<number> {
    try {
      const code = await this.#pump();
      this.stdout.push(null);
      this.stderr.push(null);
      return code;
    } catch (error) {
      const reason = error instanceof Error ? error : new Error("aborted", { cause: error });
      this.stdout.destroy(reason);
      this.stderr.destroy(reason);
      throw error;
    } finally {
      this.#cancelIdle();
      this.#init.release();
      this.stdin.destroy();
      this.#connection.close();
    }
  }

  async #pump(): Promise<number> {
    this.#watchIdle();
    for await (const message of this.#connection.messages) {
      this.#cancelIdle();
      const data = message.subarray(1);
      switch (data.length === 0 ? undefined : message[0]) {
        case STDOUT:
          await this.stdout.deliver(data);
          break;
        case STDERR:
          await this.stderr.deliver(data);
          break;
        case STATUS: {
          const end = readEnd(data);
          if (end.type === "exited") return end.code;
          throw this.explain("server", `could not be run: ${end.message}`, "look at the pod's events and its node");
        }
      }
      this.#watchIdle();
    }
    const { code, reason } = await this.#connection.closed;
    const said = reason === "" ? `code ${code}` : `code ${code}, ${reason}`;
    throw this.explain(
      "connection",
      `lost its connection (${said})`,
      "how it ended is not known; look before you repeat it",
    );
  }

  /** Counts only while the server is waited for, not while a slow reader is. */
  #watchIdle(): void {
    const { clock, idleMs } = this.#init;
    if (idleMs === undefined) return;
    this.#cancelIdle = clock.after(idleMs, () => {
      const what = `was silent for ${formatDuration(idleMs)}`;
      this.abort(this.explain("idle", what, "pass a longer `idleTimeout`; the command may still be running there"));
    });
  }
}

/** An output channel. */
class Output extends Readable {
  #wanted: (() => void) | undefined;

  /** Resolves when the reader wants more; at once when there is none any more. */
  deliver(data: Buffer): Promise<void> | undefined {
    if (this.destroyed || this.push(data)) return undefined;
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  override _read(): void {
    this.#wanted?.();
    this.#wanted = undefined;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this._read();
    callback(error);
  }
}

/** The input channel. */
class Input extends Writable {
  readonly #connection: WebSocketConnection;
  readonly #onOpenEnd: () => void;

  constructor(connection: WebSocketConnection, onOpenEnd: () => void) {
    super();
    this.#connection = connection;
    this.#onOpenEnd = onOpenEnd;
  }

  override _write(data: Buffer, _: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#send(data).then(() => callback(), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (canCloseInput(this.#connection.protocol)) {
      this.#connection.send(closeFrame(STDIN)).then(() => callback(), callback);
      return;
    }
    // Hanging up would end the input, and cut off the output with it.
    this.#onOpenEnd();
    callback();
  }

  async #send(data: Buffer): Promise<void> {
    for (const piece of chunksOf(data)) await this.#connection.send(frame(STDIN, piece));
  }
}
