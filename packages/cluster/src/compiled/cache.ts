import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A file begins with a digest of what follows. */
const DIGEST_BYTES = 32;
const ENDING = ".code";
const FORGET_MS = 30 * 24 * 60 * 60 * 1_000;
/** Permission of others to write. */
const OTHERS_WRITE = 0o022;

/** Who compiles: V8 takes nothing that another version of it made, or the same one with other options. */
export interface Compiler {
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
  /** Options of Node.js, wherever they come from. */
  readonly options: readonly string[];
}

/** The Node.js that runs this. */
export function thisCompiler(): Compiler {
  const { version, platform, arch, execArgv, env } = process;
  return { version, platform, arch, options: [...execArgv, env.NODE_OPTIONS ?? ""] };
}

/** Where compiled code is kept; undefined where the user wants none, by the variable that Node.js has for it. */
export function codeFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  return join(env.LOTSE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "lotse"), "code");
}

/**
 * Compiled code of files, kept from one run to the next in a folder of the user's own. It can be missing, damaged, made
 * by another version of Node.js or impossible to write: that costs time and nothing else, so none of it is told.
 */
export class CodeCache {
  readonly #folder: string;
  readonly #compiler: string;

  constructor(folder: string, compiler: Compiler = thisCompiler()) {
    this.#folder = folder;
    this.#compiler = JSON.stringify([compiler.version, compiler.platform, compiler.arch, compiler.options]);
  }

  /** What was kept for exactly this source and compiler. */
  read(source: Buffer): Buffer | undefined {
    try {
      const bytes = readOwn(this.#path(source));
      const data = bytes?.subarray(DIGEST_BYTES);
      return data && digest(data).equals(bytes?.subarray(0, DIGEST_BYTES) as Buffer) ? data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps compiled code; false when that is not possible. Another process never sees half of it. */
  write(source: Buffer, data: Buffer): boolean {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const path = this.#path(source);
      const draft = `${path}.${process.pid}.new`;
      rmSync(draft, { force: true });
      writeFileSync(draft, Buffer.concat([digest(data), data]), { mode: 0o600, flag: "wx" });
      renameSync(draft, path);
      return true;
    } catch {
      return false;
    }
  }

  /** Removes what no version that is still in use can have made lately. */
  forget(now: number): void {
    try {
      for (const name of readdirSync(this.#folder)) {
        if (!name.includes(ENDING)) continue;
        const path = join(this.#folder, name);
        if (statSync(path).mtimeMs < now - FORGET_MS) rmSync(path, { force: true });
      }
    } catch {
      // Somebody else tidies up in the same moment, or the folder is gone.
    }
  }

  #path(source: Buffer): string {
    const name = createHash("sha256").update(this.#compiler).update("\0").update(source).digest("hex").slice(0, 40);
    return join(this.#folder, `${name}${ENDING}`);
  }
}

const digest = (data: Buffer): Buffer => createHash("sha256").update(data).digest();

/** A file that nobody else can have written: what it holds is run as code. */
function readOwn(path: string): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    const { uid, mode, size } = fstatSync(file);
    if (process.getuid && (uid !== process.getuid() || (mode & OTHERS_WRITE) !== 0)) return undefined;
    if (size <= DIGEST_BYTES) return undefined;
    const bytes = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
      const read = readSync(file, bytes, at, size - at, at);
      if (read === 0) return undefined;
      at += read;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
