/** Types: the project's own TypeScript looks at the operator's files, under the project's own settings. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Finding } from "./check-findings.ts";
import type { Io } from "./io.ts";
import { shownPath } from "./load.ts";

/** What the compiler says, and which one it was. */
export interface TypesReport {
  readonly findings: readonly Finding[];
  readonly checked: string | undefined;
}

/** Looks at the TypeScript among `files`, absolute paths. */
export async function checkTypes(files: readonly string[], io: Io): Promise<TypesReport> {
  const typed = files.filter((file) => /\.[cm]?tsx?$/.test(file));
  const [first] = typed;
  if (first === undefined) return { findings: [], checked: undefined };
  const compiler = findCompiler(first);
  if (!compiler) {
    const message = "types are not checked: TypeScript is not installed here";
    return {
      findings: [{ level: "note", check: "types", place: "", message, todo: "npm install --save-dev typescript" }],
      checked: undefined,
    };
  }
  const findings = await compile(compiler.tsc, typed, first, io);
  return { findings, checked: `types (TypeScript ${compiler.version})` };
}

/** As code beside `file` would find it. */
function findCompiler(file: string): { readonly tsc: string; readonly version: string } | undefined {
  try {
    const place = createRequire(file).resolve("typescript/package.json");
    const { version } = JSON.parse(readFileSync(place, "utf8")) as { version: string };
    return { tsc: path.join(path.dirname(place), "bin", "tsc"), version };
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

/** A compiler takes either files or a project's settings; a project of these files alone has both. */
async function compile(tsc: string, files: readonly string[], first: string, io: Io): Promise<Finding[]> {
  const base = findAbove(path.dirname(first), "tsconfig.json");
  const folder = path.join(base ? path.dirname(base) : path.dirname(first), ".lotse");
  const project = path.join(folder, `check-${process.pid}.json`);
  const settings = {
    ...(base !== undefined && { extends: base }),
    compilerOptions: { ...(base === undefined && STRICT), strict: true, noEmit: true },
    files,
    include: [],
  };
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = path.join(folder, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    writeFileSync(project, JSON.stringify(settings));
    return parseDiagnostics(await run(tsc, ["-p", project, "--pretty", "false"], path.dirname(project)), folder, io);
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

function run(tsc: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
    execFile(process.execPath, [tsc, ...args], options, (error, stdout, stderr) =>
      resolve(error && stdout === "" ? stderr || error.message : stdout),
    );
  });
}

/** `operator.ts(3,7): error TS2322: …`; what is indented below explains it at length. */
export function parseDiagnostics(output: string, folder: string, io: Pick<Io, "cwd">): Finding[] {
  return output.split(/\r?\n/).flatMap((line): Finding[] => {
    const [, file, row, column, code, message] = /^(?:(.+?)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/.exec(line) ?? [];
    if (message === undefined) return [];
    const place = file === undefined ? "" : `${shownPath(path.resolve(folder, file), io.cwd)}:${row}:${column}`;
    return [{ level: "error", check: "types", place, message: `${message} (${code})` }];
  });
}
