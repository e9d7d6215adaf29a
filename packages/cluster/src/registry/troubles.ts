import { type Clock, harmless, harmlessLines, KubeError } from "@lotse/client/meta";
import { StatusError } from "./errors.ts";

/** Where troubles are told, and by which clock. */
export interface TroublesOptions {
  readonly clock: Clock;
  /** Gets one text for each, fit for a terminal. */
  readonly tell: (text: string) => void;
}

/** The same work says that it fails no more often than this. */
const SILENCE_MS = 60_000;
/** For so many pieces of work it is known when they last failed; more of them speak more often, not never. */
const REMEMBERED = 1_024;

/**
 * What goes wrong where no request waits for an answer: in controllers, in the kubelet, in what is let go by age. Such
 * work is tried again by itself, but a person has to hear of it.
 */
export class Troubles {
  readonly #options: TroublesOptions;
  /** When each piece of work was last told of, the longest ago first. */
  readonly #told = new Map<string, number>();
  #stopped = false;

  constructor(options: TroublesOptions) {
    this.#options = options;
  }

  /** How many pieces of work are remembered to have failed: never more than {@link REMEMBERED}. */
  get remembered(): number {
    return this.#told.size;
  }

  /** `work` could not be done: "the garbage collector failed at pods default/a". Told once a minute at most. */
  report(work: string, error: unknown): void {
    if (this.#stopped) return;
    const now = this.#options.clock.now();
    const last = this.#told.get(work);
    if (last !== undefined && now - last < SILENCE_MS) return;
    this.#told.delete(work);
    this.#told.set(work, now);
    const [oldest] = this.#told.keys();
    if (this.#told.size > REMEMBERED && oldest !== undefined) this.#told.delete(oldest);
    this.#options.tell(`${harmless(work)}: ${textOf(error)}`);
  }

  /**
   * As {@link report}, for work that meets others: an object that is gone, there already or changed meanwhile is no
   * trouble, as the next try sees what has become of it.
   */
  reportUnlessRace(work: string, error: unknown): void {
    if (error instanceof StatusError && (error.code === 404 || error.code === 409)) return;
    this.report(work, error);
  }

  /** The cluster ends: what fails from now on fails because of that. */
  stop(): void {
    this.#stopped = true;
  }
}

/** Where the mistake may be this program's own, the way to it is told as well. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return harmless(String(error));
  if (error instanceof StatusError) return harmless(error.message);
  if (error instanceof KubeError) return harmlessLines(error.message);
  return harmlessLines(error.stack ?? error.message);
}
