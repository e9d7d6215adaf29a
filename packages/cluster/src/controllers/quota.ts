import { deepEqual } from "@lotse/client/meta";
import { QUOTAS, usageIn, writeAmounts } from "../admission/index.ts";
import { fromStore, isRecord, objectAt, StatusError, type Target, update } from "../registry/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const MANAGER = "kube-controller-manager";
const WRITE = { dryRun: false, fieldManager: MANAGER, fieldValidation: "Ignore" } as const;
/** Admission counts before it is sure that the write succeeds; what did not is found by looking again after a while. */
const RECOUNT_MS = 5_000;

/** Counts what the objects of a namespace use, and keeps the status of its ResourceQuotas true. */
export class QuotaController implements Controller {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  #stopWatching: () => void = () => {};

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context.backend, "the controller of quotas", (key) => this.#work(key), {
      weigh: () => context.backend.store.count("pods"),
    });
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    for (const entry of store.list(QUOTAS)) this.#queue.add(entry.key);
    this.#stopWatching = store.watchAll((table, change) => {
      if (store.count(QUOTAS) === 0) return;
      const { namespace } = fromStore(change.object).metadata;
      if (namespace === undefined) return;
      if (table === QUOTAS && change.type === "updated" && !isNew(change.object)) {
        this.#queue.addAfter(change.key, RECOUNT_MS);
        return;
      }
      for (const entry of store.list(QUOTAS, `${namespace}/`)) this.#queue.wake(entry.key);
    });
  }

  stop(): void {
    this.#stopWatching();
    this.#queue.stop();
  }

  async #work(key: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(QUOTAS, key);
    const endpoint = backend.catalog.storage("", QUOTAS);
    if (!entry || !endpoint) return;
    const { namespace, name } = fromStore(entry.object).metadata;
    const target: Target = { endpoint, namespace, name, subresource: "status" };
    try {
      await update(backend, requester, target, WRITE, {
        by: "patch",
        tracked: false,
        next: (current) => {
          const { hard } = objectAt(current, "spec");
          const used = writeAmounts(usageIn(current, backend, backend.clock.now()));
          const status = { ...(isRecord(hard) ? { hard } : {}), used };
          return { ...structuredClone(current), status: structuredClone(status) };
        },
      });
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
}

/** Whether the limits are others than those that were counted for. */
function isNew(quota: unknown): boolean {
  return !deepEqual(objectAt(quota, "spec").hard ?? {}, objectAt(quota, "status").hard ?? {});
}
