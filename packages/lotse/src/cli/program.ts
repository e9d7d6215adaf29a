/**
 * All commands and their flags. Each command's code is imported when it is called: what one does not use must not cost
 * time.
 */

import { Command, Help, Option } from "commander";
import { chaosCommand } from "./chaos-command.ts";
import type { CheckOptions } from "./check/index.ts";
import type { ClusterOptions } from "./cluster.ts";
import type { DevOptions } from "./dev/index.ts";
import {
  clusterOptions,
  collect,
  collectNames,
  coordinationOption,
  examples,
  kubeletOption,
  logFormatOption,
  outputOption,
  portNumber,
  positiveNumber,
  readEnvironment,
  runOptions,
  subcommand,
  webhookOptions,
  webhooksOption,
} from "./flags.ts";
import type { GenerateOptions } from "./generate/index.ts";
import type { InitOptions } from "./init/index.ts";
import type { MigrateOptions } from "./migrate.ts";
import {
  type Define,
  type Done,
  explainCommand,
  freezeCommand,
  profileCommand,
  resumeCommand,
  retryCommand,
} from "./on-call.ts";
import type { RunOptions } from "./run/index.ts";
import type { ProjectIo } from "./scan/index.ts";
import type { UninstallOptions } from "./uninstall.ts";
import { readVersion } from "./version.ts";

/** In the order of the help. */
const COMMANDS: readonly Define[] = [
  initCommand,
  devCommand,
  runCommand,
  clusterCommand,
  checkCommand,
  chaosCommand,
  generateCommand,
  explainCommand,
  retryCommand,
  profileCommand,
  freezeCommand,
  resumeCommand,
  migrateCommand,
  uninstallCommand,
  completionCommand,
];

/** Two commands that have one line in the list of all. */
const TOGETHER: Readonly<Record<string, string>> = {
  check: "check, chaos",
  explain: "explain, retry",
  freeze: "freeze, resume",
};
const UNSEEN = new Set(["help", "chaos", "resume", "retry"]);

/** The whole program. */
export function programOf(io: ProjectIo, done: Done): Command {
  const program = new Command("lotse")
    .description("Kubernetes operators in TypeScript. Exit codes: 0 done, 1 failed, 2 wrong usage.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError(true)
    .enablePositionalOptions()
    // Everything on one screen: arguments stand in the usage, choices in the descriptions.
    .configureHelp({
      subcommandTerm: (command) => TOGETHER[command.name()] ?? command.name(),
      optionDescription: ({ description }) => description,
      // `lotse help run` works, and does not need a line: `lotse run --help` is said everywhere.
      visibleCommands: (command) => new Help().visibleCommands(command).filter((one) => !UNSEEN.has(one.name())),
    })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // Told by main, in its own form.
      outputError: () => {},
    })
    .hook("preAction", (_program, command) => readEnvironment(command, io))
    .addHelpText("after", examples(["lotse init rates && cd rates && npm install && npm run dev"]));
  for (const define of COMMANDS) program.addCommand(define(program, io, done));
  return program;
}

function initCommand(program: Command, io: ProjectIo, done: Done): Command {
  return subcommand(program, "init")
    .summary("create a project for a new operator")
    .description(
      "Creates a project for a new operator, with a resource, a test and a manifest.\nThe same as `npm create lotse`.",
    )
    .argument("[folder]", "where it goes (default: the current folder)")
    .option("--name <name>", "the operator's name (default: the folder's)")
    .option("--force", "also into a folder with files, over those of the same names")
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse init exchange-rates", "lotse init --name exchange-rates"]))
    .action(async (folder: string | undefined, options: InitOptions) => {
      const { init } = await import("./init/index.ts");
      done(await init(folder, options, io));
    });
}

