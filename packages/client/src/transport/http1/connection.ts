/**
 * One socket that carries one exchange after another. What must stay true:
 *
 * - A socket is used again only when the answer was read to its last byte, the request was sent to its last byte, and
 *   nothing came after that. An idle socket on which something comes is closed.
 * - An exchange that leaves before its end takes the socket with it.
 */
import type { Duplex } from "node:stream";
import type { Carrier, WireExchange } from "./exchange.ts";
import type { AnswerHead } from "./head.ts";
import { MalformedAnswerError } from "./malformed.ts";
import { type AnswerEvents, AnswerParser } from "./parser.ts";

/** A socket; it may still be connecting, and `ready` is the event that says that it is not. */
export interface Dialed {
  readonly socket: Duplex & Partial<SocketPart>;
  readonly ready: "connect" | "secureConnect" | undefined;
}

/** Opens a socket that hands over what it reads. */
export type Dial = (onBytes: (bytes: Buffer) => void) => Dialed | Promise<Dialed>;

/** What sockets have beside other streams; a tunnel may be no socket. */
interface SocketPart {
  ref(): unknown;
  unref(): unknown;
  setTimeout(ms: number): unknown;
}

/** Who opened a connection. */
export interface ConnectionOwner {
  /** It can be used for another exchange. */
  onIdle(connection: Connection): void;
  /** It is no more; it carries nothing. */
  onGone(connection: Connection): void;
  readonly idleMs: number;
}

/** Up to this size a body is copied behind its head, so that both leave in one piece. */
const COPIED_BYTES = 64 * 1024;
/** Of what the server says of its patience: it is closed before the server does, as the request may be on its way. */
const MARGIN_MS = 1_000;

/** See the module comment. */
export class Connection implements AnswerEvents, Carrier {
  readonly #owner: ConnectionOwner;
  readonly #parser = new AnswerParser(this);
  #socket: Dialed["socket"] | undefined;
  #exchange: WireExchange | undefined;
  #gone = false;
  /** Whether there is a part of an answer. */
  #begun = false;
  #settled = false;
  #idleUntil = 0;

  constructor(owner: ConnectionOwner, exchange: WireExchange) {
    this.#owner = owner;
    this.#exchange = exchange;
    exchange.connection = this;
  }

  /** It waits for work, and has for long enough to have a time limit. */
  get settled(): boolean {
    return this.#settled;
  }

  /** Until when it may wait for work, on the owner's clock. */
  get idleUntil(): number {
    return this.#idleUntil;
  }

  /** It is going to wait for a while: that keeps no process alive, and has an end. */
  settle(now: number): void {
    if (this.#settled) return;
    this.#settled = true;
    const ms = this.#patienceMs;
    this.#idleUntil = now + ms;
    this.#socket?.setTimeout?.(ms);
    this.#socket?.unref?.();
  }

  /** How long it may be idle: what the server says counts where it is less. */
  get #patienceMs(): number {
    const seconds = this.#parser.keepAliveSeconds;
    return seconds === undefined ? this.#owner.idleMs : Math.min(this.#owner.idleMs, seconds * 1_000 - MARGIN_MS);
  }

  /** Takes the socket that was opened for the first exchange. */
  adopt({ socket, ready }: Dialed): void {
    if (this.#gone) {
      socket.on("error", () => undefined);
      socket.destroy();
      return;
    }
    this.#socket = socket;
    socket.on("end", this.#onFinished);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
    socket.on("timeout", this.#onTimeout);
    if (ready === undefined) this.#start();
    else socket.once(ready, this.#start);
  }

  /** No socket could be opened. */
  refuse(error: Error): void {
    this.#leave(error);
  }

  /** Carries one more exchange. */
  carry(exchange: WireExchange): void {
    this.#exchange = exchange;
    exchange.connection = this;
    if (this.#settled) {
      this.#settled = false;
      this.#socket?.ref?.();
      this.#socket?.setTimeout?.(0);
    }
    this.#start();
  }

  /** Ends it. The exchange hears of it only where there is an error to hear of. */
  destroy(error?: Error): void {
    this.#leave(error);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  onHead(head: AnswerHead): void {
    this.#begun = true;
    this.#exchange?.onHead(head);
  }

  onBody(bytes: Buffer): void {
    this.#exchange?.onBody(bytes);
  }

  onEnd(): void {
    const exchange = this.#exchange as WireExchange;
    this.#exchange = undefined;
    exchange.connection = undefined;
    exchange.onEnd();
  }

  readonly #start = () => {
    const [exchange, socket] = [this.#exchange, this.#socket];
    if (exchange === undefined || socket === undefined) return;
    if (!exchange.onConnected()) {
      // It may have gone by itself, and the connection with it.
      if (this.#exchange !== exchange) return;
      this.#exchange = undefined;
      exchange.connection = undefined;
      return this.#rest(true);
    }
    this.#begun = false;
    this.#parser.begin(exchange.method);
    const { head, body } = exchange;
    if (body === undefined) socket.write(head, "latin1");
    else if (body.length <= COPIED_BYTES) socket.write(joined(head, body));
    else {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body);
      socket.uncork();
    }
  };

  /** Takes what comes in. */
  readonly onBytes = (chunk: Buffer): void => {
    // Nobody asked: whatever it is, it must not become the answer to the next request.
    if (this.#exchange === undefined || this.#parser.idle) return void this.#leave(unasked());
    let used: number;
    try {
      used = this.#parser.feed(chunk);
    } catch (error) {
      return void this.#leave(error as Error);
    }
    if (this.#exchange === undefined && !this.#gone) {
      this.#rest(this.#parser.reusable && used === chunk.length && this.#socket?.writableLength === 0);
    }
  };

  readonly #onFinished = () => {
    if (this.#exchange !== undefined && !this.#parser.finish()) this.#leave(hangUp(this.#begun));
    else this.#leave();
  };

  readonly #onError = (error: Error) => this.#leave(error);

  readonly #onClose = () => this.#leave(hangUp(this.#begun));

  /** Only an idle one is too quiet. */
  readonly #onTimeout = () => {
    if (this.#exchange === undefined) this.#leave();
  };

  #rest(reusable: boolean): void {
    const socket = this.#socket;
    if (!reusable || socket === undefined || !socket.writable || this.#patienceMs <= 0) return void this.#leave();
    // Its last reader may have held it back.
    if (socket.isPaused()) socket.resume();
    this.#owner.onIdle(this);
  }

  #leave(error?: Error): void {
    if (this.#gone) return;
    this.#gone = true;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#parser.stop();
    this.#socket?.destroy();
    this.#owner.onGone(this);
    if (exchange === undefined) return;
    exchange.connection = undefined;
    if (error !== undefined) exchange.onFailure(error);
  }
}

function joined(head: string, body: string | Uint8Array): Buffer {
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const bytes = Buffer.allocUnsafe(head.length + size);
  bytes.write(head, 0, "latin1");
  if (typeof body === "string") bytes.write(body, head.length, "utf8");
  else bytes.set(body, head.length);
  return bytes;
}

const unasked = () => new MalformedAnswerError("unasked", "it comes before the request");

/** As `node:http` says it. */
export function hangUp(begun = false): Error {
  return Object.assign(new Error(begun ? "aborted" : "socket hang up"), { code: "ECONNRESET" });
}
