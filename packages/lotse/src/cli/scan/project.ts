/** The TypeScript of the project that a file belongs to, and a project of the operator's files alone for it to read. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** An installed compiler. */
export interface InstalledCompiler {
  /** Its package.json. */
  readonly place: string;
  readonly version: string;
}

/** As code beside `file` would find it. */
export function findCompiler(file: string): InstalledCompiler | undefined {
  try {
    const place = createRequire(file).resolve("typescript/package.json");
    const { version } = JSON.parse(readFileSync(place, "utf8")) as { version: string };
    return { place, version };
  } catch {
    return undefined;
  }
}

/** For a project without a tsconfig.json. */
const STRICT = {
  target: "es2023",
  module: "nodenext",
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
};

/**
 * A compiler takes either files or a project's settings; a project of these files alone has both. `work` gets the file of
 * its settings, which is there for as long as that takes; its name has the `purpose`, and is never that of another one: tests
 * of one process ask at the same time.
 */
export async function withProject<T>(
  files: readonly string[],
  purpose: string,
  options: object,
  work: (project: string) => T | Promise<T>,
): Promise<T> {
  const start = path.dirname(files[0] ?? "");
  const base = findAbove(start, "tsconfig.json");
  const folder = path.join(base ? path.dirname(base) : start, ".lotse");
  const project = path.join(folder, `${purpose}-${randomUUID()}.json`);
  const settings = {
    ...(base !== undefined && { extends: base }),
    compilerOptions: { ...(base === undefined && STRICT), strict: true, noEmit: true, ...options },
    files,
    include: [],
  };
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = path.join(folder, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    writeFileSync(project, JSON.stringify(settings));
    return await work(project);
  } finally {
    rmSync(project, { force: true });
  }
}

function findAbove(start: string, name: string): string | undefined {
  for (let folder = start; ; folder = path.dirname(folder)) {
    const place = path.join(folder, name);
    if (existsSync(place)) return place;
    if (folder === path.dirname(folder)) return undefined;
  }
}
