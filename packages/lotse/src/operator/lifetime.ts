/**
 * How far a running operator has got: its phase, the promises that tell of its beginning and its end, and the two signals
 * that end it: `stopping` asks everything to come to its end, `cut` ends the requests that are still under way.
 */
import { setMaxListeners } from "node:events";
import { type Clock, errorMessage, formatDuration } from "@lotse/client/meta";
import { Aborted } from "../declare/index.ts";
import type { OperatorHealth } from "../report/index.ts";

/** What a {@link Lifetime} goes by. */
export interface LifetimeParts {
  readonly clock: Clock;
  /** Stops the operator when it aborts. */
  readonly signal: AbortSignal | undefined;
  /** How long the end may take, by the settings as they are by then. */
  readonly killAfterMs: () => number;
}

/** See the module comment. */
export class Lifetime {
  readonly #parts: LifetimeParts;
  readonly #stopping = new AbortController();
  readonly #cut = new AbortController();
  #phase: OperatorHealth["phase"] = "starting";
  #error: string | undefined;
  #stoppingSince = 0;
  #onReady: () => void = () => {};
  #onFailure: (error: unknown) => void = () => {};
  /** Resolves when the operator is ready; rejects when it cannot start. */
  readonly ready: Promise<void>;

  constructor(parts: LifetimeParts) {
    this.#parts = parts;
    const { clock, signal } = parts;
    // Every running turn and every request listens; any number of them is right.
    setMaxListeners(0, this.#stopping.signal, this.#cut.signal);
    const noted = () => {
      this.#phase = "stopping";
      this.#stoppingSince = clock.monotonic();
    };
    this.#stopping.signal.addEventListener("abort", noted, { once: true });
    if (signal?.aborted) this.#stopping.abort(signal.reason);
    signal?.addEventListener("abort", () => this.#stopping.abort(), { once: true });
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.#onFailure = reject;
    });
    // A caller that looks only at `stopped` must not be punished for a failure that `stopped` tells.
    this.ready.catch(() => {});
  }

  /** Aborts when the operator shall stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborts when an operator that stops cannot wait any longer for the API server. */
  get cutting(): AbortSignal {
    return this.#cut.signal;
  }

  /** When it was asked to stop (monotonic). */
  get stoppingSince(): number {
    return this.#stoppingSince;
  }

  /** Its phase, and why it failed if it did. */
  get health(): Pick<OperatorHealth, "phase" | "error"> {
    return { phase: this.#phase, ...(this.#error !== undefined && { error: this.#error }) };
  }

  /** Asks everything to come to its end. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Ends all requests that are still under way. */
  cut(reason: Aborted): void {
    this.#cut.abort(reason);
  }

  /** Everything is known, and handlers begin. */
  begin(): void {
    if (this.#phase === "starting") this.#phase = "ready";
    this.#onReady();
  }

  /** The operator's life is `work`: resolves when it has stopped, rejects when it could not start, or not stop. */
  live(work: Promise<void>): Promise<void> {
    const stopped = this.#inTime(work).then(
      () => {
        this.#phase = "stopped";
        // No caller shall wait for ever; tells nothing to one whose operator is ready already.
        this.#onFailure(new Aborted("shutdown", "the operator was stopped before it was ready"));
      },
      (error: unknown) => {
        this.#phase = "failed";
        this.#error = errorMessage(error);
        this.#onFailure(error);
        throw error;
      },
    );
    // As above: a caller may look only at `ready`.
    stopped.catch(() => {});
    return stopped;
  }

  /** Callers that wait for the end shall hear of it, also when a handler does not come to its end. */
  #inTime(work: Promise<void>): Promise<void> {
    const { clock, killAfterMs } = this.#parts;
    const { signal } = this.#stopping;
    return new Promise((resolve, reject) => {
      let cancel = () => {};
      const onStop = () => {
        const limit = killAfterMs();
        cancel = clock.after(limit, () => {
          this.cut(new Aborted("shutdown", "the operator did not stop in time"));
          const text = `the operator did not come to its end within ${formatDuration(limit)} (settings.process.killAfter)`;
          reject(new Error(text));
        });
      };
      if (signal.aborted) onStop();
      else signal.addEventListener("abort", onStop, { once: true });
      work.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", onStop);
        cancel();
      });
    });
  }
}
