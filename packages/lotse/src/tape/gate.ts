/**
 * Everything from outside reaches the operator through here, one thing after the other, and each only when all that
 * follows from the one before has run as far as it can without asking the outside again. Whatever an operator does then
 * follows from the order of inputs alone; so it can be done again.
 */

/** So many turns of the event loop lie between two inputs: what gives way for a turn of its own goes on before the next. */
const TURNS_BETWEEN = 3;

/** See the module comment. */
export class InputGate {
  readonly #waiting: (() => void)[] = [];
  #open = true;
  #isFree = true;

  /** Whether nothing follows any more from what has come in so far. */
  get isIdle(): boolean {
    return this.#isFree;
  }

  /** Calls `deliver` when it is its turn. It must not throw. */
  push(deliver: () => void): void {
    if (!this.#open) {
      deliver();
      return;
    }
    this.#waiting.push(deliver);
    if (!this.#isFree) return;
    this.#isFree = false;
    setImmediate(this.#next);
  }

  /** From now on nothing waits any more, not even for what came before. */
  open(): void {
    this.#open = false;
    this.#isFree = true;
    for (const deliver of this.#waiting.splice(0)) deliver();
  }

  readonly #next = (): void => {
    const deliver = this.#waiting.shift();
    deliver?.();
    this.#pause(TURNS_BETWEEN);
  };

  #pause(turns: number): void {
    setImmediate(() => {
      if (turns > 1) return this.#pause(turns - 1);
      this.#isFree = this.#waiting.length === 0 || !this.#open;
      if (!this.#isFree) this.#next();
    });
  }
}
