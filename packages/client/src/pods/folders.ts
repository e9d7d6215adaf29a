/**
 * Files and folders of this machine, into an archive and out of one. An archive comes from a container, which may lie:
 * nothing is written outside the target, whatever names and links it holds.
 */
import { createReadStream } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CopyError } from "./errors.ts";
import { ARCHIVE_END, type OpenEntry, packHeader, padding } from "./tar.ts";

/** What to do with links that lead out of what is copied, and with what is neither file, folder nor link. */
export type OutsideRule = "refuse" | "skip";

/** What was copied. */
export interface CopyResult {
  readonly files: number;
  readonly bytes: number;
  /** What was left out, by its path in what was copied. */
  readonly skipped: readonly string[];
}

/** Counts while it copies. */
export class CopyTally implements CopyResult {
  files = 0;
  bytes = 0;
  readonly skipped: string[] = [];
  readonly #rule: OutsideRule;

  constructor(rule: OutsideRule) {
    this.#rule = rule;
  }

  /** Leaves something out, or refuses to go on. */
  leaveOut(what: string, why: string): void {
    if (this.#rule === "refuse")
      throw new CopyError(`${what} ${why}`, { hint: 'pass outside: "skip" to leave it out' });
    this.skipped.push(what);
  }
}

/** An archive of a file or a folder under the name `name`. A link that is named itself is followed. */
export async function* packTree(
  local: string,
  name: string,
  tally: CopyTally,
): AsyncGenerator<Buffer, void, undefined> {
  yield* packOne(local, name, "", tally);
  yield ARCHIVE_END;
}

async function* packOne(
  local: string,
  name: string,
  inside: string,
  tally: CopyTally,
): AsyncGenerator<Buffer, void, undefined> {
  const full = path.join(local, inside);
  const stat = inside === "" ? await fs.stat(full) : await fs.lstat(full);
  const entryPath = inside === "" ? name : `${name}/${inside.split(path.sep).join("/")}`;
  const header = { path: entryPath, mode: stat.mode & 0o7777, size: 0, link: "" };
  if (stat.isDirectory()) {
    yield packHeader({ ...header, type: "directory" });
    for (const child of (await fs.readdir(full)).sort()) yield* packOne(local, name, path.join(inside, child), tally);
  } else if (stat.isSymbolicLink()) {
    const link = (await fs.readlink(full)).split(path.sep).join("/");
    if (!staysInside(path.dirname(inside), link))
      tally.leaveOut(inside, `is a link to ${link}, outside of what is copied`);
    else yield packHeader({ ...header, type: "symlink", link });
  } else if (stat.isFile()) {
    yield packHeader({ ...header, type: "file", size: stat.size });
    yield* contentOf(full, stat.size);
    tally.files++;
    tally.bytes += stat.size;
  } else tally.leaveOut(inside || full, "is neither file, folder nor link");
}

/** Exactly as many bytes as the header has promised. */
async function* contentOf(file: string, size: number): AsyncGenerator<Buffer, void, undefined> {
  let left = size;
  if (size > 0) {
    for await (const chunk of createReadStream(file, { end: size - 1 }) as AsyncIterable<Buffer>) {
      left -= chunk.length;
      yield chunk;
    }
  }
  if (left > 0) throw new CopyError(`${file} became shorter while it was copied`, { hint: "copy it again" });
  yield padding(size);
}

/**
 * Whether a link in the folder `from` (relative to the root) leads to somewhere below the root. Steps up count only in
 * front: behind the name of another link they would lead elsewhere than the text says.
 */
export function staysInside(from: string, link: string): boolean {
  if (link === "" || link.startsWith("/") || path.isAbsolute(link)) return false;
  const steps = link.split("/").filter((step) => step !== "" && step !== ".");
  const ups = steps.findIndex((step) => step !== "..");
  const up = ups < 0 ? steps.length : ups;
  if (steps.slice(up).includes("..")) return false;
  const depth = from === "" || from === "." ? 0 : from.split(path.sep).length;
  return up <= depth;
}

/** Writes an archive's entries to `target`; those names begin with `name`, which `target` stands for. */
export async function unpackTree(
  entries: AsyncIterable<OpenEntry>,
  name: string,
  target: string,
  tally: CopyTally,
): Promise<void> {
  const unpacking = new Unpacking(target, tally);
  for await (const entry of entries) await unpacking.take(entry, relativeTo(name, entry.path));
  await unpacking.finish();
}

/** The path below `name`; hostile ones are refused. */
function relativeTo(name: string, entryPath: string): string {
  const steps = entryPath.split("/").filter((step) => step !== "" && step !== ".");
  const below = name === "" ? steps : steps[0] === name ? steps.slice(1) : undefined;
  if (
    below === undefined ||
    entryPath.startsWith("/") ||
    below.includes("..") ||
    below.some((step) => step.includes("\0"))
  ) {
    throw new CopyError(`the container sent ${JSON.stringify(entryPath)}, which is not in what was asked for`, {
      hint: "do not trust this container",
    });
  }
  return below.join(path.sep);
}

class Unpacking {
  readonly #target: string;
  readonly #tally: CopyTally;
  readonly #known = new Map<string, string>();
  /** Set at the end: a folder that must not be written to must first be filled. */
  readonly #modes: [folder: string, mode: number][] = [];
  #root: string | undefined;

