/** Writes a new operator's project, from the template that is published with this package. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { shellWord } from "../local-cluster/index.ts";
import { CreateError, checkFolder, planProject } from "./plan.ts";

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

/** What was done, and the commands that come next, for a user in the folder `from`. */
export function describeProject(from: string, { folder, files }: CreatedProject): string {
  const way = path.relative(from, folder);
  const steps = [...(way === "" ? [] : [`cd ${shellWord(way)}`]), "npm install", "npm run dev"];
  const where = way === "" ? "this folder" : way;
  return `Created ${files.length} files in ${where}. Next:\n\n${steps.map((step) => `  ${step}\n`).join("")}`;
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    if (code === "ENOTDIR") throw new CreateError(`${folder} is a file, or lies in one`, "choose another folder");
    throw error;
  }
}

/** The files of a new project, and the template of each. Some cannot be published by their own names. */
const TEMPLATES: Readonly<Record<string, string>> = {
  "package.json": "package.json",
  "tsconfig.json": "tsconfig.json",
  "operator.ts": "operator.ts",
  "operator.test.ts": "test.ts",
  "greeting.yaml": "greeting.yaml",
  "README.md": "README.md",
  ".gitignore": "gitignore",
  ".dockerignore": "dockerignore",
};

/** The template's files by the path that they get in a new project: a whole project that works as it lies there. */
export async function readTemplates(): Promise<ReadonlyMap<string, string>> {
  const read = Object.entries(TEMPLATES).map(async ([target, file]) => [target, await readTemplate(file)] as const);
  return new Map(await Promise.all(read));
}

/** They lie beside `dist`, one folder up from the bundle, and two from the source. */
async function readTemplate(file: string): Promise<string> {
  try {
    return await readFile(new URL(`../templates/${file}`, import.meta.url), "utf8");
  } catch {
    return readFile(new URL(`../../../templates/${file}`, import.meta.url), "utf8");
  }
}