function runCommand(program: Command, io: ProjectIo, done: Done): Command {
  const command = subcommand(program, "run")
    .summary("run operators against a cluster")
    .description("Runs the operators of files. Variables set flags, too: LOTSE_RUN_NAMESPACE=a,b")
    .argument("[files...]")
    .option("-m, --module <name>", "also a package that exports an operator; repeatable", collect);
  return runOptions(command)
    .addHelpText("after", examples(["lotse run rates.ts backups.ts --context staging -n team-a --install-crds"]))
    .action(async (files: string[], options: RunOptions) => {
      const { run } = await import("./run/index.ts");
      done(await run(files, options, io));
    });
}

function devCommand(program: Command, io: ProjectIo, done: Done): Command {
  return webhookOptions(subcommand(program, "dev"))
    .summary("develop an operator on a cluster of its own")
    .description("Runs the operator on an embedded cluster, anew at each save. The key h helps.")
    .argument("[file]")
    .option("--port <number>", "the cluster's port (default: a free one)", portNumber)
    .addOption(kubeletOption())
    .option("--data <folder>", "keep the cluster in a folder, to go on later")
    .option("--rbac", "with the rights that the operator is deployed with")
    .option("--real", "in the kubectl context; --webhook-url says how it asks")
    .addOption(new Option("--webhook-url <url>", "where the cluster asks").hideHelp())
    .addOption(new Option("--certificates <who>", "of webhooks: own, cert-manager, or a folder's").hideHelp())
    .option("--context <name>", "with --real: another context")
    .option("--kubeconfig <path>", "for kubectl: .lotse/kubeconfig; with --real: to use")
    .option("--install-crds", "with --real: install the operator's definitions")
    .option("-n, --namespace <name>", "only objects of this namespace; repeatable", collectNames)
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .option("--no-console", "do without the console in the browser")
    .addOption(outputOption())
    .addOption(logFormatOption("pretty"))
    .option("-v, --verbose", "add debug lines, and stacks to errors")
    .option("-q, --quiet", "only warnings and errors")
    .addHelpText("after", examples(["lotse dev operator.ts"]))
    .action(async (file: string | undefined, options: DevOptions) => {
      const { dev } = await import("./dev/index.ts");
      done(await dev(file, options, io));
    });
}

function clusterCommand(program: Command, io: ProjectIo, done: Done): Command {
  return subcommand(program, "cluster")
    .summary("start an embedded Kubernetes cluster")
    .description(
      "Starts a Kubernetes API server in this process, and writes its kubeconfig. With\n--kubelet process, what manifests say runs on this machine with your rights.",
    )
    .option("--port <number>", "the port to listen on (default: a free one)", portNumber)
    .option("--kubeconfig <path>", "where to write it (default: .lotse/kubeconfig)")
    .addOption(kubeletOption())
    .option("--plain-http", "without TLS, for tools that cannot trust it")
    .option("--data <folder>", "keep it in a folder, to go on later (default: memory)")
    .option("--rbac", "roles decide who may do what (default: each user may)")
    .option("--envtest <folder>", "only put etcd and kube-apiserver for envtest there")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse cluster",
        "lotse cluster --port 6443 --kubeconfig /tmp/kubeconfig",
        "lotse cluster --data .lotse/data",
        "lotse cluster --envtest .lotse/envtest",
        "lotse cluster --output json",
      ]),
    )
    .action(async (options: ClusterOptions) => {
      const { cluster } = await import("./cluster.ts");
      done(await cluster(options, io));
    });
}

