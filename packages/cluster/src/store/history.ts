import type { Change } from "./change.ts";
import { sizeOf } from "./size.ts";
import type { Store } from "./store.ts";

interface Kept {
  readonly id: string;
  readonly bytes: number;
}

/** How much a {@link ChangeHistory} keeps, of all objects together. */
export interface HistoryBounds {
  readonly changes: number;
  /** About as many bytes of JSON. */
  readonly bytes: number;
}

/** Every change since the start, object by object; the store itself forgets after some minutes. */
export class ChangeHistory {
  readonly #changes = new Map<string, Change[]>();
  /** Oldest first; those before `#start` are forgotten. */
  #order: Kept[] = [];
  #start = 0;
  #bytes = 0;
  readonly #bounds: HistoryBounds;

  constructor(store: Store, bounds: HistoryBounds) {
    this.#bounds = bounds;
    store.watchAll((resource, change) => this.#add(`${resource} ${change.key}`, change));
  }

  of(resource: string, key: string): readonly Change[] {
    return this.#changes.get(`${resource} ${key}`) ?? [];
  }

  #add(id: string, change: Change): void {
    const known = this.#changes.get(id);
    if (known) known.push(change);
    else this.#changes.set(id, [change]);
    const bytes = sizeOf(change.object);
    this.#order.push({ id, bytes });
    this.#bytes += bytes;
    // The newest one stays, however large it is.
    while (this.#isTooMuch() && this.#order.length - this.#start > 1) this.#forgetFirst();
  }

  #isTooMuch(): boolean {
    return this.#order.length - this.#start > this.#bounds.changes || this.#bytes > this.#bounds.bytes;
  }

  #forgetFirst(): void {
    const { id, bytes } = this.#order[this.#start++] as Kept;
    this.#bytes -= bytes;
    const changes = this.#changes.get(id);
    changes?.shift();
    if (changes?.length === 0) this.#changes.delete(id);
    // Now and then only, because taking some off the front moves all the others.
    if (this.#start <= 1_024 || this.#start * 2 <= this.#order.length) return;
    this.#order = this.#order.slice(this.#start);
    this.#start = 0;
  }
}
