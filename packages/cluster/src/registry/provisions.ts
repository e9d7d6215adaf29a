/**
 * Objects that a server begins with although clients hardly look at them: each table is filled when it is first asked
 * for, so that the start of a cluster does not pay for what no client sees.
 */
export class Provisions {
  readonly #pending = new Map<string, () => Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();

  set(table: string, fill: () => Promise<void>): void {
    this.#pending.set(table, fill);
  }

  /** Something to wait for before the table is looked at; undefined, nearly always, when there is nothing. */
  need(table: string): Promise<void> | undefined {
    const fill = this.#pending.get(table);
    if (fill) {
      this.#pending.delete(table);
      const run = fill()
        .catch((error: unknown) => {
          // The one who asked is told; the next one who does has it tried again.
          this.#pending.set(table, fill);
          throw error;
        })
        .finally(() => this.#running.delete(table));
      this.#running.set(table, run);
    }
    return this.#running.get(table);
  }
}
