/** Types: the project's own TypeScript looks at the operator's files, under the project's own settings. */
import { execFile } from "node:child_process";
import path from "node:path";
import { shownPath } from "../project/index.ts";
import { findCompiler, withProject } from "../scan/index.ts";
import type { Io } from "../terminal/index.ts";
import type { Finding } from "./findings.ts";

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
  const findings = await compile(path.join(path.dirname(compiler.place), "bin", "tsc"), typed, io);
  return { findings, checked: `types (TypeScript ${compiler.version})` };
}

async function compile(tsc: string, files: readonly string[], io: Io): Promise<Finding[]> {
  return withProject(files, "check", {}, async (project) => {
    const folder = path.dirname(project);
    return parseDiagnostics(await run(tsc, ["-p", project, "--pretty", "false"], folder), folder, io);
  });
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
