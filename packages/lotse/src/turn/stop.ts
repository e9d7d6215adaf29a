/**
 * Tells work to end. An AbortController in all but its price: the signal is made when a handler asks for it, and most
 * handlers never do. Thousands of attempts a second notice the difference.
 */
import type { Aborted } from "../declare/index.ts";

/** Hears why the work shall end. */
type StopListener = (reason: Aborted) => void;

/** See the module comment. */
export class Stop {
  #reason: Aborted | undefined;
  #controller: AbortController | undefined;
  /** Nearly always there is one at most, which needs no set. */
  #listener: StopListener | undefined;
  #listeners: Set<StopListener> | undefined;

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
    const listener = this.#listener;
    const listeners = this.#listeners;
    this.#listener = undefined;
    this.#listeners = undefined;
    listener?.(reason);
    if (listeners) for (const one of listeners) one(reason);
  }

  /** Calls `listener` when the work shall end, at once if that was said already; {@link off} forgets it. */
  on(listener: StopListener): void {
    if (this.#reason) listener(this.#reason);
    else if (!this.#listener && !this.#listeners) this.#listener = listener;
    else {
      this.#listeners ??= new Set();
      this.#listeners.add(listener);
    }
  }

  /** `listener` is not called any more. */
  off(listener: StopListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#listeners?.delete(listener);
  }

  /** The same as {@link on}; the returned function forgets it. */
  onStop(listener: StopListener): () => void {
    this.on(listener);
    return () => this.off(listener);
  }
}
