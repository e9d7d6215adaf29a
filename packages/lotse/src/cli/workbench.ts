/**
 * What `lotse dev` has on its bench: the operators of one file, which are taken off and put back on at each save. A file
 * that is broken leaves the bench empty until the next save.
 */
import type { Client } from "@lotse/client";
import type { RunningOperator } from "../operator/index.ts";
import type { LogSink } from "../report/index.ts";
import type { LoadedOperator } from "./load.ts";

/** What lies on the bench. */
export type BenchState =
  | { readonly phase: "empty" }
  | { readonly phase: "working"; readonly operators: readonly LoadedOperator[]; readonly running: RunningOperator[] }
  | { readonly phase: "broken"; readonly error: unknown };

/** What a {@link Workbench} needs. */
export interface WorkbenchOptions {
  readonly client: Client;
  readonly log: LogSink;
  /** Loads the file anew. */
  readonly load: () => Promise<readonly LoadedOperator[]>;
  /** These operators are at work now. */
  readonly onWorking?: (operators: readonly LoadedOperator[]) => void;
  /** The file is broken, or an operator could not start. */
  readonly onBroken: (error: unknown) => void;
}

/** See the module comment. */
export class Workbench {
  readonly #options: WorkbenchOptions;
  #state: BenchState = { phase: "empty" };
  /** The reload under way; saves that come meanwhile are one more reload after it. */
  #reloading: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(options: WorkbenchOptions) {
    this.#options = options;
  }

  get state(): BenchState {
    return this.#state;
  }

  /** Stops what runs, loads the file as it is now and starts its operators. Never rejects. */
  reload(): Promise<void> {
    this.#again = true;
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  /** Stops what runs, for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#reloading;
    await this.#clear();
  }

  async #reload(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      await this.#clear();
      try {
        const operators = await this.#options.load();
        if (!this.#closed) this.#start(operators);
      } catch (error) {
        this.#broke(error);
      }
    }
  }

  #start(operators: readonly LoadedOperator[]): void {
    const { client, log } = this.#options;
    const running = operators.map(({ operator }) => operator.start({ client, log, crds: "install", events: "all" }));
    const state: BenchState = { phase: "working", operators, running };
    this.#state = state;
    this.#options.onWorking?.(operators);
    for (const { stopped } of running) {
      stopped.catch((error: unknown) => {
        if (this.#state === state) this.#broke(error);
      });
    }
  }

  #broke(error: unknown): void {
    this.#state = { phase: "broken", error };
    this.#options.onBroken(error);
  }

  async #clear(): Promise<void> {
    const state = this.#state;
    this.#state = { phase: "empty" };
    if (state.phase === "working") await Promise.allSettled(state.running.map((one) => one.stop()));
  }
}
