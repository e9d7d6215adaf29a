/**
 * Which handler is at work? An error that no code caught arrives without its caller; what a handler has begun carries the
 * handler along. Only `lotse dev` does this: following every promise has its price, and elsewhere it is not paid.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { LoadedOperator } from "../project/index.ts";
import type { BlamedHandler } from "../terminal/index.ts";

interface Callable {
  readonly id: string;
  readonly sourceLocation: string | undefined;
  fn?: unknown;
  onDelete?: unknown;
}

/** See the module comment. */
export class HandlerContext {
  readonly #storage = new AsyncLocalStorage<BlamedHandler>();
  readonly #followed = new WeakSet<object>();

  /** The handler in whose name the running code is at work. */
  get current(): BlamedHandler | undefined {
    return this.#storage.getStore();
  }

  /** From now on these operators' handlers are known wherever their work goes on. Before the operators start. */
  follow(operators: readonly LoadedOperator[]): void {
    for (const { operator } of operators) {
      // Perhaps of another copy of the package, which has no handlers of its own life.
      const { activities = [], resources } = operator as Pick<typeof operator, "resources"> & Partial<typeof operator>;
      for (const handler of [...resources.flatMap(({ handlers }) => handlers), ...activities]) {
        // An operator that comes from a package is the same one at each reload.
        if (this.#followed.has(handler)) continue;
        this.#followed.add(handler);
        this.#wrap(handler as Callable);
      }
    }
  }

  /** Nothing is followed any more; the price is not paid any longer, either. */
  end(): void {
    this.#storage.disable();
  }

  #wrap(handler: Callable): void {
    const { id, sourceLocation } = handler;
    for (const key of ["fn", "onDelete"] as const) {
      const fn = handler[key];
      if (typeof fn !== "function") continue;
      handler[key] = (...args: unknown[]) => this.#storage.run({ id, sourceLocation }, () => fn(...args));
    }
  }
}
