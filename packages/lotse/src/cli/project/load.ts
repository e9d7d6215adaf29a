/** From file names to operators, or to a clear word about what is wrong with a file. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isOperator, type Operator } from "../../operator/index.ts";
import { locationOfThrow, Problem, placeOfSyntaxError, similarNames, splitMessage } from "../terminal/index.ts";
import { type Exports, ModuleLoader } from "./module-loader.ts";

/** An operator and the file that exports it. */
export interface LoadedOperator {
  /** As the user would write it: relative to the working directory. */
  readonly file: string;
  readonly operator: Operator;
}

const CODE_FILE = /\.[cm]?[jt]sx?$/;

/** The absolute paths of `files`; a {@link Problem} for the first that is not there or no code. */
export function resolveFiles(files: readonly string[], cwd: string, command: string): string[] {
  if (files.length === 0) {
    throw new Problem(
      { what: "no file given", todo: `name the file that exports your operator: lotse ${command} operator.ts` },
      { exitCode: 2 },
    );
  }
  return files.map((file) => resolveFile(file, cwd));
}

function resolveFile(file: string, cwd: string): string {
  const absolute = path.resolve(cwd, file);
  const stats = statSync(absolute, { throwIfNoEntry: false });
  if (!stats) {
    const suggestion = suggestFor(file, absolute);
    throw new Problem(
      {
        what: `there is no file ${file}`,
        why: suggestion.why,
        todo: suggestion.todo,
      },
      { exitCode: 2 },
    );
  }
  if (stats.isDirectory()) {
    const inside = codeFilesIn(absolute);
    const one = inside.find((name) => /^operator\./.test(name)) ?? inside[0];
    const todo = one
      ? `name a file in it, such as ${path.join(file, one)}`
      : "name the file that exports your operator";
    throw new Problem({ what: `${file} is a folder, not a file`, todo }, { exitCode: 2 });
  }
  if (!CODE_FILE.test(absolute)) {
    throw new Problem(
      { what: `${file} is neither TypeScript nor JavaScript`, todo: "name a file that ends in .ts, .mts, .js or .mjs" },
      { exitCode: 2 },
    );
  }
  return absolute;
}

/** The files of installed packages, as code in the working directory would find them. */
export async function resolveModules(names: readonly string[], cwd: string): Promise<string[]> {
  if (names.length === 0) return [];
  const { createJiti } = await import("jiti");
  const jiti = createJiti(path.join(cwd, "lotse.js"));
  return names.map((name) => {
    try {
      const found = jiti.esmResolve(name);
      return found.startsWith("file:") ? fileURLToPath(found) : found;
    } catch (cause) {
      throw new Problem(
        { what: `there is no package ${name}`, why: splitMessage(cause as Error).what, todo: `npm install ${name}` },
        { exitCode: 2, cause },
      );
    }
  });
}

function suggestFor(file: string, absolute: string): { why: string | undefined; todo: string } {
  const folder = path.dirname(absolute);
  const shown = path.dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return { why: `there is no folder ${shown} either`, todo: "check the path; it counts from the working directory" };
  }
  const names = codeFilesIn(folder);
  const similar = similarNames(path.basename(file), names).slice(0, 3);
  const join = (name: string) => (shown === "." ? name : path.join(shown, name));
  if (similar.length > 0) return { why: undefined, todo: `did you mean ${similar.map(join).join(" or ")}?` };
  if (names.length === 0) return { why: `${folder} has no TypeScript or JavaScript file`, todo: "check the path" };
  return { why: undefined, todo: `that folder has ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}` };
}

function codeFilesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => CODE_FILE.test(name) && !/\.(?:test|spec|d)\.[cm]?[jt]sx?$/.test(name))
    .sort();
}

/** Loads files and takes the operators that they export. Names must differ: marks on objects carry them. */
export async function loadOperators(
  files: readonly string[],
  cwd: string,
  loader: Pick<ModuleLoader, "load"> = new ModuleLoader(),
): Promise<LoadedOperator[]> {
  const loaded: LoadedOperator[] = [];
  for (const file of files) {
    const shown = shownPath(file, cwd);
    for (const operator of operatorsOf(await load(file, shown, loader), shown)) {
      const taken = loaded.find((other) => other.operator.name === operator.name);
      if (taken?.operator === operator) continue;
      if (taken) {
        throw new Problem({
          what: `two operators are called "${operator.name}": ${taken.file === shown ? `both in ${shown}` : `in ${taken.file} and in ${shown}`}`,
          why: "an operator's name is its mark on objects; with the same one they would undo each other's work",
          todo: 'give one of them another name: new Operator({ name: "…" })',
        });
      }
      loaded.push({ file: shown, operator });
    }
  }
  return loaded;
}

