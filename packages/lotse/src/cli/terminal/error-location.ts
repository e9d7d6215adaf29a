/** Reads out of errors where in the user's source they come from. Every compiler tells it in its own way. */
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A sentence of a compiler and what it is about. */
export interface SyntaxPlace {
  /** Absolute. */
  readonly file: string;
  /** `operator.ts:3:18`, as editors and terminals can open it. */
  readonly sourceLocation: string;
  readonly sentence: string;
}

/** The place and the sentence of a compiler, if `error` is one's complaint. */
export function placeOfSyntaxError(error: unknown, loaded: string): SyntaxPlace | undefined {
  if (!(error instanceof Error)) return undefined;
  return fromJiti(error) ?? fromNode(error, loaded);
}

/** `ParseError: Unexpected token, expected ";" \n /project/operator.ts:2:17` */
function fromJiti({ message }: Error): SyntaxPlace | undefined {
  const match = /^ParseError: (?<sentence>[^\n]*?)\s*\n\s*(?<file>[^\n]+):(?<line>\d+):(?<column>\d+)\s*$/.exec(
    message,
  );
  if (!match?.groups) return undefined;
  const { sentence = "", file = "", line, column } = match.groups;
  const absolute = pathOf(file);
  return { file: absolute, sourceLocation: `${baseName(absolute)}:${line}:${column}`, sentence };
}

/** Node puts the place before the stack: a line `file:line`, the source, and a caret below the column. */
function fromNode(error: Error, loaded: string): SyntaxPlace | undefined {
  const isSyntax = error.name === "SyntaxError" || /SYNTAX/.test((error as { code?: string }).code ?? "");
  if (!isSyntax) return undefined;
  const lines = (error.stack ?? "").split("\n");
  const match = /^(?<file>(?:file:\/\/|\/|[A-Za-z]:\\).*?):(?<line>\d+)$/.exec(lines[0] ?? "");
  const sentence = error.message.split("\n", 1)[0] ?? "";
  if (!match?.groups) return { file: loaded, sourceLocation: baseName(loaded), sentence };
  const absolute = pathOf(match.groups.file ?? "");
  const caret = lines.slice(1, 6).find((line) => /^\s*\^+\s*$/.test(line));
  const column = caret ? `:${caret.indexOf("^") + 1}` : "";
  return { file: absolute, sourceLocation: `${baseName(absolute)}:${match.groups.line}${column}`, sentence };
}

/** `operator.ts:12:5`: the first frame of a stack that is the user's own code. */
export function locationOfThrow(error: Error, lotse: readonly string[] = lotseFolders()): string | undefined {
  for (const line of (error.stack ?? "").split("\n")) {
    const match =
      /^\s+at (?:.*\()?(?:async )?(?<file>(?:file:\/\/|\/|[A-Za-z]:\\)[^()]*?):(?<line>\d+):(?<column>\d+)\)?$/.exec(
        line,
      );
    if (!match?.groups) continue;
    const { file = "", line: row, column } = match.groups;
    if (/[\\/]node_modules[\\/]|node:/.test(file) || lotse.some((folder) => pathOf(file).startsWith(folder))) continue;
    // What loaders put before the first line moves its columns.
    return `${baseName(pathOf(file))}:${row}${row === "1" ? "" : `:${column}`}`;
  }
  return undefined;
}

/** Where Lotse's own code is: linked into a project (`npm link`, a workspace) it is not below any node_modules. */
function lotseFolders(): string[] {
  const require = createRequire(import.meta.url);
  return ["lotse", "@lotse/client", "@lotse/cluster"].flatMap((name) => {
    try {
      return [path.dirname(realpathSync(require.resolve(`${name}/package.json`))) + path.sep];
    } catch {
      // A bundle has everything in one file.
      return [];
    }
  });
}

function pathOf(file: string): string {
  return file.startsWith("file://") ? fileURLToPath(file.replace(/[?#].*$/, "")) : file.replace(/\?.*$/, "");
}

function baseName(file: string): string {
  return file.split(/[\\/]/).at(-1) ?? file;
}
