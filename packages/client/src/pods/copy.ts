/** Files and folders into and out of containers, with the `tar` that is in the container. */
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import type { Duration } from "../meta/index.ts";
import { nameOf, type PodAccess } from "./access.ts";
import { canCloseInput } from "./channels.ts";
import { CopyError, ExecError } from "./errors.ts";
import { exec, spawn } from "./exec.ts";
import { type CopyResult, CopyTally, type OutsideRule, packTree, unpackTree } from "./folders.ts";
import type { ExecProcess } from "./process.ts";
import { type OpenEntry, readTar } from "./tar.ts";

/** How to copy. */
export interface CopyOptions {
  /** Default: the one of the annotation `kubectl.kubernetes.io/default-container`, else the first. */
  readonly container?: string | undefined;
  /**
   * Links that lead out of what is copied, and devices: `"refuse"` stops with an error, `"skip"` leaves them out. Default
   * `"refuse"`.
   */
  readonly outside?: OutsideRule | undefined;
  /** For the whole copy. Default: none. */
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Copies a file or a folder into a container. As with `cp -r`, a folder that exists (or a name that ends in `/`) gets it
 * inside; any other name becomes its name. Modes are kept, owners are not.
 *
 * @example
 * ```ts
 * await copyTo(pod, "./site", "/var/www/");          // /var/www/site
 * await copyTo(pod, "./app.json", "/etc/app.json");
 * ```
 */
export async function copyTo(
  pod: PodAccess,
  local: string | URL,
  remote: string,
  o: CopyOptions = {},
): Promise<CopyResult> {
  const source = pathOf(local);
  await fs.access(source).catch((cause) => {
    throw new CopyError(`${source} cannot be read: ${cause.message}`, { cause, hint: "check the local path" });
  });
  const tally = new CopyTally(o.outside ?? "refuse");
  const { folder, name } = await remoteTarget(pod, path.basename(source), remote, o);
  const running = await start(pod, ["tar", "-xmf", "-", "-C", folder], o, true);
  running.stdout.resume();
  if (!canCloseInput(running.protocol)) {
    running.kill();
    throw new CopyError(`the server of ${nameOf(pod)} cannot be told where the copy ends (${running.protocol})`, {
      hint: "copying into containers needs Kubernetes 1.30 or newer",
    });
  }
  try {
    await pipeline(Readable.from(packTree(source, name, tally)), running.stdin);
  } catch (error) {
    // The other end closing the input is told better by its exit code and its words.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") {
      running.kill();
      throw error;
    }
  }
  await finish(pod, running, `copy ${source} to ${remote}`);
  return tally;
}

/**
 * Copies a file or a folder out of a container. As with `cp -r`, a folder that exists (or a name that ends in `/`) gets it
 * inside; any other name becomes its name. A link that is named itself is followed.
 *
 * @example
 * ```ts
 * await copyFrom(pod, "/var/log/app", "./logs");
 * ```
 */
export async function copyFrom(
  pod: PodAccess,
  remote: string,
  local: string | URL,
  o: CopyOptions = {},
): Promise<CopyResult> {
  const trimmed = remote.replace(/\/+$/, "");
  const name = path.posix.basename(path.posix.normalize(trimmed === "" ? "/" : trimmed));
  const here = pathOf(local);
  const isFolder = await fs.stat(here).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
  const wanted = name === "" || name === "." || name === ".." ? "" : name;
  const target = wanted !== "" && (isFolder || /[\\/]$/.test(here)) ? path.join(here, wanted) : here;
  await fs.mkdir(path.dirname(path.resolve(target)), { recursive: true });
  try {
    return await fetchTree(pod, { remote: trimmed || "/", name: wanted, target, follow: false }, o);
  } catch (error) {
    if (error !== IS_LINK) throw error;
    return fetchTree(pod, { remote: trimmed, name: wanted, target, follow: true }, o);
  }
}

/** What was asked for is itself a link. */
const IS_LINK = Symbol("is a link");

async function fetchTree(
  pod: PodAccess,
  what: { remote: string; name: string; target: string; follow: boolean },
  o: CopyOptions,
): Promise<CopyResult> {
  const { remote, name, target, follow } = what;
  const [folder, member] = name === "" ? [remote, "."] : [path.posix.dirname(remote), `./${name}`];
  const running = await start(pod, ["tar", follow ? "-chf" : "-cf", "-", "-C", folder, member], o, false);
  const tally = new CopyTally(o.outside ?? "refuse");
  const entries = async function* (): AsyncGenerator<OpenEntry, void, undefined> {
    for await (const entry of readTar(running.stdout as AsyncIterable<Buffer>)) {
      const itself = name !== "" && entry.path.replace(/^\.\//, "") === name;
      if (itself && entry.type === "symlink") throw IS_LINK;
      yield entry;
    }
  };
  try {
    await unpackTree(entries(), name, target, tally);
  } catch (error) {
    // An archive that ends too early is better told by what tar says about it.
    if (running.stdout.readableEnded || error instanceof ExecError)
      await finish(pod, running, `copy ${remote} from ${nameOf(pod)}`);
    running.kill();
    throw error;
  }
  await finish(pod, running, `copy ${remote} from ${nameOf(pod)}`);
  return tally;
}

/** In which folder of the container, and under which name. */
async function remoteTarget(pod: PodAccess, base: string, remote: string, o: CopyOptions) {
  const trimmed = remote.replace(/\/+$/, "") || "/";
  const inFolder = remote.endsWith("/") || (await isRemoteFolder(pod, remote, o));
  if (inFolder) return { folder: trimmed, name: base };
  return { folder: path.posix.dirname(trimmed), name: path.posix.basename(trimmed) };
}

async function isRemoteFolder(pod: PodAccess, remote: string, o: CopyOptions): Promise<boolean> {
  const { container, signal, timeout } = o;
  try {
    const { exitCode } = await exec(pod, ["test", "-d", remote], { container, signal, timeout, check: false });
    return exitCode === 0;
  } catch (error) {
    // A container without `test` has no `tar` either, and that is the better message.
    if (error instanceof ExecError && error.failure === "server") return false;
    throw error;
  }
}

interface TarProcess extends ExecProcess {
  /** Everything that tar complains about. */
  readonly complaints: Promise<string>;
}

async function start(pod: PodAccess, command: readonly string[], o: CopyOptions, stdin: boolean): Promise<TarProcess> {
  const { container, signal, timeout } = o;
  const running = await spawn(pod, command, { container, signal, timeout, stdin });
  const complaints = text(running.stderr);
  complaints.catch(() => undefined);
  return Object.assign(running, { complaints });
}

async function finish(pod: PodAccess, running: TarProcess, what: string): Promise<void> {
  const needsTar = `copying needs \`tar\` in container ${running.container} of ${nameOf(pod)}`;
  const code = await running.exitCode.catch((cause) => {
    if (!(cause instanceof ExecError) || cause.failure !== "server") throw cause;
    throw new CopyError(`cannot ${what}: ${cause.message}`, { cause, hint: needsTar });
  });
  if (code === 0) return;
  const said = (await running.complaints).trim();
  throw new CopyError(`cannot ${what}: tar ended with code ${code}${said === "" ? "" : `: ${said}`}`, {
    // Shells and container runtimes say so of a command that they cannot find or run.
    hint: code === 126 || code === 127 ? needsTar : "check the path and the rights in the container",
  });
}

const pathOf = (local: string | URL): string => (typeof local === "string" ? local : fileURLToPath(local));
