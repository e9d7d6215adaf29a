/**
 * What `lotse dev` has on its bench: the operators of one file, which at each save make room for those of the file as it
 * is then. A file that is broken makes no room: what runs, runs on until the file is mended.
 */
import type { RunningOperator, StartOptions } from "../../operator/index.ts";
import type { LoadedOperator } from "../project/index.ts";

/** What lies on the bench. */
export type BenchState =
  | { readonly phase: "empty" }
  | { readonly phase: "working"; readonly operators: readonly LoadedOperator[]; readonly running: RunningOperator[] }
  | { readonly phase: "broken"; readonly error: unknown };

/** How one of the operators is started. */
export type StartOf = (one: LoadedOperator) => StartOptions;

/** What a {@link Workbench} needs. */
export interface WorkbenchOptions {
  /** Where and how these operators run; `again`: others of this session have been at work before them. */
  readonly start: (operators: readonly LoadedOperator[], again: boolean) => StartOf | Promise<StartOf>;
  /** Loads the file anew. */
  readonly load: () => Promise<readonly LoadedOperator[]>;
  /** These operators are at work now. */
  readonly onWorking?: (operators: readonly LoadedOperator[]) => void;
  /** The file is broken, or an operator could not start; `stillRunning`: those of before are at work as they were. */
  readonly onBroken: (error: unknown, stillRunning: boolean) => void;
}

/** See the module comment. */
export class Workbench {
  readonly #options: WorkbenchOptions;
  #state: BenchState = { phase: "empty" };
  /** The reload under way; saves that come meanwhile are one more reload after it. */
  #reloading: Promise<void> | undefined;
  #again = false;
  #started = false;
  #closed = false;

  constructor(options: WorkbenchOptions) {
    this.#options = options;
  }

  get state(): BenchState {
    return this.#state;
  }

  /** Loads the file as it is now; if that works, stops what runs and starts its operators. Never rejects. */
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
      const operators = await this.#load();
      if (!operators || this.#closed) continue;
      await this.#clear();
      if (this.#closed) return;
      try {
        const startOf = await this.#options.start(operators, this.#started);
        if (this.#closed) return;
        this.#start(operators, startOf);
      } catch (error) {
        this.#broke(error);
      }
    }
  }

  async #load(): Promise<readonly LoadedOperator[] | undefined> {
    try {
      return await this.#options.load();
    } catch (error) {
      if (this.#state.phase === "working") this.#options.onBroken(error, true);
      else this.#broke(error);
      return undefined;
    }
  }

  #start(operators: readonly LoadedOperator[], startOf: StartOf): void {
    this.#started = true;
    const running = operators.map((one) => one.operator.start(startOf(one)));
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
    this.#options.onBroken(error, false);
  }

  async #clear(): Promise<void> {
    const state = this.#state;
    this.#state = { phase: "empty" };
    if (state.phase === "working") await Promise.allSettled(state.running.map((one) => one.stop()));
  }
}
