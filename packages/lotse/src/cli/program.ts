/**
 * All commands and their flags. Each command's code is imported when it is called: what one does not use must not cost
 * time.
 */
import { Command } from "commander";
import type { ClusterOptions } from "./cluster.ts";
import type { DevOptions } from "./dev.ts";
import type { ExplainOptions } from "./explain.ts";
import {
  clusterOptions,
  collect,
  collectNames,
  examples,
  kubeletOption,
  logFormatOption,
  outputOption,
  portNumber,
  readEnvironment,
  runOptions,
  subcommand,
} from "./flags.ts";
import type { GenerateOptions } from "./generate.ts";
import type { Io } from "./io.ts";
import type { RunOptions } from "./run.ts";
import type { UninstallOptions } from "./uninstall.ts";
import { readVersion } from "./version.ts";

/** Told the exit code of the command that was called. */
export type Done = (exitCode: number) => void;

/** Declares one command. */
export type Define = (program: Command, io: Io, done: Done) => Command;

/** In the order of the help. */
const COMMANDS: readonly Define[] = [
  devCommand,
  runCommand,
  clusterCommand,
  generateCommand,
  explainCommand,
  uninstallCommand,
  completionCommand,
];

/** The whole program. */
export function programOf(io: Io, done: Done): Command {
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
    .hook("preAction", (_program, command) => readEnvironment(command, io))
    .addHelpText("after", examples(["lotse dev operator.ts", "lotse run operator.ts --namespace team-a"]));
  for (const define of COMMANDS) program.addCommand(define(program, io, done));
  return program;
}

function runCommand(program: Command, io: Io, done: Done): Command {
  const command = subcommand(program, "run")
    .summary("run operators against a cluster")
    .description(
      "Runs the operators that the files export, against the current kubectl context or, in a pod, its own cluster.",
    )
    .argument("[files...]", "TypeScript or JavaScript files that export an operator")
    .option("-m, --module <name>", "also an installed package that exports an operator; may be repeated", collect);
  return runOptions(command)
    .addHelpText(
      "after",
      "\nEvery option can be set by the environment too: LOTSE_RUN_NAMESPACE, LOTSE_RUN_LIVENESS, …",
    )
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

function devCommand(program: Command, io: Io, done: Done): Command {
  return subcommand(program, "dev")
    .summary("develop an operator on a cluster of its own")
    .description(
      "Starts an embedded cluster and the operator on it, and both again at each save.\nWrites .lotse/kubeconfig for kubectl.",
    )
    .argument("[file]", "TypeScript or JavaScript file that exports an operator")
    .option("--port <number>", "the cluster's port (default: a free one)", portNumber)
    .addOption(kubeletOption())
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

function clusterCommand(program: Command, io: Io, done: Done): Command {
  return subcommand(program, "cluster")
    .summary("start an embedded Kubernetes cluster")
    .description("Starts a Kubernetes API server in this process and writes a kubeconfig for kubectl.")
    .option("--port <number>", "the port to listen on (default: a free one)", portNumber)
    .option("--kubeconfig <path>", "where to write the kubeconfig (default: .lotse/kubeconfig)")
    .addOption(kubeletOption())
    .option("--plain-http", "without TLS, for tools that cannot trust its certificate")
    .option("--data <folder>", "keep the cluster in a folder, to go on with it later (default: in memory)")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse cluster",
        "lotse cluster --port 6443 --kubeconfig /tmp/kubeconfig",
        "lotse cluster --data .lotse/data",
        "lotse cluster --output json",
      ]),
    )
    .action(async (options: ClusterOptions) => {
      const { cluster } = await import("./cluster.ts");
      done(await cluster(options, io));
    });
}

function generateCommand(program: Command, io: Io, done: Done): Command {
  return subcommand(program, "generate")
    .summary("make what an operator needs to be deployed")
    .description(
      "Makes definitions (crd), rights (rbac), everything for a cluster (deploy), or a dockerfile, from what operators declare.",
    )
    .argument("<product>", "crd, rbac, deploy or dockerfile")
    .argument("[files...]", "TypeScript or JavaScript files that export an operator")
    .option("-o, --output <folder>", "write files there instead of to standard output")
    .option("-n, --namespace <name>", "where the operator will run (default: default)")
    .option("--serve <name>", "only these namespaces are its own (default: all); may be repeated", collectNames)
    .option("--image <image>", "the operator's image (default: its name)")
    .option("--from <recording>", "what its handlers did while LOTSE_RECORD was set; may be repeated", collect)
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse generate crd operator.ts | kubectl apply -f -",
        "LOTSE_RECORD=.lotse/requests.jsonl npm test && lotse generate rbac operator.ts --from .lotse/requests.jsonl",
        "lotse generate deploy operator.ts --image example.com/rates:1 --namespace rates -o deploy",
      ]),
    )
    .action(async (product: string, files: string[], options: GenerateOptions) => {
      const { generate } = await import("./generate.ts");
      done(await generate(product, files, options, io));
    });
}

function explainCommand(program: Command, io: Io, done: Done): Command {
  return subcommand(program, "explain")
    .summary("tell what a running operator did with an object, and why")
    .description(
      "Asks the operators that run on this machine what woke an object, what ran for it, what was written and what it waits for.",
    )
    .argument("<kind>", "kind, plural or short name: machines, machines.example.com")
    .argument("<name>", "the object's name, or NAMESPACE/NAME")
    .option("-n, --namespace <name>", "the object's namespace (default: default)")
    .option("--url <url>", "ask the operator whose health endpoint is there: http://localhost:8080")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples(["lotse explain machine team-a/m1", "lotse explain machine m1 --url http://localhost:8080 -o json"]),
    )
    .action(async (kind: string, name: string, options: ExplainOptions) => {
      const { explain } = await import("./explain.ts");
      done(await explain(kind, name, options, io));
    });
}

function uninstallCommand(program: Command, io: Io, done: Done): Command {
  return clusterOptions(
    subcommand(program, "uninstall")
      .summary("take an operator's marks off all objects")
      .description(
        "Takes the finalizers and records of the operators off all objects, so that nothing waits for them any more.\nStop the operators first. Objects and definitions stay.",
      )
      .argument("[files...]", "TypeScript or JavaScript files that export an operator"),
  )
    .option("-n, --namespace <name>", "only objects of this namespace; may be repeated", collectNames)
    .option("--dry-run", "only tell what would be done")
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples(["lotse uninstall operator.ts --dry-run", "lotse uninstall operator.ts --context staging"]),
    )
    .action(async (files: string[], options: UninstallOptions) => {
      const { uninstall } = await import("./uninstall.ts");
      done(await uninstall(files, options, io));
    });
}

function completionCommand(program: Command, io: Io, done: Done): Command {
  return subcommand(program, "completion")
    .summary("print a script that completes commands in a shell")
    .description("Prints a script that makes the shell complete lotse's commands and options.")
    .argument("<shell>", "bash, zsh or fish")
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse completion fish | source", "source <(lotse completion bash)"]))
    .action(async (shell: string) => {
      const { completion } = await import("./completion.ts");
      done(completion(shell, program, io));
    });
}
