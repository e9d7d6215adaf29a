/** What the definitions of all commands share: their manners, and the flags that several of them have. */
import { durationMs } from "@lotse/client/meta";
import { Command, InvalidArgumentError, Option } from "commander";
import { recordedMs } from "./profiling/index.ts";
import type { Io } from "./terminal/index.ts";

/** A command with the manners of the whole program. */
export function subcommand(program: Command, name: string): Command {
  return new Command(name).copyInheritedSettings(program).helpOption("-h, --help", "print this help");
}

/** The examples at the end of a command's help. */
export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

/** `--log-format`, the same for all commands that log. */
export function logFormatOption(byDefault: string): Option {
  return new Option("--log-format <format>", `pretty or json (default: ${byDefault})`).choices(["pretty", "json"]);
}

/** `--output json`, the same for all commands that programs read. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "json: print what a program needs").choices(["json"]);
}

/** `--kubelet`, the same for all commands that start a cluster. */
export function kubeletOption(): Option {
  const help = "pods: off, simulate (default), process (your rights)";
  return new Option("--kubelet <mode>", help).choices(["off", "simulate", "process"]);
}

/** The two flags that choose a cluster. */
export function clusterOptions(command: Command): Command {
  return command
    .option("--kubeconfig <path>", "default: $KUBECONFIG, ~/.kube/config or the pod's own")
    .option("--context <name>", "the context in it (default: the current one)");
}

/**
 * The flags about webhooks that have no line of their own in the help, which is one screen: those that do speak of them,
 * docs/cli.md has them all, and shells complete them.
 */
export function webhookOptions(command: Command): Command {
  return command
    .addOption(new Option("--webhook-service <name>", "the Service in front: [NAMESPACE/]NAME[:PORT]").hideHelp())
    .addOption(new Option("--webhook-host <address>", "the address to listen on (default: all)").hideHelp())
    .addOption(
      new Option("--webhook-port <number>", "the port to listen on (default: 9443)").argParser(portNumber).hideHelp(),
    )
    .addOption(new Option("--no-register", "webhooks and policies come as manifests").hideHelp());
}

/** `--webhooks`: who tells the API server of webhooks. */
export function webhooksOption(): Option {
  const help = "registered by the operator (default), or manifests";
  return new Option("--webhooks <who>", help).choices(["operator", "manifests"]);
}

/** The flags of a shadow besides `--shadow`; as those about webhooks, they have no line of their own in the help. */
export function shadowOptions(command: Command): Command {
  const hidden = (flags: string, help: string) => new Option(flags, help).hideHelp();
  return command
    .addOption(hidden("--until-quiet <duration>", "with --shadow: end when nothing new differs for so long"))
    .addOption(hidden("--from-scratch", "with --shadow: do everything anew, and compare all objects"))
    .addOption(hidden("--settle <duration>", "with --shadow: compare what has not changed for so long (default: 5s)"))
    .addOption(
      hidden("--beside <manager>", "with --shadow: field manager of the old version; repeatable").argParser(collect),
    )
    .addOption(
      hidden("--compare <kind>", "with --shadow: compare this kind in any case; repeatable").argParser(collect),
    )
    .addOption(hidden("--allow-exec", "with --shadow: really run commands in containers"))
    .addOption(outputOption().hideHelp());
}

/** Whom `freeze` and `resume` mean. */
export function targetOptions(command: Command): Command {
  return clusterOptions(command)
    .option("-n, --namespace <name>", "where it runs (default: the context's); repeatable", collectNames)
    .option("-A, --all-namespaces", "wherever it runs")
    .option("--peering <name>", "by Kopf's peering object of this name instead")
    .option("--id <id>", "who you are (default: user@host)");
}

/** `--coordination`: how processes share the work. */
export function coordinationOption(help: string): Option {
  return new Option("--coordination <how>", help).choices(["leader", "shards", "alone"]);
}

/**
 * The flags of peering, as Kopf has them. They have no line of their own in the help, which is one screen: docs/cli.md has
 * them all, and shells complete them.
 */
export function precedenceOptions(command: Command): Command {
  return command
    .addOption(new Option("-P, --peering <name>", "give way by this peering object, and wait for it").hideHelp())
    .addOption(new Option("-p, --priority <number>", "give way to higher ones").argParser(wholeNumber).hideHelp())
    .addOption(new Option("--standalone", "give way to nobody: as --coordination alone").hideHelp());
}

