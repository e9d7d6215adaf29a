/**
 * Local ports that lead into a pod. Each TCP connection gets a WebSocket of its own, and of a service its own choice of
 * pod; nothing is read from it before that stands, so that nothing is lost when it takes several tries.
 */
import * as net from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, ConfigError, lookup, sleep } from "../meta/index.ts";
import { ApiError, ConnectionError, linkSignals, TimeoutError } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { numberOfPort, type PortSpec, readPorts, type WantedPort } from "./ports.ts";

/** Where connections go. */
export interface ForwardTarget {
  /** The pod for the next connection. */
  pick(): Promise<PodAccess>;
  /** The pod's port for a port that was asked for, or its name in the pod. Default: the same. */
  portOf?(port: number | string): number | string | Promise<number | string>;
}

/** How to forward. */
export interface PortForwardOptions extends ConnectOptions {
  /** `"same"`: the number of the remote port. Default 0: any that is free. */
  readonly localPort?: number | "same" | undefined;
  /** Where to listen. `"localhost"` means both families. Default `127.0.0.1`. */
  readonly address?: string | readonly string[] | undefined;
  /** Hears of each connection that failed; the local program sees it reset. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** One forwarded port. */
export interface ForwardedPort {
  readonly remote: number | string;
  readonly local: number;
}

/**
 * Local ports that are open until they are closed.
 *
 * @example
 * ```ts
 * await using forward = await pod.portForward(80);
 * const response = await fetch(forward.url("/healthz"));
 * ```
 */
export interface PortForward extends AsyncDisposable {
  /** The local port, of several the first. */
  readonly port: number;
  readonly ports: readonly ForwardedPort[];
  /** The address that is listened on, of several the first. */
  readonly address: string;
  /** Why the last connection failed. */
  readonly lastError: unknown;
  /** `http://127.0.0.1:<port><path>`, of several ports the first or the given remote one. */
  url(path?: string, remote?: number | string): string;
  /** Closes the listeners and all connections. */
  close(): Promise<void>;
  /** Resolves when it is closed; rejects with the reason when it was aborted, or a listener failed. */
  readonly closed: Promise<void>;
}

/** One try and four more, for about a second and a half. */
const MAX_ATTEMPTS = 5;
const delayMs = (attempt: number): number => 100 * 2 ** (attempt - 1);
/** Another address may already use a port that was free on the first one. */
const MAX_PORT_CHOICES = 10;

/**
 * Opens local ports that lead to ports of a pod.
 *
 * @example
 * ```ts
 * const forward = await portForward({ pick: async () => pod }, [80, "metrics", "8443:443"]);
 * console.log(forward.ports);
 * await forward.close();
 * ```
 */
export async function portForward(
  target: ForwardTarget,
  ports: PortSpec | readonly PortSpec[],
  o: PortForwardOptions = {},
): Promise<PortForward> {
  const wanted = readPorts(ports, o.localPort);
  const addresses = readAddresses(o.address);
  o.signal?.throwIfAborted();
  // A pod that does not exist and a port that has no name are told now, not when a program connects.
  const pod = await target.pick();
  const body = await pod.read({ signal: o.signal });
  const resolved = await Promise.all(
    wanted.map(async (port) => ({
      ...port,
      number: numberOfPort(body, (await target.portOf?.(port.remote)) ?? port.remote),
    })),
  );
  const forward = new Forward(target, o, addresses[0] as string);
  try {
    for (const port of resolved) await forward.listen(port, port.number, addresses);
  } catch (error) {
    await forward.close();
    throw error;
  }
  return forward;
}

function readAddresses(address: string | readonly string[] = "127.0.0.1"): readonly string[] {
  const list = typeof address === "string" ? [address] : address;
  if (list.length === 0) throw new ConfigError("there is no address to listen on", { hint: 'write "127.0.0.1"' });
  return [...new Set(list.flatMap((one) => (one === "localhost" ? ["127.0.0.1", "::1"] : [one])))];
}

class Forward implements PortForward {
  readonly address: string;
  readonly ports: ForwardedPort[] = [];
  readonly closed: Promise<void>;
  lastError: unknown;
  readonly #target: ForwardTarget;
  readonly #o: PortForwardOptions;
  readonly #servers: net.Server[] = [];
  readonly #sockets = new Set<net.Socket>();
  readonly #ended = new AbortController();
  #settle!: { resolve: () => void; reject: (reason: unknown) => void };

