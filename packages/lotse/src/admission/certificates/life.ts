/** The life of a source of certificates: it is ready when there is one, and ends when it is told to, or with its operator. */
export class SourceLife {
  /** Resolves when there are credentials; rejects when there never will be. */
  readonly ready: Promise<void>;
  readonly #stopping = new AbortController();
  #becomeReady: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #done: Promise<void> = Promise.resolve();

  constructor() {
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#fail = reject;
    });
    // A caller that does not wait for it need not hear of it: it is logged as well.
    this.ready.catch(() => undefined);
  }

  /** Aborts when the source has to end. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Sets `work` going; it has to end with {@link signal}. What it fails with is told by {@link ready}. */
  begin(work: () => Promise<void>, operator: AbortSignal): void {
    const onAbort = () => this.#stopping.abort(operator.reason);
    if (operator.aborted) onAbort();
    else operator.addEventListener("abort", onAbort, { once: true });
    this.#done = work()
      .catch((error: Error) => this.#fail(error))
      .finally(() => operator.removeEventListener("abort", onAbort));
  }

  /** There are credentials. */
  becomeReady(): void {
    this.#becomeReady();
  }

  /** There will be none. */
  fail(error: Error): void {
    this.#fail(error);
  }

  /** Ends the work, and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the certificates are needed no more"));
    await this.#done;
  }
}
