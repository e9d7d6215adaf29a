/**
 * What handlers ask the cluster for, found in their code before they ever run: for `generate`, which would otherwise leave
 * it out, and for `check`.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import type { LoadedOperator } from "../project/index.ts";
import { openClassic } from "./classic.ts";
import { type ScannedHandler, scanHandlers } from "./handlers.ts";
import { openNative } from "./native.ts";
import { findCompiler, type InstalledCompiler, withProject } from "./project.ts";
import type { Compiler } from "./syntax.ts";

/** What a scan has found, or why there was none. */
export type ScanResult =
  | { readonly handlers: ReadonlyMap<object, ScannedHandler> }
  | { readonly impossible: string; readonly todo: string };

/** Scans the handlers of an operator; `cwd` is where its file's name counts from. Never rejects. */
export async function scanOperator({ operator, file }: LoadedOperator, cwd: string): Promise<ScanResult> {
  const absolute = path.resolve(cwd, file);
  const compiler = findCompiler(absolute);
  if (!compiler) {
    const todo = "npm install --save-dev typescript";
    return { impossible: "TypeScript is not installed here, hence nobody can read their code", todo };
  }
  try {
    const handlers = await withProject(filesOf(operator, absolute), "calls", { allowJs: true }, async (project) => {
      const opened = await open(compiler, project);
      try {
        return scanHandlers(operator, opened, path.dirname(absolute));
      } finally {
        opened[Symbol.dispose]();
      }
    });
    return { handlers };
  } catch (error) {
    // The compiler's interface may be another one in the next version; what it would have said is only missing.
    const [why = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    return {
      impossible: `TypeScript ${compiler.version} could not be asked about their code: ${why}`,
      todo: "use a version of TypeScript from 5.4 to 7",
    };
  }
}

/** The file that was named, and wherever else handlers are declared: not everything has to be imported by the first. */
function filesOf(operator: LoadedOperator["operator"], file: string): string[] {
  // Perhaps of another copy of the package, which does not tell.
  const { files = [] } = operator as Partial<typeof operator>;
  const code = files.filter((one) => /\.[cm]?[jt]sx?$/.test(one) && existsSync(one));
  return [...new Set([file, ...code])];
}

/** Up to version 6 a library, from then on a program. */
function open({ place, version }: InstalledCompiler, project: string): Compiler | Promise<Compiler> {
  return Number.parseInt(version, 10) >= 7 ? openNative(place, project, version) : openClassic(place, project);
}