/** A path as people write it: relative where that is shorter. */
export function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith(`..${path.sep}..`) || relative === "" ? file : relative;
}

async function load(file: string, shown: string, loader: Pick<ModuleLoader, "load">): Promise<Exports> {
  try {
    return await loader.load(file);
  } catch (error) {
    throw problemOf(error, file, shown);
  }
}

function operatorsOf(exports: Exports, shown: string): readonly Operator[] {
  const operators = [...new Set(Object.values(exports).filter(isOperator))];
  if (operators.length > 0) return operators;
  const names = Object.keys(exports);
  throw new Problem({
    what: `${shown} exports no operator`,
    why: names.length > 0 ? `it exports ${names.slice(0, 5).join(", ")}` : "it exports nothing",
    todo: 'add to it: const operator = new Operator({ name: "…" }); export default operator;',
  });
}

function problemOf(error: unknown, file: string, shown: string): Problem {
  const syntax = placeOfSyntaxError(error, file);
  if (syntax) {
    return new Problem(
      {
        what: `${syntax.file === file ? shown : syntax.file} does not compile`,
        why: `${syntax.sourceLocation}: ${syntax.sentence}`,
        todo: "correct it and try again",
      },
      { cause: error },
    );
  }
  if (!(error instanceof Error)) {
    return new Problem({ what: `${shown} throws while it is loaded: ${String(error)}` }, { cause: error });
  }
  const { code, hint } = error as { code?: unknown; hint?: unknown };
  // A mistake in a declaration carries its own place and its own advice.
  if (code === "LOTSE_DECLARATION") {
    return new Problem(
      { what: error.message, why: undefined, todo: typeof hint === "string" ? hint : undefined },
      { cause: error },
    );
  }
  const missing = missingModule(error);
  if (missing) {
    return new Problem(
      {
        what: `${shown} imports ${JSON.stringify(missing)}, which cannot be found`,
        todo: adviceForImport(missing, file),
      },
      { cause: error },
    );
  }
  const { what } = splitMessage(error);
  const place = locationOfThrow(error);
  return new Problem(
    {
      what: `${shown} throws while it is loaded`,
      why: `${error.name === "Error" ? "" : `${error.name}: `}${what}${place ? ` (at ${place})` : ""}`,
      todo: typeof hint === "string" ? hint : adviceFor(error, shown),
    },
    { cause: error },
  );
}

/** A typo in TypeScript whose types no compiler has checked ends like this; the compiler knows what was meant. */
function adviceFor(error: Error, shown: string): string {
  const looksLikeTypo = error instanceof ReferenceError || /is not a (?:function|constructor)/.test(error.message);
  return looksLikeTypo
    ? `check the spelling there; \`lotse check ${shown}\` knows every name`
    : "run it again with --verbose to see the stack";
}

function missingModule(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  return /Cannot find (?:module|package) '([^']+)'/.exec(error.message)?.[1];
}

/** Never a bare "npm install": a misspelt name may be that of a stranger's package. */
function adviceForImport(missing: string, file: string): string {
  if (!isPackage(missing)) return "check the path of the import";
  const config = configWithPaths(path.dirname(file));
  if (config === undefined) return `check its spelling; if it is right: npm install ${packageOf(missing)}`;
  return `check its spelling and the "paths" of ${config}; if it is a package: npm install ${packageOf(missing)}`;
}

/** The tsconfig.json that counts in `folder`, if it explains names of modules. */
function configWithPaths(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const place = path.join(at, "tsconfig.json");
    if (statSync(place, { throwIfNoEntry: false })?.isFile()) {
      return /"(?:paths|baseUrl)"\s*:/.test(readFileSync(place, "utf8")) ? path.basename(place) : undefined;
    }
    if (at === path.dirname(at)) return undefined;
  }
}

function isPackage(specifier: string): boolean {
  return !/^(?:\.|\/|file:|[A-Za-z]:\\)/.test(specifier);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
