/**
 * Calls back a moment after it was asked to, once for however many times. For what has to be put in order when there is
 * nothing to do, and costs too much to be done after each request. Nobody waits for it: hence no clock that tests own.
 */
export class Housekeeping {
  readonly #tidy: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(tidy: () => void) {
    this.#tidy = tidy;
  }

  soon(): void {
    this.#timer ??= setTimeout(this.#run, SOON_MS);
  }

  /** There is nothing left to put in order. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #run = () => {
    this.#timer = undefined;
    this.#tidy();
  };
}

/** A process that has done its work ends later by as much. */
const SOON_MS = 10;
