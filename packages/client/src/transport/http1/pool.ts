/** Connections to one server with one identity: the last one that was used is used again first. */
import { Connection, type ConnectionOwner, type Dial, hangUp } from "./connection.ts";
import type { WireExchange } from "./exchange.ts";
import { Housekeeping } from "./housekeeping.ts";

/** How many connections there may be, how long, and where they come from. */
export interface PoolOptions {
  /** Opens a socket. */
  readonly dial: Dial;
  readonly monotonic: () => number;
  /** How long one is kept for later. */
  readonly idleMs: number;
  /** How many there may be. Default: as many as are needed. */
  readonly most?: number | undefined;
}

/** See the module comment. */
export class ConnectionPool implements ConnectionOwner {
  readonly idleMs: number;
  readonly #o: PoolOptions;
  readonly #most: number;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<WireExchange>();
  #retired = false;
  /** A connection whose next exchange comes at once needs no timer, and is not taken from the event loop and given back. */
  readonly #housekeeping = new Housekeeping(() => {
    const now = this.#o.monotonic();
    for (const connection of this.#idle) connection.settle(now);
  });

  constructor(o: PoolOptions) {
    this.#o = o;
    this.idleMs = o.idleMs;
    this.#most = o.most ?? Number.POSITIVE_INFINITY;
  }

  /** How many connections there are, how many of them wait for work, and how much work waits for them. */
  get state(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    return { open: this.#all.size, idle: this.#idle.length, waiting: this.#waiting.size };
  }

  /** Sends it on a connection that is there, or on a new one; or later, where there may be no more. */
  send(exchange: WireExchange): void {
    const idle = this.#takeIdle();
    if (idle !== undefined) idle.carry(exchange);
    else if (this.#all.size < this.#most) this.#open(exchange);
    else this.#waiting.add(exchange);
  }

  /** The exchange has its end, or wants none: with it goes the connection that it is on. It hears nothing more. */
  cancel(exchange: WireExchange): void {
    this.#waiting.delete(exchange);
    exchange.connection?.destroy();
  }

  /** Work goes on to its end, and nothing is kept for later. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.destroy();
    this.#housekeeping.stop();
  }

  /** Ends everything. */
  destroy(): void {
    this.retire();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const connection of [...this.#all]) connection.destroy(hangUp());
    for (const exchange of waiting) exchange.onFailure(hangUp());
  }

  onIdle(connection: Connection): void {
    const next = this.#waiting.size === 0 ? undefined : this.#nextWaiting();
    if (next !== undefined) return void connection.carry(next);
    if (this.#retired) return void connection.destroy();
    this.#idle.push(connection);
    this.#housekeeping.soon();
  }

  onGone(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    const next = this.#nextWaiting();
    if (next !== undefined) this.#open(next);
  }

  /** One whose time is over has a timer of its own; a process that was stopped may come before it. */
  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.settled || this.#o.monotonic() < idle.idleUntil) return idle;
      idle.destroy();
    }
    return undefined;
  }

  #nextWaiting(): WireExchange | undefined {
    for (const exchange of this.#waiting) {
      this.#waiting.delete(exchange);
      return exchange;
    }
    return undefined;
  }

  #open(exchange: WireExchange): void {
    const connection = new Connection(this, exchange);
    this.#all.add(connection);
    const dialed = this.#o.dial(connection.onBytes);
    if (!(dialed instanceof Promise)) return void connection.adopt(dialed);
    dialed.then(
      (socket) => connection.adopt(socket),
      (error: Error) => connection.refuse(error),
    );
  }
}
