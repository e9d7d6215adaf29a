import { type ApiObject, fromStore, storeKey } from "../../registry/index.ts";
import type { Change } from "../../store/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "../controller.ts";
import { matcher } from "./claim.ts";
import { controllerOf, type Table } from "./tables.ts";
import { isNamespaceGoing, keyOf, type WorkloadApi } from "./workload-api.ts";

/** A change that one controller reacts to. */
export interface Seen<T extends ApiObject> {
  readonly type: Change["type"];
  /** Its present state, or its last one. */
  readonly object: T;
  readonly previous: T | undefined;
}

/** What a controller watches besides its own kind, and whose turn it is when something changes there. */
export interface Watch {
  readonly table: string;
  readonly wakes: (seen: Seen<ApiObject>, api: WorkloadApi) => readonly string[];
}

/** One kind of workload: what it looks at, and what it does about one object. */
export interface Workload {
  readonly table: string;
  readonly watches: readonly Watch[];
  /** How many objects a turn for this key looks at; left out where they are few. */
  readonly weigh?: (key: string) => number;
  /** Brings the object with this key nearer to its spec. Returns how long until it wants to look again by itself. */
  readonly reconcile: (key: string) => Promise<number | undefined>;
}

/** More turns than this in a second are no work but a quarrel with a client that undoes it. */
const MOST_TURNS = 1_000;
const COOL_DOWN = 1_000;

/** Runs one kind of workload: a queue of keys that changes bring in. */
export class WorkloadController implements Controller {
  readonly #context: ControllerContext;
  readonly #workload: Workload;
  readonly #api: WorkloadApi;
  readonly #queue: WorkQueue;
  readonly #turns = new Map<string, { readonly since: number; count: number }>();
  #stopWatching: (() => void)[] = [];

  constructor(context: ControllerContext, api: WorkloadApi, workload: Workload) {
    this.#context = context;
    this.#workload = workload;
    this.#api = api;
    this.#queue = new WorkQueue(
      context.backend,
      `the controller of ${workload.table}`,
      (key) => this.#work(key),
      workload,
    );
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    const { table, watches } = this.#workload;
    this.#stopWatching = [
      store.watch(table, store.revision, ({ key }) => this.#queue.add(key)),
      ...watches.map((watch) =>
        store.watch(watch.table, store.revision, (change) => {
          const seen = {
            type: change.type,
            object: fromStore(change.object),
            previous: change.previous && fromStore(change.previous.object),
          };
          for (const key of watch.wakes(seen, this.#api)) this.#queue.wake(key);
        }),
      ),
    ];
    for (const { key } of store.list(table)) this.#queue.add(key);
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  async #work(key: string): Promise<void> {
    if (this.#isQuarrel(key)) return this.#queue.addAfter(key, COOL_DOWN);
    try {
      const again = await this.#workload.reconcile(key);
      if (again !== undefined) this.#queue.addAfter(key, Math.max(0, again));
    } catch (error) {
      if (!isNamespaceGoing(error)) throw error;
    }
  }

  #isQuarrel(key: string): boolean {
    const now = this.#context.backend.clock.now();
    const turns = this.#turns.get(key);
    if (!turns || now - turns.since >= COOL_DOWN) this.#turns.set(key, { since: now, count: 1 });
    else if (++turns.count > MOST_TURNS) return true;
    if (this.#turns.size > MOST_TURNS) this.#turns.clear();
    return false;
  }
}

/**
 * Watches the children of a kind: a change wakes who manages the child, who managed it before, and, for a child that
 * no controller manages, every owner whose selector fits.
 */
export function watchChildren<O extends ApiObject, T extends ApiObject>(
  owners: Table<O>,
  children: Table<T>,
  selectorOf: (owner: O) => Parameters<typeof matcher>[0],
): Watch {
  const managed = (object: ApiObject | undefined, api: WorkloadApi): string[] => {
    const controller = object && controllerOf(object);
    if (!object || controller?.kind !== owners.kind || controller.apiVersion !== owners.apiVersion) return [];
    const key = storeKey(object.metadata.namespace, controller.name);
    return api.read(owners, key)?.metadata.uid === controller.uid ? [key] : [];
  };
  return {
    table: children.name,
    wakes: ({ type, object, previous }, api) => {
      const keys = [...managed(object, api), ...managed(previous, api)];
      if (type === "deleted" || controllerOf(object)) return keys;
      for (const owner of api.list(owners, object.metadata.namespace)) {
        if (matcher(selectorOf(owner))(object.metadata.labels)) keys.push(keyOf(owner));
      }
      return keys;
    },
  };
}

/**
 * Does something `count` times, in groups of 1, 2, 4, …: where it cannot succeed, it is not tried a hundred times.
 * Throws the first failure of a group.
 */
export async function slowStart(count: number, act: (at: number) => Promise<void>): Promise<void> {
  for (let done = 0, size = 1; done < count; done += size, size = Math.min(size * 2, count - done)) {
    const group = Array.from({ length: Math.min(size, count - done) }, (_, at) => act(done + at));
    const failed = (await Promise.allSettled(group)).find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }
}
