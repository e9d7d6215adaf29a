/** What the definitions are compared with: those of a file, of a git revision, or of the cluster. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Client, CustomResourceDefinition, ForbiddenError, loadManifests, NotFoundError } from "@lotse/client";
import { type LoadedOperator, loadOperators, resolveFiles } from "../project/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { ownKinds } from "./definitions.ts";

/** A definition, as its manifest has it. */
export type Definition = CustomResourceDefinition["body"];

/** Definitions to compare with. */
export interface Baseline {
  /** Where they come from, for people: `the cluster at https://…`. */
  readonly name: string;
  /** By name; one that is not there is new. */
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Why some could not be read. */
  readonly unread?: string | undefined;
}

/** The definitions of the kinds that operators made by `resource()`, each once. */
export function definitionsOf(operators: readonly LoadedOperator[]): Map<string, Definition> {
  return new Map([...ownKinds(operators)].map(([name, kind]) => [name, kind.crd()]));
}

/** What `--against` means: `git:REVISION`, a manifest, or an operator's file. */
export async function readBaseline(against: string, files: readonly string[], io: Io): Promise<Baseline> {
  const [, revision] = /^git:(.+)$/.exec(against) ?? [];
  if (revision !== undefined) return fromGit(revision, files, io);
  if (/\.[cm]?[jt]sx?$/.test(against)) {
    const operators = await loadOperators(resolveFiles([against], io.cwd, "check"), io.cwd);
    return { name: against, definitions: definitionsOf(operators) };
  }
  return { name: against, definitions: await fromManifests(against, io) };
}

async function fromManifests(file: string, io: Io): Promise<Map<string, Definition>> {
  const absolute = path.resolve(io.cwd, file);
  if (!existsSync(absolute)) {
    throw new Problem(
      { what: `there is no file ${file}`, todo: "name a manifest, an operator's file, or git:REVISION" },
      { exitCode: 2 },
    );
  }
  const objects = await loadManifests(absolute);
  const found = objects.flatMap((one) => (one instanceof CustomResourceDefinition ? [one.body] : []));
  return new Map(found.map((crd) => [crd.metadata?.name ?? "", crd as Definition]));
}

/** The cluster's own definitions of these names. */
export async function fromCluster(client: Client, names: readonly string[]): Promise<Baseline> {
  let unread: string | undefined;
  const found = await Promise.all(
    names.map(async (name): Promise<[string, Definition][]> => {
      try {
        return [[name, (await client.get(CustomResourceDefinition, name)).body as Definition]];
      } catch (error) {
        if (error instanceof ForbiddenError) unread = error.message;
        else if (!(error instanceof NotFoundError)) throw error;
        return [];
      }
    }),
  );
  return { name: `the cluster at ${client.config.server}`, definitions: new Map(found.flat()), unread };
}

/**
 * The operators as they were at a revision: its files in a folder of their own, with the packages that are installed
 * now. Neither the working tree nor the index of the repository is touched.
 */
async function fromGit(revision: string, files: readonly string[], io: Io): Promise<Baseline> {
  const name = `git revision ${revision}`;
  const git = async (args: readonly string[], env: Record<string, string> = {}) =>
    (
      await promisify(execFile)("git", [...args], {
        cwd: path.dirname(files[0] ?? io.cwd),
        env: { ...process.env, ...env },
      })
    ).stdout;
  const top = await git(["rev-parse", "--show-toplevel"]).then(
    (text) => text.trim(),
    (cause: unknown) => {
      throw new Problem(
        { what: `${name} cannot be read`, why: gitWord(cause), todo: "call it in a git repository" },
        { cause },
      );
    },
  );
  const commit = await git(["rev-parse", "--verify", "--quiet", `${revision}^{commit}`]).catch((cause: unknown) => {
    const todo = "name a commit, a tag or a branch: git:main, git:v1.2.0";
    throw new Problem({ what: `there is no revision ${revision}`, todo }, { exitCode: 2, cause });
  });
  const folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), "lotse-check-"));
  try {
    const index = { GIT_INDEX_FILE: path.join(folder, "index") };
    const tree = path.join(folder, "tree");
    await git(["read-tree", commit.trim()], index);
    await git(["-C", top, "checkout-index", "--all", `--prefix=${tree}${path.sep}`], index);
    const there = files
      .map((file) => path.join(tree, path.relative(top, realpathSync(file))))
      .filter((file) => existsSync(file));
    for (const file of there) linkPackages(path.dirname(file), tree, top);
    const operators = await loadOperators(there, tree).catch((cause: unknown) => {
      const { what, why } = cause as Partial<Problem>;
      throw new Problem({ what: `the operator of ${name} cannot be loaded`, why: why ?? what }, { cause });
    });
    return { name, definitions: definitionsOf(operators) };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Wherever the working tree, or a folder above it, has packages, the other tree has the same. */
function linkPackages(start: string, tree: string, top: string): void {
  for (let folder = start; folder.startsWith(tree); folder = path.dirname(folder)) {
    const packages = path.join(top, path.relative(tree, folder), "node_modules");
    const link = path.join(folder, "node_modules");
    if (!existsSync(packages) || existsSync(link)) continue;
    mkdirSync(folder, { recursive: true });
    symlinkSync(packages, link, "junction");
  }
  for (let folder = path.dirname(top); !existsSync(path.join(tree, "node_modules")); folder = path.dirname(folder)) {
    const packages = path.join(folder, "node_modules");
    if (existsSync(packages)) symlinkSync(packages, path.join(tree, "node_modules"), "junction");
    if (folder === path.dirname(folder)) return;
  }
}

function gitWord(cause: unknown): string {
  const { stderr, code, message } = cause as { stderr?: string; code?: unknown; message: string };
  if (code === "ENOENT") return "git is not installed";
  return (stderr?.trim() || message).replace(/^fatal: /, "");
}