/** How operators run, wherever they come from. */
export function runOptions(command: Command): Command {
  return shadowOptions(precedenceOptions(webhookOptions(clusterOptions(command))))
    .option("-n, --namespace <name>", "only this namespace, or these: 'team-*'; repeatable", collectNames)
    .addOption(new Option("-A, --all-namespaces", "objects of all namespaces (the default)").hideHelp())
    .addOption(coordinationOption("beside others: leader, shards, or alone (default)"))
    .option("--dev", "the deployed operator pauses while this one runs")
    .option("--install-crds", "install the operators' definitions first")
    .option("-L, --liveness <url>", "serve health and metrics: http://0.0.0.0:8080/healthz")
    .addOption(
      new Option("--metrics-auth <url>", "serve metrics to those who may read them: https://0.0.0.0:8443").hideHelp(),
    )
    .addOption(new Option("--explain <url>", "answer lotse explain there: http://127.0.0.1:8081").hideHelp())
    .addOption(
      new Option(
        "--profile-folder <folder>",
        "where SIGUSR2 has a CPU profile written to (default: the temporary one)",
      ).hideHelp(),
    )
    .option("--webhook-url <url>", "where the cluster asks; or -service, -host, -port")
    .addOption(new Option("--certificates <who>", "of webhooks: own, cert-manager, or a folder's").hideHelp())
    .addOption(new Option("--require-permissions", "do not start while permissions are missing").hideHelp())
    .option("--record <file>", "write down what it sees, for replay() in a test")
    .addOption(new Option("--record-only <object>", "only what one needs: shop/default/corner").hideHelp())
    .addOption(new Option("--record-size <bytes>", "then it ends (default: 100Mi)").hideHelp())
    .option("--shadow", "write nothing, tell what differs from the old version")
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(logFormatOption("pretty in a terminal"))
    .option("-v, --verbose", "add debug lines, and stacks to errors")
    .option("-q, --quiet", "only warnings and errors");
}

/** `-n a -n b` and `-n a,b`: names never have commas. Globs and negations are allowed: `team-*`, `!team-x`. */
export function collectNames(value: string, before: readonly string[] = []): readonly string[] {
  const names = value.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^!?[a-z0-9*?[\]-]{1,63}$/.test(name) || /^!?-|-$/.test(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is not a namespace's name.`);
  return [...before, ...names];
}

/** A flag that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A port from the command line; throws what the user is told about another text. */
export function portNumber(value: string): number {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

/** A whole number above nought, up to a thousand. */
export function positiveNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || number > 1_000) {
    throw new InvalidArgumentError("It is a whole number from 1 to 1000.");
  }
  return number;
}

/** A priority from the command line. */
export function wholeNumber(value: string): number {
  if (!/^-?\d{1,9}$/.test(value)) throw new InvalidArgumentError("It is a whole number.");
  return Number(value);
}

/** A duration from the command line, in milliseconds: at least a second, as peers count in seconds. */
export function lifetimeMs(value: string): number {
  let ms: number;
  try {
    // Kopf's own command takes seconds.
    ms = /^\d+$/.test(value) ? Number(value) * 1_000 : durationMs(value);
  } catch {
    throw new InvalidArgumentError("It is a duration: 30s, 5m, 1h30m.");
  }
  if (ms < 1_000) throw new InvalidArgumentError("It is a second at least.");
  return ms;
}

/** For how long to record, in milliseconds. */
export function profileMs(value: string): number {
  const ms = recordedMs(value);
  if (ms === undefined) throw new InvalidArgumentError("It is a duration up to ten minutes: 10s, 1m30s.");
  return ms;
}

/** The environment variable of a flag: `LOTSE_RUN_LOG_FORMAT`. */
export function variableOf(command: string, option: Pick<Option, "long">): string {
  return `LOTSE_${command}_${option.long?.replace(/^--(no-)?/, "") ?? ""}`.toUpperCase().replaceAll("-", "_");
}

/**
 * Every flag that was not given is looked up in the environment, so that a Deployment can set it. Lists are separated by
 * commas or blanks; a switch is on for `1`, `true`, `yes`, and off for `0`, `false`, `no` and the empty text.
 */
export function readEnvironment(command: Command, { env }: Pick<Io, "env">): void {
  for (const option of command.options) {
    const key = option.attributeName();
    const source = command.getOptionValueSource(key);
    const variable = variableOf(command.name(), option);
    const text = env[variable];
    if (text === undefined || (source !== undefined && source !== "default")) continue;
    command.setOptionValueWithSource(key, fromText(option, text, variable), "env");
  }
}

function fromText(option: Option, text: string, variable: string): unknown {
  // Of `--no-console` the variable is about the console: yes means with it.
  if (option.isBoolean() || option.negate) {
    if (/^(1|true|yes|on)$/i.test(text)) return true;
    if (/^(0|false|no|off|)$/i.test(text)) return false;
    throw new InvalidArgumentError(`${variable} is ${JSON.stringify(text)}, which is neither yes nor no.`);
  }
  if (option.argChoices && !option.argChoices.includes(text)) {
    throw new InvalidArgumentError(
      `${variable} is ${JSON.stringify(text)}; it can be ${option.argChoices.join(" or ")}.`,
    );
  }
  const words = option.parseArg === collect || option.parseArg === collectNames ? text.split(/[\s,]+/) : [text];
  let value: unknown;
  for (const word of words.filter((one) => one !== "")) {
    value = option.parseArg ? option.parseArg(word, value as undefined) : word;
  }
  return value;
}