  constructor(target: string, tally: CopyTally) {
    this.#target = target;
    this.#tally = tally;
  }

  async take(entry: OpenEntry, inside: string): Promise<void> {
    if (entry.type === "directory") {
      const folder = await this.#folder(inside);
      this.#modes.push([folder, entry.mode & 0o777]);
      return;
    }
    const place =
      inside === "" ? this.#target : path.join(await this.#folder(path.dirname(inside)), path.basename(inside));
    if (entry.type === "other") return this.#tally.leaveOut(inside, "is neither file, folder nor link");
    if (entry.type === "symlink") {
      const from = path.relative(await this.#rootFolder(), path.dirname(place));
      if (!staysInside(from, entry.link)) {
        return this.#tally.leaveOut(inside, `is a link to ${entry.link}, outside of what is copied`);
      }
      await makeRoom(place);
      await fs.symlink(entry.link, place);
      return;
    }
    await makeRoom(place);
    if (entry.type === "hardlink") {
      await fs.copyFile(await this.#linked(entry), place);
    } else {
      await writeFile(place, entry);
      this.#tally.bytes += entry.size;
    }
    await fs.chmod(place, entry.mode & 0o777);
    this.#tally.files++;
  }

  async finish(): Promise<void> {
    for (const [folder, mode] of this.#modes.reverse()) await fs.chmod(folder, mode);
  }

  /** The file that another name of it leads to, which came before. */
  async #linked({ link, path: own }: OpenEntry): Promise<string> {
    const first = own.split("/").find((step) => step !== "" && step !== ".") ?? "";
    const inside = relativeTo(first, link);
    const file = path.join(await this.#folder(path.dirname(inside)), path.basename(inside));
    const stat = await fs.lstat(file);
    if (!stat.isFile()) throw new CopyError(`${own} is a link to ${link}, which is no file`);
    return file;
  }

  async #rootFolder(): Promise<string> {
    if (this.#root === undefined) {
      await fs.mkdir(this.#target, { recursive: true });
      this.#root = await fs.realpath(this.#target);
    }
    return this.#root;
  }

  /** The real path of a folder below the target, made if need be, and checked at each step. */
  async #folder(inside: string): Promise<string> {
    const root = await this.#rootFolder();
    if (inside === "" || inside === ".") return root;
    const known = this.#known.get(inside);
    if (known !== undefined) return known;
    const folder = path.join(await this.#folder(path.dirname(inside)), path.basename(inside));
    await fs.mkdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    const real = await fs.realpath(folder);
    if (real !== root && !real.startsWith(root + path.sep)) {
      throw new CopyError(`${folder} leads out of ${this.#target}`, {
        hint: "remove this link, or copy to another place",
      });
    }
    this.#known.set(inside, real);
    return real;
  }
}

/** Takes away what is there, so that nothing is written through a link. A folder stays, and is an error. */
async function makeRoom(place: string): Promise<void> {
  await fs.unlink(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

async function writeFile(place: string, { content }: OpenEntry): Promise<void> {
  const file = await fs.open(place, "wx", 0o600);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}
