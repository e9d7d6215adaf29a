/** The flags of `lotse chaos`. */
import { type Command, Option } from "commander";
import type { ChaosOptions } from "./chaos/index.ts";
import { clusterOptions, collect, examples, outputOption, subcommand, wholeNumber } from "./flags.ts";
import type { Done } from "./on-call.ts";
import type { ProjectIo } from "./scan/index.ts";

/** `lotse chaos`. */
export function chaosCommand(program: Command, io: ProjectIo, done: Done): Command {
  const hidden = (flags: string, help: string) => new Option(flags, help).hideHelp();
  return clusterOptions(subcommand(program, "chaos"))
    .summary("try what an operator in any language bears")
    .usage("[options] -- <command> [args]")
    .description("Runs a command whose API server fails on purpose, and tells what broke.")
    .argument("[command...]")
    .option("--fail <chance:status>", "refuse requests: 10%:500, 429; repeatable", collect)
    .option("--delay <chance:time>", "answer late: 20%:500ms; repeatable", collect)
    .option("--lose-answers [chance]", "do what writes ask, and break before answering")
    .option("--cut-watches <time>", "break each watch after so long: 30s")
    .option("--events <chance:what>", "of watches: 5%:twice, cut, stall, expire", collect)
    .option("--kill-at-write <n>", "kill it after the n-th write, or at 3:before", collect)
    .option("--only <verbs/kinds>", "write, configmaps, create,patch/deployments.apps")
    .option("--plan <file>", "rules from a YAML file, besides")
    .option("--for <time>", "do harm for so long (default: 1m); then --calm 15s")
    .option("--seed <number>", "another seed hits other requests (default: 1)", wholeNumber)
    .addOption(hidden("--reset <chance>", "break connections before the server hears"))
    .addOption(hidden("--halve <chance>", "break off in the middle of answers"))
    .addOption(hidden("--mute <chance>", "neither answer nor close"))
    .addOption(hidden("--after <time>", "leave it alone for so long first (default: 0s)"))
    .addOption(hidden("--calm <time>", "then leave it alone for so long (default: 15s)"))
    .addOption(hidden("-y, --yes", "do not ask, even if the context looks like production"))
    .addOption(outputOption())
    .addOption(hidden("-v, --verbose", "add stacks to errors"))
    .addHelpText(
      "after",
      examples([
        "lotse chaos --fail 10%:500 --cut-watches 30s -- python -m kopf run op.py",
        "lotse chaos --kill-at-write 3 --for 5m -o json -- ./manager",
      ]),
    )
    .action(async (command: string[], options: ChaosOptions) => {
      const { chaos } = await import("./chaos/index.ts");
      done(await chaos(command, options, io));
    });
}
