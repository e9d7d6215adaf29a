import type { Controller, ControllerContext } from "../controllers/index.ts";

/** Which of them run; all do unless told otherwise. */
export interface PodKeeperOptions {
  /** Counts what PodDisruptionBudgets allow. */
  readonly disruptionBudgets?: boolean;
  /** Deletes pods whose node is gone, and others that nobody else deletes. */
  readonly podCollection?: boolean;
}

const MAKERS: Readonly<Record<string, (context: ControllerContext) => Promise<Controller>>> = {
  "poddisruptionbudgets.policy": async (context) => new (await import("./disruption.ts")).DisruptionController(context),
  pods: async (context) => new (await import("./pod-collector.ts")).PodCollector(context),
};

/**
 * Controllers of pods that have something to do whether pods run or not. Each is loaded when the first object comes that
 * it is for: a cluster without any does not pay for it.
 */
export class PodKeepers implements Controller {
  readonly #context: ControllerContext;
  readonly #tables: readonly string[];
  readonly #running: Controller[] = [];
  readonly #watches = new Map<string, () => void>();
  #loading = 0;
  #stopped = false;

  constructor(context: ControllerContext, { disruptionBudgets = true, podCollection = true }: PodKeeperOptions) {
    this.#context = context;
    this.#tables = [...(disruptionBudgets ? ["poddisruptionbudgets.policy"] : []), ...(podCollection ? ["pods"] : [])];
  }

  get idle(): boolean {
    return this.#loading === 0 && this.#running.every(({ idle }) => idle);
  }

  start(): void {
    const { store } = this.#context.backend;
    for (const table of this.#tables) {
      const begin = () => this.#begin(table);
      if (store.count(table) > 0) begin();
      else this.#watches.set(table, store.watch(table, store.revision, begin));
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#watches.values()) stop();
    for (const controller of this.#running) controller.stop();
  }

  #begin(table: string): void {
    const make = MAKERS[table];
    this.#watches.get(table)?.();
    if (!make || this.#watches.get(table) === DONE) return;
    this.#watches.set(table, DONE);
    this.#loading++;
    void make(this.#context)
      .then((controller) => {
        if (this.#stopped) return;
        this.#running.push(controller);
        controller.start();
      })
      .finally(() => this.#loading--);
  }
}

const DONE = (): void => {};
