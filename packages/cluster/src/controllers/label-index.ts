import { type LabelSelector, matchesLabels } from "@lotse/client/meta";
import { type ApiObject, fromStore } from "../registry/index.ts";
import type { Store } from "../store/index.ts";
import { StoreIndex } from "./store-index.ts";

const term = (namespace: string | undefined, key: string, value: string): string => `${namespace}\n${key}=${value}`;

const termsOf = ({ metadata: { namespace, labels = {} } }: ApiObject): string[] =>
  Object.entries(labels).map(([key, value]) => term(namespace, key, value));

/** Finds the objects of a namespace that a selector is about, by the rarest of the labels that it asks for. */
export class LabelIndex {
  readonly #store: Store;
  readonly #table: string;
  readonly #index: StoreIndex;

  constructor(store: Store, table: string) {
    this.#store = store;
    this.#table = table;
    this.#index = new StoreIndex(store, table, termsOf);
  }

  stop(): void {
    this.#index.stop();
  }

  /** The objects that match, in order of their keys. */
  select(namespace: string | undefined, selector: LabelSelector): ApiObject[] {
    const rarest = this.#rarest(namespace, selector);
    const candidates =
      rarest === undefined
        ? this.#store.list(this.#table, `${namespace}/`).map((entry) => fromStore(entry.object))
        : this.#index.at(rarest);
    return candidates.filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  }

  /** How many objects are looked at to find those that match. */
  weigh(namespace: string | undefined, selector: LabelSelector): number {
    const rarest = this.#rarest(namespace, selector);
    return rarest === undefined ? this.#store.count(this.#table) : this.#index.count(rarest);
  }

  #rarest(namespace: string | undefined, selector: LabelSelector): string | undefined {
    let best: string | undefined;
    for (const { key, operator, values } of selector) {
      const [value] = values;
      if ((operator !== "=" && operator !== "in") || values.length !== 1 || value === undefined) continue;
      const candidate = term(namespace, key, value);
      if (best === undefined || this.#index.count(candidate) < this.#index.count(best)) best = candidate;
    }
    return best;
  }
}