function generateCommand(program: Command, io: ProjectIo, done: Done): Command {
  const command = subcommand(program, "generate")
    .summary("make what an operator needs to be deployed")
    .description(
      "Makes of operators: crd, rbac, deploy (all that a cluster needs), dockerfile,\nhelm (a chart), olm (a bundle), dashboard, alerts; of CRDs and kinds: types.",
    )
    .argument("<product>")
    .argument("[files...]")
    .option("-o, --output <folder>", "write files there (default: standard output)")
    .option("-n, --namespace <name>", "where the operator will run (default: default)")
    .option("--serve <name>", "serves only this namespace; repeatable", collectNames)
    .option("--image <image>", "the operator's image (default: its name)")
    .option("--replicas <number>", "how many pods it has (default: 1)", positiveNumber)
    .addOption(coordinationOption("how they share the work: leader (default), shards"))
    .option("--metrics-auth", "shows metrics to those who may read them, by https")
    .addOption(webhooksOption())
    .option("--certificates <who>", "of webhooks: own, cert-manager, or a Secret's name")
    .addOption(new Option("--pin <image>", "of a Dockerfile: node:22-alpine@sha256:…").argParser(collect).hideHelp())
    .option("--from <recording>", "what its handlers did; LOTSE_RECORD=FILE records it", collect)
    .option("--api-version <version>", "for types: v1beta1 (default: the stored one)")
    .addOption(new Option("--select <labels>", 'for dashboard and alerts: the series, as in job="rates"').hideHelp())
    .addOption(new Option("--plain", "for alerts: rules as Prometheus itself reads them").hideHelp())
    .addOption(new Option("--kubeconfig <path>", "for types: where clusters are named").hideHelp())
    .addOption(new Option("--context <name>", "for types: which of them").hideHelp());
  return command
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse generate deploy operator.ts --image example.com/rates:1 -n rates",
        "lotse generate helm operator.ts -o chart && helm install rates ./chart",
        "lotse generate types certificates.cert-manager.io > certificate.ts",
      ]),
    )
    .action(async (product: string, files: string[], options: GenerateOptions) => {
      const { generate } = await import("./generate/index.ts");
      done(await generate(product, files, options, io));
    });
}

function checkCommand(program: Command, io: ProjectIo, done: Done): Command {
  const command = subcommand(program, "check")
    .summary("find what is wrong before a release")
    .description(
      "Checks types, custom resource definitions, what they do to stored objects, and\npermissions of the operators that files export. Exits with 1 at an error.",
    )
    .argument("[files...]")
    .option("--against <what>", "compare with git:REVISION or a file, not the cluster")
    .option("--objects", "try all stored objects with the new definitions")
    .option("-n, --namespace <name>", "permissions in this namespace; repeatable", collectNames)
    .option("--no-cluster", "look at no cluster");
  return clusterOptions(command)
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples(["lotse check operator.ts", "lotse check operator.ts --against git:main --no-cluster"]),
    )
    .action(async (files: string[], options: CheckOptions) => {
      const { check } = await import("./check/index.ts");
      done(await check(files, options, io));
    });
}

function migrateCommand(program: Command, io: ProjectIo, done: Done): Command {
  return clusterOptions(
    subcommand(program, "migrate")
      .summary("rewrite stored objects into their storage version")
      .description(
        "Rewrites all objects of a kind into the version that its definition stores, and\ntakes the others out of status.storedVersions: then they can be dropped. Stop it\nand run it again at any time.",
      )
      .argument("<kind>", "by any of its names: shops, shops.example.com"),
  )
    .option("--concurrency <number>", "objects at a time (default: 10)", positiveNumber)
    .option("--dry-run", "the server tries each write and keeps none")
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples(["lotse migrate shops.example.com --dry-run", "lotse migrate shops.example.com --context staging"]),
    )
    .action(async (kind: string, options: MigrateOptions) => {
      const { migrate } = await import("./migrate.ts");
      done(await migrate(kind, options, io));
    });
}

function uninstallCommand(program: Command, io: ProjectIo, done: Done): Command {
  return clusterOptions(
    subcommand(program, "uninstall")
      .summary("take an operator's marks off all objects")
      .description(
        "Takes the finalizers and records of the operators that files export off all\nobjects, so that nothing waits for them. Stop the operators first. Objects and\ndefinitions stay.",
      )
      .argument("[files...]"),
  )
    .option("-n, --namespace <name>", "only objects of this namespace; repeatable", collectNames)
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

function completionCommand(program: Command, io: ProjectIo, done: Done): Command {
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
