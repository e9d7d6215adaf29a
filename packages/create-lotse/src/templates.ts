/**
 * The template: a whole project that works as it lies there, under the name `my-operator`. It lies beside `src` and
 * `dist`, so that the same relative address leads to it from both; this module must stay directly in `src` for that.
 */
import { readFile } from "node:fs/promises";

/** The files of a new project, and the template of each. Some cannot be published by their own names. */
const TEMPLATES: Readonly<Record<string, string>> = {
  "package.json": "package.json",
  "tsconfig.json": "tsconfig.json",
  "operator.ts": "operator.ts",
  "operator.test.ts": "test.ts",
  "greeting.yaml": "greeting.yaml",
  "README.md": "README.md",
  ".gitignore": "gitignore",
};

/** The template's files by the path that they get in a new project. */
export async function readTemplates(): Promise<ReadonlyMap<string, string>> {
  const folder = new URL("../templates/", import.meta.url);
  const read = Object.entries(TEMPLATES).map(async ([path, file]) => {
    return [path, await readFile(new URL(file, folder), "utf8")] as const;
  });
  return new Map(await Promise.all(read));
}
