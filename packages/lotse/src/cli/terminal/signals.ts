import { setMaxListeners } from "node:events";
import type { Io, StopSignal } from "./io.ts";

/** What shells report for a program that a signal ended. */
const EXIT_CODES: Record<StopSignal, number> = { SIGINT: 130, SIGTERM: 143 };

/**
 * A second signal this soon is the same Ctrl-C: the terminal sends it to the whole process group, and npm, which often
 * stands between us and the terminal, passes its own on.
 */
const SAME_SIGNAL_MS = 300;

/** A wish to end: of the user, of the machine, or of the command itself. */
export interface Stop extends Disposable {
  /** Aborts when the command should end gracefully. */
  readonly signal: AbortSignal;
  /** Resolves when it does. */
  readonly requested: Promise<void>;
  /** Wishes it. */
  request(): void;
}

/** The first SIGINT or SIGTERM asks for a graceful end, the second one ends the process at once. */
export function stopOnSignal(io: Pick<Io, "onSignal" | "exit" | "uptime">): Stop {
  const controller = new AbortController();
  // Every request under way listens to it; Node.js would take more than ten for a leak, and say so in the user's terminal.
  setMaxListeners(0, controller.signal);
  let first: number | undefined;
  const release = io.onSignal((signal) => {
    if (first === undefined) {
      first = io.uptime();
      controller.abort();
    } else if (io.uptime() - first >= SAME_SIGNAL_MS) io.exit(EXIT_CODES[signal]);
  });
  return {
    signal: controller.signal,
    requested: new Promise((resolve) => {
      controller.signal.addEventListener("abort", () => resolve(), { once: true });
    }),
    request: () => controller.abort(),
    [Symbol.dispose]: release,
  };
}
