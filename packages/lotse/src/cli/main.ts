/** The `lotse` command: from a command line to an exit code. */

import { type Command, CommanderError } from "commander";
import { programOf } from "./program.ts";
import type { ProjectIo } from "./scan/index.ts";
import { Problem, reportFailure } from "./terminal/index.ts";

export type { Io, Output, StopSignal } from "./terminal/index.ts";
export { formatProblem, Problem, type Told } from "./terminal/index.ts";

/**
 * Runs the command line `argv` (without the program's name) and returns its exit code: 0 done, 1 failed, 2 wrong usage.
 * Never rejects, and leaves the process alone except by way of `io`.
 *
 * @example
 * ```ts
 * const code = await main(["run", "operator.ts"], processIo());
 * ```
 */
export async function main(argv: readonly string[], io: ProjectIo): Promise<number> {
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
    return reportFailure(problem, argv, io);
  }
}

function usageProblem(error: CommanderError, program: Command, argv: readonly string[]): Problem {
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const command = program.commands.find((one) => one.name() === argv.find((word) => !word.startsWith("-")));
  const called = command ? `lotse ${command.name()}` : "lotse";
  // "(Did you mean run?)": what to do, and no reason why.
  const meant = suggestion?.replace(/^\(D(.*)\)$/, "d$1 Else ") ?? "";
  return new Problem({ what, todo: `${meant}see \`${called} --help\`` }, { exitCode: 2, cause: error });
}
