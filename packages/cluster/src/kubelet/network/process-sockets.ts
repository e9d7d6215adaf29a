import { connect, createServer, type Server, type Socket } from "node:net";

/** The interface that everything of this network is on. */
export const LOOPBACK = "127.0.0.1";

/** An open connection; rejects when no process listens there. */
export function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** Hands on what either side says until both have said everything; when one breaks off, so does the other. */
export function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    // The end of the connection tells the other side; without a listener the error would end the process.
    from.on("error", () => {});
    from.once("close", () => to.destroySoon());
    if (from.destroyed) to.destroySoon();
    else from.pipe(to);
  }
}

/** Listens on a free port of the loopback interface. */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, () => {
      server.off("error", reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

/** A port of this machine that leads elsewhere; where to is asked anew for each connection. */
export class Forwarder implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: ReadonlySet<Socket>;

  private constructor(server: Server, port: number, sockets: ReadonlySet<Socket>) {
    this.#server = server;
    this.port = port;
    this.#sockets = sockets;
  }

  static async start(target: () => Promise<Socket>): Promise<Forwarder> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => {});
      target().then(
        (other) => join(socket, other),
        // No process is behind it: the nearest thing to a refusal that is left once a connection stands.
        () => socket.resetAndDestroy(),
      );
    });
    return new Forwarder(server, await listen(server), sockets);
  }

  /** Breaks everything off; resolves when the port is free. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
