/**
 * Tells work to end. An AbortController in all but its price: the signal is made when a handler asks for it, and most
 * handlers never do. Thousands of attempts a second notice the difference.
 */
import type { Aborted } from "../declare/index.ts";

/** See the module comment. */
export class Stop {
  #reason: Aborted | undefined;
  #controller: AbortController | undefined;
  #listeners: Set<(reason: Aborted) => void> | undefined;

  /** Why the work shall end; undefined while it may go on. */
  get reason(): Aborted | undefined {
    return this.#reason;
  }

  /** The same as a signal, for whatever takes one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Tells all that listen, once; the first reason stays. */
  stop(reason: Aborted): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener(reason);
  }

  /** Calls `listener` when the work shall end, at once if that was said already; the returned function forgets it. */
  onStop(listener: (reason: Aborted) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners?.delete(listener);
  }
}
