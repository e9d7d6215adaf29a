// `npm run docs`: what README and docs say is true. Links lead somewhere, TypeScript compiles under strict settings, and
// operators run: each one is started on an embedded cluster, the manifests beside it are applied, and it must handle them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { codeBlocks, links } from "./docs/markdown.mjs";
import { ensureInstalled } from "./install.mjs";
import { capture, leaveResults, main, say, seconds } from "./process.mjs";
import { listFiles, root } from "./workspace.mjs";

const pages = listFiles(root, (file) => /\.md$/.test(file) && !/[\\/](templates|fixtures)[\\/]/.test(file));

await main(async () => {
  await ensureInstalled();
  const results = [];
  const check = async (name, run) => {
    const since = performance.now();
    const problem = await run();
    results.push(problem === undefined);
    say(
      `${problem === undefined ? "ok    " : "FAILED"} ${name} (${seconds(since)})${problem ? `\n       ${problem}` : ""}`,
    );
  };
  for (const page of pages) {
    const name = path.relative(root, page);
    const text = readFileSync(page, "utf8");
    await check(`${name}: links`, () => brokenLinks(page, text));
    const files = codeBlocks(text).filter((block) => block.file !== undefined);
    if (files.length > 0) await check(`${name}: examples run`, () => runExamples(name, files));
  }
  const failed = results.filter((ok) => !ok).length;
  leaveResults(results.length - failed, failed);
  say(`${results.length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
});

function brokenLinks(page, text) {
  const broken = links(text).filter((target) => !existsSync(path.resolve(path.dirname(page), target)));
  return broken.length > 0 ? `no such file: ${broken.join(", ")}` : undefined;
}

/** Writes the named code blocks of a page into a folder of their own, compiles them, and runs what is an operator. */
async function runExamples(page, blocks) {
  // Not in node_modules, where no TypeScript is run; .lotse is never committed.
  const folder = path.join(root, ".lotse", "docs", page.replaceAll(/[^\w]/g, "-"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of blocks) writeFileSync(path.join(folder, file), code);
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ extends: path.join(root, "tsconfig.json"), include: ["*.ts"], exclude: [] }),
  );
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const compiled = await capture(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: root });
  if (compiled.exitCode !== 0) return compiled.stdout.trim().replaceAll("\n", "\n       ");
  const operators = blocks.filter(({ file, code }) => file.endsWith(".ts") && /^export default operator\b/m.test(code));
  const manifests = blocks.filter(({ file }) => /\.ya?ml$/.test(file)).map(({ file }) => path.join(folder, file));
  for (const { file } of operators) {
    const run = ["--conditions=@lotse/source", "--import", "./scripts/typescript.mjs", "scripts/docs/run-operator.ts"];
    const ran = await capture(process.execPath, [...run, path.join(folder, file), ...manifests], { cwd: root });
    if (ran.exitCode !== 0) return `${file}: ${ran.stderr.trim().replaceAll("\n", "\n       ")}`;
  }
  return undefined;
}
