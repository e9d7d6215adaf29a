/**
 * The `lotse` command. Each command's code is imported when it is called: what one does not use must not cost time.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { ClusterOptions } from "./cluster.ts";
import { wantsColours } from "./colours.ts";
import type { DevOptions } from "./dev.ts";
import { type Io, processIo } from "./io.ts";
import { exitCodeOf, formatProblem, Problem } from "./problem.ts";
import type { RunOptions } from "./run.ts";
import { readVersion } from "./version.ts";

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

function programOf(io: Io, done: (code: number) => void): Command {
  const program = new Command("lotse")
    .description("Write Kubernetes operators in TypeScript: develop, run and look at them.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError(true)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Told by main, in its own form.
      outputError: () => {},
    })
    .addHelpText("after", examples(["lotse dev operator.ts", "lotse run operator.ts --namespace team-a"]));
  program.addCommand(runCommand(program, io, done));
  program.addCommand(devCommand(program, io, done));
  program.addCommand(clusterCommand(program, io, done));
  return program;
}

function runCommand(program: Command, io: Io, done: (code: number) => void): Command {
  return subcommand(program, "run")
    .summary("run operators against a cluster")
    .description(
      "Runs the operators that the files export, against the current kubectl context or, in a pod, its own cluster.",
    )
    .argument("[files...]", "TypeScript or JavaScript files that export an operator")
    .option("--kubeconfig <path>", "the kubeconfig (default: $KUBECONFIG, ~/.kube/config, or the pod's account)")
    .option("--context <name>", "the context in it (default: the current one)")
    .option("-n, --namespace <name>", "only objects of this namespace; may be repeated", collectNames)
    .option("-A, --all-namespaces", "objects of all namespaces (the default)")
    .option("--install-crds", "install the operators' custom resource definitions first")
    .addOption(logFormatOption("pretty in a terminal, json elsewhere"))
    .option("-v, --verbose", "add debug lines, and stacks to errors")
    .option("-q, --quiet", "only warnings and errors")
    .addHelpText(
      "after",
      examples([
        "lotse run operator.ts",
        "lotse run operator.ts --context staging --namespace team-a --namespace team-b",
        "lotse run rates.ts backups.ts --install-crds --log-format json",
      ]),
    )
    .action(async (files: string[], options: RunOptions) => {
      const { run } = await import("./run.ts");
      done(await run(files, options, io));
    });
}

function devCommand(program: Command, io: Io, done: (code: number) => void): Command {
  return subcommand(program, "dev")
    .summary("develop an operator on a cluster of its own")
    .description(
      "Starts an embedded cluster and the operator on it, and both again at each save.\nWrites .lotse/kubeconfig for kubectl.",
    )
    .argument("[file]", "TypeScript or JavaScript file that exports an operator")
    .option("--port <number>", "the cluster's port (default: a free one)", portNumber)
    .option("--no-console", "do without the console in the browser")
    .addOption(outputOption())
    .addOption(logFormatOption("pretty"))
    .option("-v, --verbose", "add debug lines, and stacks to errors")
    .option("-q, --quiet", "only warnings and errors")
    .addHelpText("after", examples(["lotse dev operator.ts", "lotse dev src/operator.ts --port 6443 --no-console"]))
    .action(async (file: string | undefined, options: DevOptions) => {
      const { dev } = await import("./dev.ts");
      done(await dev(file, options, io));
    });
}

function clusterCommand(program: Command, io: Io, done: (code: number) => void): Command {
  return subcommand(program, "cluster")
    .summary("start an embedded Kubernetes cluster")
    .description("Starts a Kubernetes API server in this process and writes a kubeconfig for kubectl.")
    .option("--port <number>", "the port to listen on (default: a free one)", portNumber)
    .option("--kubeconfig <path>", "where to write the kubeconfig (default: .lotse/kubeconfig)")
    .option("--plain-http", "without TLS, for tools that cannot trust its certificate")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse cluster",
        "lotse cluster --port 6443 --kubeconfig /tmp/kubeconfig",
        "lotse cluster --output json",
      ]),
    )
    .action(async (options: ClusterOptions) => {
      const { cluster } = await import("./cluster.ts");
      done(await cluster(options, io));
    });
}

/** A command with the manners of the whole program. */
function subcommand(program: Command, name: string): Command {
  return new Command(name).copyInheritedSettings(program).helpOption("-h, --help", "print this help");
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

function logFormatOption(byDefault: string): Option {
  return new Option("--log-format <format>", `how to log (default: ${byDefault})`).choices(["pretty", "json"]);
}

function outputOption(): Option {
  return new Option("-o, --output <format>", "print what a program needs instead of what people read").choices([
    "json",
  ]);
}

/** `-n a -n b` and `-n a,b`: names never have commas. */
function collectNames(value: string, before: readonly string[] = []): readonly string[] {
  const names = value.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is not a namespace's name.`);
  return [...before, ...names];
}

function portNumber(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
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
