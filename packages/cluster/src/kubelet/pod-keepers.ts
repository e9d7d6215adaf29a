import type { Controller, ControllerContext } from "../controllers/index.ts";

/** Which of them run; all do unless told otherwise. */
export interface PodKeeperOptions {
  /** Counts what PodDisruptionBudgets allow. */
  readonly disruptionBudgets?: boolean;
  /** Deletes pods whose node is gone, and others that no other controller deletes. */
  readonly podCollection?: boolean;
  /** Taints nodes that are not ready, and frees those that are. */
  readonly nodeTaints?: boolean;
}

/** Makes the controller that looks after the objects of a table. */
type Maker = (context: ControllerContext) => Promise<Controller>;

const MAKERS: Readonly<Record<string, Maker>> = {
  "poddisruptionbudgets.policy": async (context) => new (await import("./disruption.ts")).DisruptionController(context),
  pods: async (context) => new (await import("./pod-collector.ts")).PodCollector(context),
  nodes: async (context) => new (await import("./node-taints.ts")).NodeTaints(context),
};

/**
 * Controllers of pods that have something to do whether pods run or not. Each is loaded when the first object comes that
 * it is for: a cluster without any does not pay for it.
 */
export class PodKeepers implements Controller {
  readonly #context: ControllerContext;
  readonly #tables: readonly string[];
  readonly #makers: Readonly<Record<string, Maker>>;
  readonly #running: Controller[] = [];
  readonly #watches = new Map<string, () => void>();
  /** Tables whose controller is being made, or runs. */
  readonly #begun = new Set<string>();
  #loading = 0;
  #stopped = false;

  /** `makers` say how each of them is made, by the table that it is for. */
  constructor(
    context: ControllerContext,
    { disruptionBudgets = true, podCollection = true, nodeTaints = true }: PodKeeperOptions,
    makers: Readonly<Record<string, Maker>> = MAKERS,
  ) {
    this.#context = context;
    this.#makers = makers;
    this.#tables = [
      ...(disruptionBudgets ? ["poddisruptionbudgets.policy"] : []),
      ...(podCollection ? ["pods"] : []),
      ...(nodeTaints ? ["nodes"] : []),
    ];
  }

  get idle(): boolean {
    return this.#loading === 0 && this.#running.every(({ idle }) => idle);
  }

  start(): void {
    for (const table of this.#tables) {
      if (this.#context.backend.store.count(table) > 0) this.#begin(table);
      else this.#await(table);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#watches.values()) stop();
    for (const controller of this.#running) controller.stop();
  }

  /** The next object of the table begins it. */
  #await(table: string): void {
    const { store } = this.#context.backend;
    const stop = store.watch(table, store.revision, () => {
      stop();
      this.#begin(table);
    });
    this.#watches.set(table, stop);
  }

  /** Loads and starts the controller of a table. One that cannot be is told of, and tried again with the next object. */
  #begin(table: string): void {
    const make = this.#makers[table];
    if (!make || this.#begun.has(table)) return;
    this.#begun.add(table);
    this.#loading++;
    make(this.#context)
      .then((controller) => this.#take(controller))
      .catch((error: unknown) => {
        this.#context.backend.troubles.report(`the controller that looks after ${table} does not run`, error);
        this.#begun.delete(table);
        if (!this.#stopped) this.#await(table);
      })
      .finally(() => this.#loading--);
  }

  #take(controller: Controller): void {
    if (this.#stopped) return;
    try {
      controller.start();
    } catch (error) {
      controller.stop();
      throw error;
    }
    this.#running.push(controller);
  }
}
