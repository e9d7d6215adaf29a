import type { Change, Store } from "./store.ts";

/** Every change since the start, object by object; the store itself forgets after some minutes. */
export class ChangeHistory {
  readonly #changes = new Map<string, Change[]>();
  readonly #order: string[] = [];
  readonly #limit: number;

  /** Keeps the last `limit` changes of all objects together. */
  constructor(store: Store, limit: number) {
    this.#limit = limit;
    store.watchAll((resource, change) => this.#add(`${resource} ${change.key}`, change));
  }

  of(resource: string, key: string): readonly Change[] {
    return this.#changes.get(`${resource} ${key}`) ?? [];
  }

  #add(id: string, change: Change): void {
    const known = this.#changes.get(id);
    if (known) known.push(change);
    else this.#changes.set(id, [change]);
    this.#order.push(id);
    // In larger steps, because taking one off the front moves all the others.
    if (this.#order.length < this.#limit * 1.1 + 1) return;
    for (const oldest of this.#order.splice(0, this.#order.length - this.#limit)) {
      const changes = this.#changes.get(oldest);
      changes?.shift();
      if (changes?.length === 0) this.#changes.delete(oldest);
    }
  }
}
