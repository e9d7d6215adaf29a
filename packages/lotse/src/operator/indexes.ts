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
import { IndexStore } from "../informers/index.ts";
import type { Author, KindReads } from "../reconcile/index.ts";
import type { Logger } from "../report/index.ts";
import { errorFields, named } from "../turn/index.ts";

/** See the module comment. */
export class OperatorIndexes {
  readonly #stores = new Map<string, IndexStore<never, unknown>>();
  /** Objects that a function has refused for good, by index. */
  readonly #excluded = new Map<string, Set<string>>();
  /** What handlers get. */
  readonly view: Indexes;

  /** Who makes the change that is being told. */
  #by: Author;

  constructor(ids: Iterable<string>, reads: (id: string) => KindReads) {
    for (const id of ids) this.#stores.set(id, new IndexStore((key) => this.#tell(reads(id), key)));
    const byName = Object.fromEntries([...this.#stores].map(([id, store]) => [id, store.index]));
    const byHandle = ({ id }: IndexHandle<unknown, unknown>) => this.#stores.get(id)?.index;
    this.view = Object.assign(byHandle, byName) as unknown as Indexes;
  }

  /** An object is there or has changed. `loggerOf` makes a logger whose lines are about it. */
  update(handlers: readonly IndexHandler[], body: KubeBody, loggerOf: (body: KubeBody) => Logger, by?: Author): void {
    this.#by = by;
    for (const handler of handlers) {
      const store = this.#stores.get(handler.id);
      const uid = body.metadata?.uid ?? "";
      if (!store || this.#excluded.get(handler.id)?.has(uid)) continue;
      try {
        store.update(uid, matchesFilters(handler.filters, body) ? contributionOf(handler, body) : undefined);
      } catch (error) {
        this.#failed(handler, body, error, loggerOf(body));
      }
    }
  }

  #tell(reads: KindReads, key: string): void {
    reads.indexChanged(key, { before: undefined, now: undefined, by: this.#by });
  }

  #failed(handler: IndexHandler, body: KubeBody, error: unknown, logger: Logger): void {
    const uid = body.metadata?.uid ?? "";
    const mode = modeOf(error, handler.errors);
    if (mode !== "ignored") this.#stores.get(handler.id)?.remove(uid);
    if (mode === "permanent") {
      const excluded = this.#excluded.get(handler.id) ?? new Set();
      this.#excluded.set(handler.id, excluded.add(uid));
    }
    logger.error(SENTENCES[mode], { ...named(handler), ...errorFields(error, true) });
  }

  /** An object is gone. */
  remove(handlers: readonly IndexHandler[], body: KubeBody, by?: Author): void {
    this.#by = by;
    const uid = body.metadata?.uid ?? "";
    for (const { id } of handlers) {
      this.#stores.get(id)?.remove(uid);
      this.#excluded.get(id)?.delete(uid);
    }
  }
}

const SENTENCES: Readonly<Record<ErrorMode, string>> = {
  ignored: "index function failed, what was in the index before stays",
  temporary: "index function failed, the object is not in the index until it changes",
  permanent: "index function failed for good, the object is not in the index",
};

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
