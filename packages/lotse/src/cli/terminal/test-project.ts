/** A user's project: a folder in which the packages are installed as from a registry, with declarations and bundles. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const INSTALL = path.resolve(import.meta.dirname, "../../../../../tests/cli/install.mjs");

let modules: string | undefined;

/** The node_modules of a user, made when they are asked for the first time: the sources stay as they are meanwhile. */
export function installedModules(): string {
  modules ??= path.join(execFileSync(process.execPath, [INSTALL], { encoding: "utf8" }), "node_modules");
  return modules;
}

/** For a compiler that shall be as strict with an operator as most projects are. */
const SETTINGS = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable"],
  module: "nodenext",
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
};

/** See the module comment. */
export class TestProject {
  readonly folder: string;

  /** With the files of these names. */
  constructor(files: Readonly<Record<string, string>> = {}) {
    this.folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "lotse-project-")));
    mkdirSync(path.join(this.folder, "node_modules"));
    const installed = installedModules();
    for (const name of readdirSync(installed)) {
      symlinkSync(path.join(installed, name), path.join(this.folder, "node_modules", name));
    }
    this.write("package.json", '{ "type": "module" }');
    this.write("tsconfig.json", JSON.stringify({ compilerOptions: SETTINGS }));
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
