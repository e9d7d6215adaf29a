import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "@lotse/client/meta";

/** How often it is looked for connections that their session has left open. */
const LOOK_MS = 2_000;

interface Held {
  readonly socket: Socket;
  /** When it was first seen that the session takes no more requests. */
  closedAt: number | undefined;
}

/**
 * The sessions of HTTP/2 that are there, each with its connection.
 *
 * A session that takes no more requests, because its client has said farewell, ends its connection after its last answer
 * is out. When the client is gone in the middle of that answer, Node.js may never hear that it is out: the session waits
 * without end, and its connection counts against the limit of the server. So it loses its connection when every answer
 * is past its deadline.
 */
export class Http2Sessions {
  readonly #held = new Map<ServerHttp2Session, Held>();
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #cancelLook: (() => void) | undefined;

  /** `answerMs`: the deadline of every answer. */
  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
    this.#patienceMs = answerMs + LOOK_MS;
  }

  add(session: ServerHttp2Session, socket: Socket): void {
    this.#held.set(session, { socket, closedAt: undefined });
    const gone = () => this.#remove(session);
    session.once("close", gone);
    socket.once("close", gone);
    this.#cancelLook ??= this.#clock.after(LOOK_MS, () => this.#look());
  }

  /** Tells all clients to send no more requests on these connections. */
  close(): void {
    for (const session of this.#held.keys()) if (!session.closed) session.close();
  }

  #remove(session: ServerHttp2Session): void {
    this.#held.delete(session);
    if (this.#held.size > 0) return;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  #look(): void {
    const now = this.#clock.monotonic();
    this.#cancelLook = this.#clock.after(LOOK_MS, () => this.#look());
    for (const [session, held] of this.#held) {
      if (!(session.closed || session.destroyed)) continue;
      held.closedAt ??= now;
      if (now - held.closedAt >= this.#patienceMs) held.socket.destroy();
    }
  }
}
