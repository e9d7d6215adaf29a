/** What a process knows of the pauses on its operator's Leases, and when they end; tells people of each once. */
import { type Clock, formatDuration } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import { describePause, NO_PAUSES, PAUSE_ANNOTATION, type Pause, pauseInForce, seePauses } from "./pause.ts";

/** What a {@link PauseWatch} is made of. */
export interface PauseWatchParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Pauses with a lower priority do not concern this process. */
  readonly priority: number | undefined;
  /** The pause has ended by itself, or a stronger one has: it is time to look again. */
  readonly ended: () => void;
}

type Annotations = Readonly<Record<string, string>> | undefined;
type SeenPause = Pause & { readonly endsAt: number };

/** See the module comment. */
export class PauseWatch {
  readonly #parts: PauseWatchParts;
  #pauses = NO_PAUSES;
  /** The pause that people were told of. */
  #told: SeenPause | undefined;
  #problem: string | undefined;
  #cancel: () => void = () => undefined;
  #over = false;

  constructor(parts: PauseWatchParts) {
    this.#parts = parts;
  }

  /** The pause that is in force. */
  get current(): SeenPause | undefined {
    return pauseInForce(this.#pauses, this.#parts.clock.monotonic(), this.#parts.priority);
  }

  /** What the operator's Leases say now: a pause on one of them is one for all. */
  look(leases: readonly Annotations[]): void {
    const { clock, logger } = this.#parts;
    const moment = { now: clock.now(), monotonic: clock.monotonic() };
    const seen = leases.map((annotations) => seePauses(this.#pauses, annotations, moment));
    const problem = seen.find((one) => one.problem !== undefined)?.problem;
    this.#pauses = { pauses: seen.flatMap(({ pauses }) => pauses), problem };
    const pause = this.current;
    const before = this.#told;
    if (pause?.by !== before?.by || pause?.endsAt !== before?.endsAt) this.#changed(pause, before);
    if (problem !== undefined && problem !== this.#problem) {
      logger.warn("the pause on the Lease cannot be read, and pauses nothing", {
        annotation: PAUSE_ANNOTATION,
        problem,
        hint: '{"by": "me", "until": "2030-01-01T00:00:00Z"}',
      });
    }
    this.#problem = problem;
  }

  /** Nobody is told any more. */
  stop(): void {
    this.#over = true;
    this.#cancel();
  }

  #changed(pause: SeenPause | undefined, before: SeenPause | undefined): void {
    const { clock, logger, ended } = this.#parts;
    this.#told = pause;
    this.#cancel();
    if (this.#over) return;
    if (!pause) {
      logger.info("the pause is over", { by: before?.by });
      return;
    }
    const { by, message } = pause;
    const lastsMs = Math.ceil(pause.endsAt - clock.monotonic());
    const fields = { by, ...(message !== undefined && { why: message }), for: formatDuration(lastsMs) };
    // A developer's process renews its pause every few seconds: people hear of it once.
    if (before && describePause(before) === describePause(pause)) logger.debug("the pause is renewed", fields);
    else logger.info("a pause is in force, no process works", fields);
    this.#cancel = clock.after(lastsMs, ended);
  }
}
