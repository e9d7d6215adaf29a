// Compiles the examples in the doc comments of all public names, under the same strict settings as the sources.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { capture } from "../process.mjs";
import { root, scratch } from "../workspace.mjs";
import { examplesOf, moduleOfExample } from "./examples.mjs";

const context = path.join(root, "scripts", "api", "example-context.ts");

/**
 * @param {{ surfaces: import("./surface.mjs").Surface[] }[]} api
 * @returns {Promise<{ examples: number, problems: string[] }>} each problem with its place in the sources
 */
export async function compileExamples(api) {
  const examples = examplesOf(api, sourceOf);
  const folder = path.join(root, ".lotse", "docs", "doc-comments");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const moduleOf = finderOf(api, folder);
  for (const [i, example] of examples.entries()) {
    writeFileSync(path.join(folder, `${i}.ts`), moduleOfExample(example, moduleOf));
  }
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: path.join(root, "tsconfig.json"),
      // An example shows something and leaves it at that; its imports are written by us, without a word about types.
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false, verbatimModuleSyntax: false },
      include: ["*.ts"],
      exclude: [],
    }),
  );
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const { exitCode, stdout } = await capture(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: root });
  const problems = exitCode === 0 ? [] : stdout.trim().split("\n").filter(Boolean).map(placed);
  return { examples: examples.length, problems };

  /** A complaint of the compiler about a written file, as one about the source that has the example. */
  function placed(line) {
    const [, index, row, rest] = /doc-comments\/(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    const example = index === undefined ? undefined : examples[Number(index)];
    return example ? `${example.file}:${example.line + Math.max(0, Number(row) - 2)}: ${rest}` : line;
  }
}

/** The source of an emitted declaration. */
function sourceOf(declaration) {
  const file = path.join("packages", path.relative(path.join(scratch, "api"), declaration).replace(/\.d\.ts$/, ".ts"));
  return { file, text: readFileSync(path.join(root, file), "utf8") };
}

/** Where an example imports a name from: its own entry point first, then the others, then what all examples share. */
function finderOf(api, folder) {
  const surfaces = api.flatMap((one) => one.surfaces);
  const exportedBy = ({ names, borrowed }, name) => {
    if (names.some((one) => one.exported && one.name === name)) return true;
    return borrowed.some((one) => one.name === name || (one.name === "*" && finds(one.from, name)));
  };
  const finds = (entry, name) => surfaces.some((surface) => surface.entry === entry && exportedBy(surface, name));
  const shared = sharedNames();
  const beside = path.relative(folder, context).split(path.sep).join("/");
  return (name, entry) => {
    const [owner] = entry.split("/").slice(0, entry.startsWith("@") ? 2 : 1);
    const order = [...surfaces].sort((a, b) => rank(a.entry) - rank(b.entry));
    function rank(one) {
      return one === entry ? 0 : one.startsWith(owner) ? 1 : one === "lotse" || one === "lotse/client" ? 2 : 3;
    }
    const found = order.find((surface) => exportedBy(surface, name));
    return found?.entry ?? (shared.has(name) ? beside : undefined);
  };
}

/** The names of example-context.ts. */
function sharedNames() {
  const text = readFileSync(context, "utf8");
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names]) => names.split(","));
  const single = [...text.matchAll(/^export (?:declare )?(?:const|function|class) (\w+)/gm)].map(([, name]) => name);
  return new Set([...lists.map((name) => name.trim()), ...single]);
}
