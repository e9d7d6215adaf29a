/** Tells what went wrong with a command, and the code to exit with. */
import { wantsColours } from "./colours.ts";
import type { Io } from "./io.ts";
import { exitCodeOf, formatProblem } from "./problem.ts";

const VERBOSE = /^(?:-[a-z]*v[a-z]*|--verbose)$/;

/** Tells the user of a failure, with its stack only where --verbose asks for it, and returns the exit code. */
export function reportFailure(error: unknown, argv: readonly string[], io: Io): number {
  const verbose = argv.some((word) => VERBOSE.test(word));
  io.stderr.write(formatProblem(error, { verbose, colours: wantsColours(io.stderr, io.env) }));
  return exitCodeOf(error);
}
