import { Store } from "../../store/index.ts";

/**
 * Counts the objects that a cluster takes out of its store or puts there: work that does not depend on how fast the
 * machine is. `total` is all of it, `most` the most between two turns of the event loop. One at a time: all clusters of
 * the process are counted.
 */
export class WorkCount implements Disposable {
  total = 0;
  most = 0;
  #since = 0;
  #over = false;
  readonly #restore: (() => void)[] = [];

  constructor() {
    this.#count("get", () => 1);
    this.#count("list", (entries) => (entries as readonly unknown[]).length);
    for (const write of ["create", "update", "delete"] as const) this.#count(write, () => 1);
    const turn = () => {
      this.most = Math.max(this.most, this.total - this.#since);
      this.#since = this.total;
      if (!this.#over) setImmediate(turn);
    };
    setImmediate(turn);
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const restore of this.#restore) restore();
  }

  #count(name: "get" | "list" | "create" | "update" | "delete", weigh: (result: unknown) => number): void {
    const prototype = Store.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = prototype[name] as (...args: unknown[]) => unknown;
    const add = (count: number) => {
      this.total += count;
    };
    prototype[name] = function (this: unknown, ...args: unknown[]) {
      const result = original.apply(this, args);
      add(weigh(result));
      return result;
    };
    this.#restore.push(() => {
      prototype[name] = original;
    });
  }
}
