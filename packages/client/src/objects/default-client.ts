/** The one thing of a process that programs share without passing it on: the client of objects that were given none. */

/** Holds a client for objects that have none; it is connected when it is first asked for. */
export class DefaultClient<C> {
  #connect: (() => Promise<C>) | undefined;
  #current: Promise<C> | undefined;

  /** Says how a client is connected. Done once, by the module that has the class of clients. */
  connectBy(connect: () => Promise<C>): void {
    this.#connect = connect;
  }

  /** The client; connects where there is none. A failure is not kept: the next call connects anew. */
  get(): Promise<C> {
    if (this.#current) return this.#current;
    if (!this.#connect) return Promise.reject(new Error("the client's module is not loaded"));
    const connecting = this.#connect();
    this.#current = connecting;
    connecting.catch(() => {
      if (this.#current === connecting) this.#current = undefined;
    });
    return connecting;
  }

  /** Puts another client in its place; `undefined` lets the next use connect anew. */
  set(client: C | undefined): void {
    this.#current = client === undefined ? undefined : Promise.resolve(client);
  }
}
