/**
 * Work that many wait for and that is done once. Who no longer waits leaves; when the last one has left, the work is told
 * to end, and the next caller begins anew.
 */
export class SharedWork<T> {
  readonly #start: (signal: AbortSignal) => Promise<T>;
  #running: Run<T> | undefined;

  constructor(start: (signal: AbortSignal) => Promise<T>) {
    this.#start = start;
  }

  /** What the work gives, or the signal's reason when that aborts before. */
  join(signal?: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const run = this.#running ?? this.#begin();
    run.waiting++;
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal?.removeEventListener("abort", onAbort);
        run.waiting--;
        if (run.waiting > 0 || this.#running !== run) return;
        this.#running = undefined;
        run.end.abort(new Error("no caller waits for it any longer"));
      };
      const onAbort = () => {
        leave();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      run.result.then(resolve, reject).finally(() => {
        if (!signal?.aborted) leave();
      });
    });
  }

  #begin(): Run<T> {
    const end = new AbortController();
    const run: Run<T> = { end, waiting: 0, result: this.#start(end.signal) };
    this.#running = run;
    const over = () => {
      if (this.#running === run) this.#running = undefined;
    };
    run.result.then(over, over);
    return run;
  }
}

interface Run<T> {
  readonly end: AbortController;
  readonly result: Promise<T>;
  waiting: number;
}
