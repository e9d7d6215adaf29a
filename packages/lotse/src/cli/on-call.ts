/** The commands for whoever is on call: what a running operator did, what it does now, and how it is told something. */
import type { Command } from "commander";
import type { ExplainOptions, RetryOptions } from "./explain/index.ts";
import {
  clusterOptions,
  examples,
  lifetimeMs,
  outputOption,
  profileMs,
  subcommand,
  targetOptions,
  wholeNumber,
} from "./flags.ts";
import type { FreezeOptions } from "./freeze.ts";
import type { TargetOptions } from "./freeze-targets.ts";
import type { ProfileOptions } from "./profile/index.ts";
import type { ProjectIo } from "./scan/index.ts";

/** Told the exit code of the command that was called. */
export type Done = (exitCode: number) => void;

/** Declares one command. */
export type Define = (program: Command, io: ProjectIo, done: Done) => Command;

/** An object is explained, or the memory. */
type Explained = ExplainOptions & { readonly memory?: true };

/** `lotse explain`. */
export function explainCommand(program: Command, io: ProjectIo, done: Done): Command {
  return subcommand(program, "explain")
    .summary("tell what was done with an object, and why; try it again")
    .usage("[options] <kind> <name>\n       lotse explain [options] --memory")
    .description(
      "Asks the operators that run on this machine what woke an object, what ran for\nit, what was written and what it waits for; or what they keep in memory.",
    )
    .argument("[kind]", "by any of its names: machines, machines.example.com")
    .argument("[name]", "the object's name, or NAMESPACE/NAME")
    .option("--memory", "what is kept of each kind, its size, and who reads it")
    .option("-n, --namespace <name>", "the object's namespace (default: default)")
    .option("--url <url>", "where it answers (--explain): http://localhost:8081")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText(
      "after",
      examples([
        "lotse explain machine team-a/m1",
        "lotse explain machine m1 --url http://localhost:8081 -o json",
        "lotse explain --memory",
      ]),
    )
    .action(async (kind: string | undefined, name: string | undefined, options: Explained, command: Command) => {
      const { explain, explainMemory } = await import("./explain/index.ts");
      if (options.memory) {
        if (kind !== undefined) command.error("error: --memory is about all kinds, and takes no object");
        done(await explainMemory(options, io));
        return;
      }
      if (kind === undefined) return command.error("error: missing required argument 'kind'");
      if (name === undefined) return command.error("error: missing required argument 'name'");
      done(await explain(kind, name, options, io));
    });
}

/** `lotse retry`. */
export function retryCommand(program: Command, io: ProjectIo, done: Done): Command {
  return subcommand(program, "retry")
    .summary("try now what waits for its retry, or has failed for good")
    .description(
      "Asks the operators that run on this machine to try now what waits for its retry\non an object, and what has failed for good.",
    )
    .argument("<kind>", "by any of its names: machines, machines.example.com")
    .argument("<name>", "the object's name, or NAMESPACE/NAME")
    .option("-n, --namespace <name>", "the object's namespace (default: default)")
    .option("--url <url>", "where it answers (--explain): http://localhost:8081")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse retry machine team-a/m1", "lotse retry machine m1 -n team-a -o json"]))
    .action(async (kind: string, name: string, options: RetryOptions) => {
      const { retry } = await import("./explain/index.ts");
      done(await retry(kind, name, options, io));
    });
}

/** `lotse profile`. */
export function profileCommand(program: Command, io: ProjectIo, done: Done): Command {
  const command = subcommand(program, "profile")
    .summary("record what a running operator spends its time or memory on")
    .description(
      "Records a running operator, by its socket: one of this machine, or in a pod,\nwhere it needs the right to exec. SIGUSR2 has `lotse run` write a CPU profile.",
    )
    .argument("[target]", "a process's number, or a pod (default: the only one)")
    .option("--cpu <duration>", "what it does, for so long (default: 10s)", profileMs)
    .option("--heap", "all that is in its memory; it stands still meanwhile")
    .option("--force", "with --heap: even if that may take more than there is")
    .option("--out <file>", "where the profile goes (default: here, by time)")
    .option("-n, --namespace <name>", "the pod's (default: the context's)")
    .option("-c, --container <name>", "of the pod (default: its first)");
  return clusterOptions(command)
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse profile rates-7c9f-x2x4k -n rates --cpu 30s"]))
    .action(async (target: string | undefined, options: ProfileOptions) => {
      const { profile } = await import("./profile/index.ts");
      done(await profile(target, options, io));
    });
}

/** `lotse freeze`. */
export function freezeCommand(program: Command, io: ProjectIo, done: Done): Command {
  return targetOptions(
    subcommand(program, "freeze")
      .summary("have an operator pause for a while, and go on")
      .description(
        "Pauses an operator by a note on its Lease: all its processes stop to work until\nthe time is over or `lotse resume` ends it.",
      )
      .argument("[operator]"),
  )
    .option("--lifetime <duration>", "for how long (default: 5m)", lifetimeMs)
    .option("--priority <number>", "who has a higher one goes on (default: 100)", wholeNumber)
    .option("--message <text>", "why, for those who wonder")
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse freeze rates -n rates --lifetime 10m --message 'a restore'"]))
    .action(async (operator: string | undefined, options: FreezeOptions) => {
      const { freeze } = await import("./freeze.ts");
      done(await freeze(operator, options, io));
    });
}

/** `lotse resume`. */
export function resumeCommand(program: Command, io: ProjectIo, done: Done): Command {
  return targetOptions(
    subcommand(program, "resume")
      .summary("end a pause that `lotse freeze` has made")
      .description("Ends a pause that `lotse freeze` has made, before its time is over.")
      .argument("[operator]"),
  )
    .option("-y, --yes", "do not ask, even if the context looks like production")
    .addOption(outputOption())
    .option("-v, --verbose", "add stacks to errors")
    .addHelpText("after", examples(["lotse resume rates -n rates", "lotse resume --peering default"]))
    .action(async (operator: string | undefined, options: TargetOptions) => {
      const { resume } = await import("./resume.ts");
      done(await resume(operator, options, io));
    });
}
