/** The connection of one process to its cluster: bytes pass as they are, until it is cut. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * See the module comment.
 *
 * @example
 * ```ts
 * const cable = await Cable.open(cluster.url);
 * const client = await Client.connect({ url: cable.url, token: cluster.token });
 * cable.cut(); // the client hears nothing any more, and nobody tells it
 * cable.heal();
 * ```
 */
export class Cable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #open = new Set<Socket>();
  #isCut = false;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((socket) => this.#join(socket));
  }

  /** Listens on loopback, in front of the server at `target`. */
  static async open(target: string): Promise<Cable> {
    const cable = new Cable(target);
    await new Promise<void>((resolve) => cable.#server.listen(0, "127.0.0.1", resolve));
    return cable;
  }

  /** Where the process finds its cluster. */
  get url(): string {
    return `${this.#target.protocol}//127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Nothing passes any more, and nobody is told: what is sent is lost, and connections stay open. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#open) swallow(socket);
  }

  /** New connections pass again; those that were cut break. */
  heal(): void {
    this.#isCut = false;
    for (const socket of this.#open) socket.destroy();
  }

  /** Breaks all connections, and takes no more. */
  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #join(near: Socket): void {
    this.#keep(near);
    if (this.#isCut) {
      swallow(near);
      return;
    }
    const far = connect(Number(this.#target.port), this.#target.hostname);
    this.#keep(far);
    near.pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  }

  #keep(socket: Socket): void {
    this.#open.add(socket.setNoDelay());
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#open.delete(socket));
  }
}

function swallow(socket: Socket): void {
  socket.unpipe().resume();
}
