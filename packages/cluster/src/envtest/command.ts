/** The command of this package: `npx @lotse/cluster envtest DIR`. */
import { installEnvtest } from "./install.ts";

const USAGE = `Usage: npx @lotse/cluster envtest DIR

Puts programs called etcd and kube-apiserver into DIR. With KUBEBUILDER_ASSETS=DIR
envtest starts them, and with them an embedded cluster.
`;

/** What a user should know, and need not mend. */
export const NOT_COMPILED =
  "Note: compiled code cannot be kept (LOTSE_CACHE names a folder): the programs start more slowly\n";

/** Runs a command line; resolves with the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommand(
  argv: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  if (argv.some((word) => word === "--help" || word === "-h")) {
    out(USAGE);
    return 0;
  }
  const [command, folder, ...rest] = argv;
  if (command !== "envtest" || folder === undefined || folder.startsWith("-") || rest.length > 0) {
    err(USAGE);
    return 2;
  }
  try {
    const made = await installEnvtest(folder);
    out(toldOf(made.folder));
    if (!made.compiled) err(NOT_COMPILED);
    return 0;
  } catch (error) {
    err(
      `Error: the programs cannot be put into ${folder}: ${(error as Error).message}\nDo:    choose another folder\n`,
    );
    return 1;
  }
}

/** What to do with the folder, as a line for a shell. */
export function toldOf(folder: string): string {
  const word = /^[\w./+@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return `export KUBEBUILDER_ASSETS=${word}\n`;
}
