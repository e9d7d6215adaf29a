import type { Clock } from "@lotse/client/meta";

/** Takes a constant sentence and what varies. */
export type ProblemListener = (message: string, fields: Readonly<Record<string, unknown>>) => void;

const PAUSE_MS = 60_000;

/** Tells each trouble at once when it is new, and then once a minute with how often it was there: clients can make many. */
export class Troubles {
  readonly #tell: ProblemListener;
  readonly #clock: Clock;
  /** By sentence. The sentences are constants of this folder: there are few. */
  readonly #told = new Map<string, { at: number; more: number }>();

  constructor(tell: ProblemListener, clock: Clock) {
    this.#tell = tell;
    this.#clock = clock;
  }

  report(message: string, fields: Readonly<Record<string, unknown>>): void {
    const now = this.#clock.monotonic();
    const last = this.#told.get(message);
    if (last && now - last.at < PAUSE_MS) {
      last.more++;
      return;
    }
    this.#told.set(message, { at: now, more: 0 });
    this.#tell(message, last && last.more > 0 ? { ...fields, alsoBefore: last.more } : fields);
  }
}
