/**
 * In `lotse run` an error that no code caught ends the operator in order: what it has begun may be half done, and a
 * process in an unknown state must not go on. The kubelet, or the user who started it, starts it again.
 */
import type { Logger } from "../../report/index.ts";
import type { Io, Problem, Stop } from "../terminal/index.ts";
import { locationOfUncaught, sentenceOf, uncaughtProblem } from "../terminal/index.ts";

/** Watches over one run. */
export interface UncaughtWatch {
  /** Ends the watch, and throws the {@link Problem} if there was one: the first is the one that counts. */
  end(): void;
}

/** The first error that no code catches asks for the end; further ones are only told. */
export function stopOnUncaught(io: Pick<Io, "onUncaught">, stop: Stop, logger: Logger): UncaughtWatch {
  let problem: Problem | undefined;
  const release = io.onUncaught((error, origin) => {
    const fields = { error: sentenceOf(error), at: locationOfUncaught(error) };
    if (problem) {
      logger.error("one more error that no code caught", fields);
      return;
    }
    problem = uncaughtProblem({ error, origin }, "the operator has stopped, start it again");
    logger.error("stopping because of an error that nobody caught", fields);
    stop.request();
  });
  return {
    end: () => {
      release();
      if (problem) throw problem;
    },
  };
}
