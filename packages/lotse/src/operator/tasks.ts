/** What goes on in the background: none of it is left alone, and none of it is kept when it is over. */
export class Tasks {
  readonly #running = new Set<Promise<void>>();
  #fail: (error: unknown) => void = () => {};
  /** Rejects with the first failure of any of them. */
  readonly failed: Promise<never>;

  constructor() {
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  /** How many go on. */
  get size(): number {
    return this.#running.size;
  }

  add(work: Promise<unknown>): void {
    const task = work.then(
      () => void this.#running.delete(task),
      (error: unknown) => {
        this.#running.delete(task);
        this.#fail(error);
      },
    );
    this.#running.add(task);
  }

  /** Resolves when nothing goes on any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
