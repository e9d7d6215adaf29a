/**
 * What `lotse dev` does about an error that no code caught: it tells where it comes from and starts the operator again. The
 * cluster and all that is in it stay.
 */
import { type Clock, formatDuration } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import type { Problem, UncaughtOrigin } from "../terminal/index.ts";
import { sameness, sentenceOf, uncaughtProblem } from "../terminal/index.ts";
import { CrashPatience } from "./crash-patience.ts";
import type { HandlerContext } from "./handler-context.ts";

/** What {@link DevCrashes} needs. */
export interface DevCrashesOptions {
  readonly handlers: Pick<HandlerContext, "current">;
  readonly logger: Logger;
  /** Shows the three lines. */
  readonly tell: (problem: Problem) => void;
  readonly restart: (why: string) => void;
  readonly clock: Clock;
}

/** After so many restarts it is worth saying that a restart does not help against what an earlier load has left running. */
const STUBBORN = 4;

/** See the module comment. */
export class DevCrashes {
  readonly #options: DevCrashesOptions;
  readonly #patience = new CrashPatience();
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(options: DevCrashesOptions) {
    this.#options = options;
  }

  /** Called in the context in which the error escaped: whose handler that was is known only there. */
  happened(error: unknown, origin: UncaughtOrigin): void {
    const { handlers, logger, tell, clock } = this.#options;
    const uncaught = { error, origin, handler: handlers.current };
    if (this.#closed) {
      logger.warn("an error that nobody caught, while stopping", { error: sentenceOf(error) });
      return;
    }
    // What comes before the restart has begun is the same trouble; the user does not want to read it a hundred times.
    const { known, restarts, delayMs } = this.#patience.next(sameness(uncaught), clock.monotonic(), this.#waiting);
    if (!known) tell(uncaughtProblem(uncaught, "the operator is started again, the cluster stays"));
    if (this.#waiting) return;
    const retryIn = delayMs === 0 ? undefined : formatDuration(delayMs);
    if (delayMs > 0) {
      logger.warn("the operator is started again in a moment: errors that nobody caught", {
        restarts,
        retryIn,
        hint:
          restarts > STUBBORN
            ? "what an earlier version has left running is out of reach: end lotse dev, and start it anew"
            : "a save starts it at once",
      });
    }
    this.#cancel = clock.after(delayMs, () => {
      this.#cancel = undefined;
      this.#options.restart("an error was not caught");
    });
  }

  /** The user, or a saved file, starts the operator anew: all begins from the beginning. */
  forget(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#patience.forget();
  }

  /** Nothing is started any more. */
  close(): void {
    this.forget();
    this.#closed = true;
  }

  get #waiting(): boolean {
    return this.#cancel !== undefined;
  }
}
