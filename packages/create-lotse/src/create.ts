import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { CreateError, checkFolder, planProject } from "./plan.ts";
import { readTemplates } from "./templates.ts";

/** What to create, and where. */
export interface CreateOptions {
  /** Where the project goes; created when it is not there. */
  readonly folder: string;
  /** Default: the folder's own name. */
  readonly name?: string | undefined;
  /** Writes into a folder that is not empty; files of the same names are overwritten. */
  readonly force?: boolean | undefined;
}

/** A project that was created. */
export interface CreatedProject {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly files: readonly string[];
}

/**
 * Creates an operator's project. Nothing is written when the name or the folder will not do.
 *
 * @example
 * ```ts
 * await createProject({ folder: "exchange-rates" });
 * ```
 */
export async function createProject(options: CreateOptions): Promise<CreatedProject> {
  const folder = path.resolve(options.folder);
  const name = options.name ?? path.basename(folder);
  const files = planProject(name, await readTemplates());
  checkFolder(folder, await entriesOf(folder), options.force === true);
  for (const { path: file, content } of files) {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  return { name, folder, files: files.map((file) => file.path) };
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new CreateError(`${folder} is a file`, "choose another folder");
    throw error;
  }
}
