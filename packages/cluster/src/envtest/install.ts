import { execFile } from "node:child_process";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { helpText } from "./flags.ts";
import { EXTRA_ROOTS, PREPARE, PROGRAMS, type ProgramName } from "./tables.ts";

/** What {@link installEnvtest} made. */
export interface InstalledEnvtest {
  /** Absolute path: the value for `KUBEBUILDER_ASSETS`. */
  readonly folder: string;
  /** The paths of the programs. */
  readonly programs: readonly string[];
  /** Whether compiled code is kept for them; without it they start as well, but more slowly. */
  readonly compiled: boolean;
}

/** How the programs are run; as this process runs unless told. */
export interface InstallOptions {
  /** The Node.js to run them with. */
  readonly node?: string;
  /** Words between Node.js and the name of the program: options of Node.js, and the file to run. */
  readonly launch?: readonly string[];
}

/**
 * Puts programs called `etcd` and `kube-apiserver` into a folder, for `KUBEBUILDER_ASSETS`: with them envtest, and all
 * that start a control plane as it does, get an embedded cluster. They need the Node.js and the package that made them.
 *
 * @example
 * ```ts
 * const { folder } = await installEnvtest(".lotse/envtest");
 * process.env.KUBEBUILDER_ASSETS = folder;
 * ```
 */
export async function installEnvtest(folder: string, options: InstallOptions = {}): Promise<InstalledEnvtest> {
  const { node = process.execPath, launch = [fileURLToPath(new URL("./envtest.cjs", import.meta.url))] } = options;
  const target = resolve(folder);
  await mkdir(target, { recursive: true });
  const programs: string[] = [];
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    const path = join(target, name);
    // A test that runs meanwhile finds the old program or the new one, never half of one.
    const draft = `${path}.${process.pid}.new`;
    await writeFile(draft, script(name, target, node, launch));
    await chmod(draft, 0o755);
    await rename(draft, path);
    programs.push(path);
  }
  return { folder: target, programs, compiled: await prepared(node, launch) };
}

const PATIENCE_MS = 30_000;

/** One start for nobody, in a process like those that follow: what V8 compiles in it is kept for them. */
function prepared(node: string, launch: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { ...process.env };
    // As the programs do it: with other options V8 takes nothing of what it makes here.
    delete env.NODE_EXTRA_CA_CERTS;
    execFile(node, [...launch, PREPARE], { env, timeout: PATIENCE_MS }, (error) => resolve(error === null));
  });
}

/**
 * A script of the shell, and not of Node.js, because envtest asks each program for its `--help` before it starts it, for
 * which Node.js would take longer than all the rest; and because the first line of a script has no room for long paths.
 */
function script(name: ProgramName, folder: string, node: string, launch: readonly string[]): string {
  const { what, table } = PROGRAMS[name];
  const file = launch.at(-1) ?? "";
  return `#!/bin/sh
# ${name} for envtest: ${what}.
# Made by @lotse/cluster; to make it anew: npx @lotse/cluster envtest ${folder}
for word in "$@"; do
  case "$word" in
    --help | -help | -h)
      printf '%s\\n' ${quote(helpText(name, what, table))}
      exit 0
      ;;
  esac
done
for needed in ${quote(node)} ${quote(file)}; do
  if [ ! -f "$needed" ]; then
    printf '%s\\n' "Error: ${name}: $needed is gone" ${quote(`Do:    npx @lotse/cluster envtest ${folder}`)} >&2
    exit 1
  fi
done
# Node.js would read all of them before it starts, for as long as it takes for all the rest: they are read when needed.
if [ -n "\${NODE_EXTRA_CA_CERTS-}" ]; then
  export ${EXTRA_ROOTS}="$NODE_EXTRA_CA_CERTS"
  unset NODE_EXTRA_CA_CERTS
fi
exec ${[node, ...launch, name].map(quote).join(" ")} "$@"
`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
