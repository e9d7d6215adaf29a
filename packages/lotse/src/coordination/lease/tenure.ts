/** How long a Lease is kept beside the life of an operator: past its stop, until everything is written. */
import { DeclarationError } from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";

/** Whoever keeps a Lease, or a seat. */
export interface Keeper {
  /** Keeps it; resolves when it is given back. */
  run(): Promise<void>;
  /** Takes nothing new any more, and keeps what it has. */
  leave(): void;
  /** Gives it back. */
  release(): void;
}

/** The one run of a {@link Keeper}. */
export class Tenure {
  readonly #keeper: Keeper;
  #running: Promise<void> | undefined;
  #isLasting = false;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
  }

  /** Keeps the Lease from now on; may be called before {@link last}. */
  begin(): void {
    if (this.#running) throw new DeclarationError("a coordinator runs once", { hint: "make another one" });
    this.#running = this.#keeper.run();
    // Told by `last` and `end`.
    this.#running.catch(() => {});
  }

  /** Keeps the Lease. Resolves when the operator stops, with the Lease still kept: {@link end} gives it back. */
  async last(stopping: AbortSignal): Promise<void> {
    if (this.#isLasting) throw new DeclarationError("a coordinator runs once", { hint: "make another one" });
    if (stopping.aborted) return;
    this.#isLasting = true;
    if (!this.#running) this.begin();
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    stopping.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([this.#running, stopped]);
    } finally {
      stopping.removeEventListener("abort", stop);
      this.#keeper.leave();
    }
  }

  /** Gives the Lease back. Never rejects: that it could not be given back is told. */
  async end(logger: Logger): Promise<void> {
    this.#keeper.release();
    try {
      await this.#running;
    } catch (error) {
      logger.error("the Lease could not be given back", { error });
    }
  }
}
