import path from "node:path";
import { parseArgs } from "node:util";
import { CreateError, createProject, describeProject } from "lotse/init";

/** What a run of the command has to say. Exit codes: 0 done, 1 failed, 2 wrong usage. */
export interface CommandResult {
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

const DEFAULT_FOLDER = "my-operator";

const HELP = `Creates a project for a Kubernetes operator in TypeScript.

Usage: npm create lotse [folder] -- [options]

  folder         where the project goes (default: ${DEFAULT_FOLDER}); "." is the current folder

Options:
  --name NAME    name of the operator (default: the folder's name)
  --force        write into a folder that is not empty, over files of the same names
  -h, --help     show this help

Example:
  npm create lotse exchange-rates
`;

/** Runs `create-lotse` with these arguments; `folder` is the current one. */
export async function runCommand(args: readonly string[], { folder }: { folder: string }): Promise<CommandResult> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return failure(2, (error as Error).message, "see create-lotse --help");
  }
  const { values, positionals } = parsed;
  if (values.help) return { exitCode: 0, stdout: HELP, stderr: "" };
  if (positionals.length > 1) {
    return failure(2, `one folder is enough, these are ${positionals.length}`, "see create-lotse --help");
  }
  const target = path.resolve(folder, positionals[0] ?? DEFAULT_FOLDER);
  try {
    const created = await createProject({ folder: target, name: values.name, force: values.force });
    return { exitCode: 0, stdout: describeProject(folder, created), stderr: "" };
  } catch (error) {
    if (error instanceof CreateError) return failure(1, error.message, error.hint);
    return failure(1, (error as Error).message, "check the folder and its permissions");
  }
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: "string" },
      force: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
}

function failure(exitCode: 1 | 2, what: string, hint: string): CommandResult {
  // parseArgs explains at length; its first sentence says it.
  const [first = what] = what.split(/(?<=\.)\s/, 1);
  return { exitCode, stdout: "", stderr: `create-lotse: ${first.replace(/\.$/, "")}\n  ${hint}\n` };
}
