import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "../meta/index.ts";

/**
 * Puts a text in the place of a file: another program that reads it sees the old one or the new one, and only its owner
 * may. The new text is written beside it under the name that kubectl uses for its lock, so that two programs never write
 * at the same time.
 *
 * With `expected` (undefined: no file) nothing is written when the file has another content by now.
 */
export async function replaceFile(
  path: string,
  text: string,
  o?: { readonly expected: string | undefined },
): Promise<void> {
  try {
    // A link stays a link; what it points to is replaced.
    const target = await realpath(path).catch(ifMissing(path));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeBeside(target, text, o);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`cannot write the kubeconfig ${path}: ${(cause as Error).message}`, {
      cause,
      hint: "check the permissions of the file and of its folder",
    });
  }
}

async function writeBeside(target: string, text: string, o?: { readonly expected: string | undefined }) {
  const lock = `${target}.lock`;
  const handle = await open(lock, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw new ConfigError(`another program is writing ${target}: there is ${lock}`, {
      cause,
      hint: "try again; if no program is, remove that file",
    });
  });
  try {
    const present = o && (await readFile(target, "utf8").catch(ifMissing(undefined)));
    if (o && present !== o.expected) {
      throw new ConfigError(`${target} has been changed by somebody else since it was read`, {
        hint: "load it again, and repeat the change",
      });
    }
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await rename(lock, target);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(lock, { force: true });
    throw error;
  }
}

function ifMissing<T>(value: T): (cause: NodeJS.ErrnoException) => T {
  return (cause) => {
    if (cause.code === "ENOENT") return value;
    throw cause;
  };
}
