/** An operator that is one file with everything it needs: a bundle has no command line of `lotse`, but the flags of `run`. */
import { Command, CommanderError } from "commander";
import { isOperator } from "../operator/index.ts";
import { readEnvironment, runOptions } from "./flags.ts";
import { type RunOptions, runOperators } from "./run/index.ts";
import type { Io } from "./terminal/index.ts";
import { exitCodeOf, formatProblem, Problem, wantsColours } from "./terminal/index.ts";

/** Runs the operators among `exports` until a signal asks them to stop, and returns the exit code. Never rejects. */
export async function mainBundled(
  exports: Readonly<Record<string, unknown>>,
  argv: readonly string[],
  io: Io,
): Promise<number> {
  const command = runOptions(new Command("run"))
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), outputError: () => {} });
  try {
    command.parse(argv as string[], { from: "user" });
    readEnvironment(command, io);
    const operators = [...new Set(Object.values(exports).filter(isOperator))];
    if (operators.length === 0) {
      throw new Problem({
        what: "the bundle exports no operator",
        todo: "export one from the file that was bundled: export default operator;",
      });
    }
    const loaded = operators.map((operator) => ({ file: "bundled", operator }));
    return await runOperators(loaded, command.opts<RunOptions>(), io);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const problem =
      error instanceof CommanderError
        ? new Problem(
            { what: error.message.replace(/^error: /, ""), todo: "see --help" },
            { exitCode: 2, cause: error },
          )
        : error;
    const verbose = command.opts<RunOptions>().verbose;
    io.stderr.write(formatProblem(problem, { verbose, colours: wantsColours(io.stderr, io.env) }));
    return exitCodeOf(problem);
  }
}
