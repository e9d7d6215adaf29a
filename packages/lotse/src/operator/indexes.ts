/** The indexes of a running operator: one store for each id, fed by the objects of one kind or of several. */
import type { KubeBody } from "@lotse/client";
import {
  deepFreeze,
  filterContext,
  type Indexes,
  type IndexHandle,
  type IndexHandler,
  matchesFilters,
} from "../declare/index.ts";
import { IndexStore } from "../informers/index.ts";
import type { Logger } from "../report/index.ts";
import { errorFields } from "../turn/index.ts";

/** See the module comment. */
export class OperatorIndexes {
  readonly #stores = new Map<string, IndexStore<never, unknown>>();
  /** What handlers get. */
  readonly view: Indexes;

  constructor(ids: Iterable<string>) {
    for (const id of ids) this.#stores.set(id, new IndexStore());
    const byName = Object.fromEntries([...this.#stores].map(([id, store]) => [id, store.index]));
    const byHandle = ({ id }: IndexHandle<unknown, unknown>) => this.#stores.get(id)?.index;
    this.view = Object.assign(byHandle, byName) as unknown as Indexes;
  }

  /** An object is there or has changed. A function that throws takes the object out of its index, and is told. */
  update(handlers: readonly IndexHandler[], body: KubeBody, logger: Logger): void {
    for (const handler of handlers) {
      const store = this.#stores.get(handler.id);
      const uid = body.metadata?.uid ?? "";
      try {
        const matches = matchesFilters(handler.filters, body);
        store?.update(uid, matches ? handler.fn(filterContext(deepFreeze(body) as KubeBody)) : undefined);
      } catch (error) {
        store?.remove(uid);
        logger.error("index function failed, the object is not in the index", {
          handler: handler.id,
          name: body.metadata?.name,
          ...errorFields(error, true),
        });
      }
    }
  }

  /** An object is gone. */
  remove(handlers: readonly IndexHandler[], body: KubeBody): void {
    for (const handler of handlers) this.#stores.get(handler.id)?.remove(body.metadata?.uid ?? "");
  }
}
