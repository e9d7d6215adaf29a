/**
 * One connection to a port of a pod, over a WebSocket of its own: channel 0 carries the data, channel 1 the reason when the
 * node cannot connect. The first message of each channel is the port, as two bytes, the lower one first.
 *
 * The protocol cannot tell the other end that there is nothing more to come while it still answers. So a connection whose
 * writing side has ended stays open for the answer, and is closed when that has ended, or when nothing has come for a while.
 */
import { Duplex } from "node:stream";
import type { Clock, Duration } from "../meta/index.ts";
import type { WebSocketConnection } from "../transport/index.ts";
import { nameOf, type PodAccess } from "./access.ts";
import { chunksOf, frame } from "./channels.ts";
import { ConnectionClosedError } from "./errors.ts";
import { readPort } from "./port-number.ts";

/** How to connect. */
export interface ConnectOptions {
  /** For opening the connection. Default: the client's, 30 s. */
  readonly timeout?: Duration | undefined;
  /** Aborting closes the connection, at any time. */
  readonly signal?: AbortSignal | undefined;
}

const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
const ERROR = 1;
/** Longer than a server thinks about its answer; a local program that has quit is not waited for longer. */
const HALF_CLOSED_MS = 30_000;

/**
 * Connects to a port of a pod, with no port opened here.
 *
 * @example
 * ```ts
 * const socket = await connect(pod, 6379);
 * socket.write("PING\r\n");
 * ```
 */
export async function connect(pod: PodAccess, port: number, o: ConnectOptions = {}): Promise<Duplex> {
  const connection = await pod.webSocket({
    path: `${pod.path}/portforward`,
    query: { ports: readPort(port) },
    protocols: [PROTOCOL],
    timeout: o.timeout,
    signal: o.signal,
  });
  return new PortConnection(connection, { pod: nameOf(pod), port, clock: pod.clock });
}

interface PortConnectionInit {
  readonly pod: string;
  readonly port: number;
  readonly clock: Clock;
}

class PortConnection extends Duplex {
  readonly #connection: WebSocketConnection;
  readonly #init: PortConnectionInit;
  #wanted: (() => void) | undefined;
  #cancelHalfClosed: () => void = () => undefined;

  constructor(connection: WebSocketConnection, init: PortConnectionInit) {
    super({ allowHalfOpen: true });
    this.#connection = connection;
    this.#init = init;
    this.#pump().then(
      () => this.push(null),
      (error) => this.destroy(error instanceof Error ? error : new Error("aborted", { cause: error })),
    );
  }

  override _read(): void {
    this.#wanted?.();
    this.#wanted = undefined;
  }

  override _write(data: Buffer, _: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#send(data).then(
      () => callback(),
      (cause) => callback(this.#broken(`the connection is closed`, cause)),
    );
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#waitForAnswer();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#cancelHalfClosed();
    this._read();
    this.#connection.close();
    callback(error);
  }

  /** What http does with a connection that it needs no more. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }

  async #send(data: Buffer): Promise<void> {
    for (const piece of chunksOf(data)) await this.#connection.send(frame(DATA, piece));
  }

  async #pump(): Promise<void> {
    const begun = new Set<number>();
    let refusal = "";
    for await (const message of this.#connection.messages) {
      const channel = message[0] ?? 0;
      const data = message.subarray(1);
      if (!begun.has(channel)) {
        begun.add(channel);
        continue;
      }
      if (data.length === 0) continue;
      if (channel === ERROR) refusal += data.toString("utf8");
      else if (channel === DATA && !this.push(data)) {
        await new Promise<void>((resolve) => {
          this.#wanted = resolve;
        });
      }
      if (this.writableFinished) this.#waitForAnswer();
    }
    if (this.destroyed) return;
    if (refusal !== "") throw this.#broken(refusal.trim());
    const { code, reason } = await this.#connection.closed;
    if (code !== 1000 && code !== 1005) throw this.#broken(reason === "" ? `it broke (code ${code})` : reason);
  }

  /** Starts the wait for the rest of the answer, anew with each piece of it. */
  #waitForAnswer(): void {
    this.#cancelHalfClosed();
    if (this.destroyed || this.readableEnded) return;
    this.#cancelHalfClosed = this.#init.clock.after(HALF_CLOSED_MS, () => this.destroy());
  }

  #broken(why: string, cause?: unknown): ConnectionClosedError {
    const { pod, port } = this.#init;
    return new ConnectionClosedError(`port ${port} of ${pod}: ${why}`, {
      port,
      cause,
      hint: "does something listen on this port in the pod?",
    });
  }
}
