/** The indexes of a running operator: one store for each id, fed by the objects of one kind or of several. */
import type { KubeBody } from "@lotse/client";
import {
  deepFreeze,
  type ErrorMode,
  filterContext,
  type Indexes,
  type IndexHandle,
  type IndexHandler,
  matchesFilters,
  PermanentError,
  TemporaryError,
} from "../declare/index.ts";
import { IndexStore } from "./indexes.ts";

/** Told that the function of an index has failed for an object, and what follows from that. */
export type IndexFailureListener = (handler: IndexHandler, error: unknown, mode: ErrorMode) => void;

/** See the module comment. `By` says who has made a change. */
export class OperatorIndexes<By> {
  readonly #stores = new Map<string, IndexStore<never, unknown>>();
  /** Objects that a function has refused for good, by index. */
  readonly #excluded = new Map<string, Set<string>>();
  /** What handlers get. */
  readonly view: Indexes;

  /** Who has made the change that is being told. */
  #by: By | undefined;

  /** `onChange` hears of each key of an index whose values are others now. */
  constructor(ids: Iterable<string>, onChange: (id: string, key: string, by: By | undefined) => void) {
    for (const id of ids) this.#stores.set(id, new IndexStore((key) => onChange(id, key, this.#by)));
    const byName = Object.fromEntries([...this.#stores].map(([id, store]) => [id, store.index]));
    const byHandle = ({ id }: IndexHandle<unknown, unknown>) => this.#stores.get(id)?.index;
    this.view = Object.assign(byHandle, byName) as unknown as Indexes;
  }

  /** An object is there or has changed. */
  update(handlers: readonly IndexHandler[], body: KubeBody, onFailure: IndexFailureListener, by?: By): void {
    this.#by = by;
    for (const handler of handlers) {
      const store = this.#stores.get(handler.id);
      const uid = body.metadata?.uid ?? "";
      if (!store || this.#excluded.get(handler.id)?.has(uid)) continue;
      try {
        store.update(uid, matchesFilters(handler.filters, body) ? contributionOf(handler, body) : undefined);
      } catch (error) {
        onFailure(handler, error, this.#failed(handler, uid, error));
      }
    }
  }

  #failed(handler: IndexHandler, uid: string, error: unknown): ErrorMode {
    const mode = modeOf(error, handler.errors);
    if (mode !== "ignored") this.#stores.get(handler.id)?.remove(uid);
    if (mode === "permanent") {
      const excluded = this.#excluded.get(handler.id) ?? new Set();
      this.#excluded.set(handler.id, excluded.add(uid));
    }
    return mode;
  }

  /** An object is gone. */
  remove(handlers: readonly IndexHandler[], body: KubeBody, by?: By): void {
    this.#by = by;
    const uid = body.metadata?.uid ?? "";
    for (const { id } of handlers) {
      this.#stores.get(id)?.remove(uid);
      this.#excluded.get(id)?.delete(uid);
    }
  }
}

function modeOf(error: unknown, mode: ErrorMode): ErrorMode {
  if (error instanceof PermanentError) return "permanent";
  return error instanceof TemporaryError ? "temporary" : mode;
}

/** The body itself is a value, not a map of keys, though it looks like one. */
function contributionOf(handler: IndexHandler, body: KubeBody): unknown {
  const context = filterContext(deepFreeze(body) as KubeBody);
  const contribution = handler.fn(context);
  return contribution === context.body ? new Map([[null, contribution]]) : contribution;
}