  constructor(target: ForwardTarget, o: PortForwardOptions, address: string) {
    this.#target = target;
    this.#o = o;
    this.address = address;
    this.closed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.closed.catch(() => undefined);
    o.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get port(): number {
    return (this.ports[0] as ForwardedPort).local;
  }

  url(path = "/", remote?: number | string): string {
    const found = remote === undefined ? this.ports[0] : this.ports.find((port) => port.remote === remote);
    if (!found) {
      const known = this.ports.map((port) => port.remote).join(", ");
      throw new ConfigError(`port ${remote} is not forwarded`, { hint: `these are: ${known}` });
    }
    const host = this.address.includes(":") ? `[${this.address}]` : this.address;
    return `http://${host}:${found.local}${path.startsWith("/") ? path : `/${path}`}`;
  }

  /** Listens on all addresses, on one port. */
  async listen(wanted: WantedPort, number: number, addresses: readonly string[]): Promise<void> {
    const fixed = wanted.local === "same" ? number : wanted.local;
    for (let choice = 1; ; choice++) {
      const servers: net.Server[] = [];
      try {
        let local = fixed;
        for (const [index, address] of addresses.entries()) {
          const server = await this.#open(wanted.remote, local, address, index > 0).catch((error) => {
            throw unavailable(error, address, local);
          });
          if (!server) continue;
          servers.push(server);
          local = (server.address() as net.AddressInfo).port;
        }
        this.#servers.push(...servers);
        this.ports.push({ remote: wanted.remote, local });
        return;
      } catch (error) {
        await Promise.all(servers.map(closeServer));
        if (fixed !== 0 || choice === MAX_PORT_CHOICES) throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#shut();
    this.#settle.resolve();
    await Promise.all(this.#servers.map(closeServer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Resolves with nothing for a further address of a family that this machine does not have. */
  async #open(remote: number | string, port: number, host: string, further: boolean): Promise<net.Server | undefined> {
    // A half-closed connection still gets its answer; data is read once there is somewhere to send it.
    const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      void this.#serve(socket, remote);
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ port, host }, resolve);
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (further && host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) return undefined;
      throw error;
    }
    server.on("error", (error) => this.#fail(error));
    return server;
  }

  async #serve(socket: net.Socket, remote: number | string): Promise<void> {
    this.#sockets.add(socket);
    const left = new AbortController();
    const { signal = left.signal, unlink } = linkSignals([this.#ended.signal, left.signal]);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      left.abort(new Error("the local connection is closed"));
    });
    try {
      const stream = await this.#connect(remote, signal);
      socket.setNoDelay(true);
      await join(socket, stream);
    } catch (error) {
      if (!left.signal.aborted && !this.#ended.signal.aborted) {
        this.lastError = error;
        this.#o.onError?.(error);
      }
      // Not a proper end: the other side must not take half an answer for a whole one.
      socket.resetAndDestroy();
    } finally {
      unlink();
    }
  }

  async #connect(remote: number | string, signal: AbortSignal): Promise<Duplex> {
    for (let attempt = 1; ; attempt++) {
      let clock: Clock | undefined;
      try {
        const pod = await this.#target.pick();
        clock = pod.clock;
        const port = (await this.#target.portOf?.(remote)) ?? remote;
        const number = typeof port === "number" ? port : numberOfPort(await pod.read({ signal }), port);
        return await connect(pod, number, { timeout: this.#o.timeout, signal });
      } catch (error) {
        if (signal.aborted || attempt === MAX_ATTEMPTS || clock === undefined || !isPassing(error)) throw error;
        await sleep(clock, delayMs(attempt), signal);
      }
    }
  }

  readonly #onAbort = () => this.#fail(this.#o.signal?.reason);

  #fail(reason: unknown): void {
    this.#shut();
    this.#settle.reject(reason);
    for (const server of this.#servers) server.close();
  }

  #shut(): void {
    this.#o.signal?.removeEventListener("abort", this.#onAbort);
    this.#ended.abort(new Error("the port is no longer forwarded"));
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * Lets both flow into each other until both have ended. Not a `pipeline`, which would end the local connection properly
 * when the other one fails.
 */
function join(socket: net.Socket, stream: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("error", reject);
    socket.once("close", () => {
      stream.destroy();
      resolve();
    });
    stream.once("end", () => {
      // The pod is not there any more to read what the local program may still write.
      socket.unpipe(stream);
      socket.resume();
      stream.destroy();
    });
    socket.pipe(stream);
    stream.pipe(socket);
  });
}

const closeServer = (server: net.Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Another try, perhaps with another pod, may do better; a refusal will stay one. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status !== 401 && error.status !== 403;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

function unavailable(error: NodeJS.ErrnoException, address: string, port: number): unknown {
  const said: Record<string, string> = { EADDRINUSE: "it is in use", EACCES: "this needs more rights" };
  const why = lookup(said, error.code ?? "");
  if (why === undefined) return error;
  return new ConfigError(`cannot listen on port ${port} of ${address}: ${why}`, {
    cause: error,
    hint: "leave the local port out to get one that is free",
  });
}
