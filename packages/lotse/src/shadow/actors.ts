/** On whose behalf a request is made: a handler runs inside of this, and whatever it calls does too. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "../report/index.ts";

/** See the module comment. */
export class Actors {
  readonly #storage = new AsyncLocalStorage<Actor>();

  /** Does `work` on behalf of `actor`. */
  readonly run = <T>(actor: Actor, work: () => T): T => this.#storage.run(actor, work);

  /** On whose behalf the caller works; undefined for the framework's own requests. */
  get current(): Actor | undefined {
    return this.#storage.getStore();
  }

  /** Nobody asks any more: until then every promise of the process is followed, which has its price. */
  end(): void {
    this.#storage.disable();
  }
}
