/** The `lotse` command: from a command line to an exit code. */
import { type Command, CommanderError } from "commander";
import { wantsColours } from "./colours.ts";
import { type Io, processIo } from "./io.ts";
import { exitCodeOf, formatProblem, Problem } from "./problem.ts";
import { programOf } from "./program.ts";

export type { Io, Output, StopSignal } from "./io.ts";
export { formatProblem, Problem, type Told } from "./problem.ts";

/**
 * Runs the command line `argv` (without the program's name) and returns its exit code: 0 done, 1 failed, 2 wrong usage.
 * Never rejects, and leaves the process alone except by way of `io`.
 *
 * @example
 * ```ts
 * const code = await main(["run", "operator.ts"], processIo());
 * ```
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let exitCode = 0;
  const program = programOf(io, (code) => {
    exitCode = code;
  });
  if (argv.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(argv as string[], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const problem = error instanceof CommanderError ? usageProblem(error, program, argv) : error;
    const verbose = /^(?:-[a-z]*v[a-z]*|--verbose)$/;
    io.stderr.write(
      formatProblem(problem, {
        verbose: argv.some((word) => verbose.test(word)),
        colours: wantsColours(io.stderr, io.env),
      }),
    );
    return exitCodeOf(problem);
  }
}

/** Runs the command line of this process. */
export async function launch(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), processIo());
  // What a user's file left open (a pool, a timer) must not hold back a program whose work is done; what is still to
  // be written to a pipe gets its time.
  setTimeout(() => process.exit(), 1_000).unref();
}

function usageProblem(error: CommanderError, program: Command, argv: readonly string[]): Problem {
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const command = program.commands.find((one) => one.name() === argv.find((word) => !word.startsWith("-")));
  const called = command ? `lotse ${command.name()}` : "lotse";
  return new Problem(
    { what, why: suggestion?.replace(/^\((.*)\)$/, "$1"), todo: `see \`${called} --help\`` },
    { exitCode: 2, cause: error },
  );
}
