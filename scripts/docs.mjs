// `npm run docs`: what README and docs say is true. Links lead somewhere, TypeScript compiles under strict settings, and
// code runs on an embedded cluster; and the examples in the doc comments of all public names compile. `npm run docs --
// docs/client.md` looks at some pages only, `npm run docs -- comments` at the doc comments.
//
//   operator   a block with `export default operator`: is started, the manifests of the page are applied, and it must
//              handle them
//   program    a block that connects at its top level (`await using client = await Client.connect()`): is run to its end,
//              with $KUBECONFIG as a reader would have it. A block ```text that begins with `# name.ts prints` has to be
//              what it writes; `…` there stands for any text.
//   test       a block whose name ends with `.test.ts`: is run by Vitest, and has to pass
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { readApi } from "./api.mjs";
import { codeBlocks, links } from "./docs/markdown.mjs";
import { printProblem } from "./docs/prints.mjs";
import { ensureInstalled } from "./install.mjs";
import { capture, Failure, leaveResults, main, say, seconds } from "./process.mjs";
import { listFiles, root } from "./workspace.mjs";

const pages = listFiles(root, (file) => /\.md$/.test(file) && !/[\\/](templates|fixtures)[\\/]/.test(file));

const isOperator = ({ file, code }) => /\.ts$/.test(file) && /^export default operator\b/m.test(code);
const isProgram = ({ file, code }) =>
  /\.ts$/.test(file) && /^(?:await using|const) \w+ = await Client\.connect\(/m.test(code);

await main(async () => {
  const named = process.argv.slice(2);
  const comments = named.length === 0 || named.includes("comments");
  const wanted = comments && named.length === 1 ? [] : pagesWanted(named.filter((name) => name !== "comments"));
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
  if (comments) {
    await check("doc comments: examples compile", async () => {
      // Needs an installed compiler.
      const { compileExamples } = await import("./api/compile-examples.mjs");
      const { problems } = await compileExamples(await readApi());
      return problems.length > 0 ? indented(problems.join("\n")) : undefined;
    });
  }
  for (const page of wanted) {
    const name = path.relative(root, page);
    const text = readFileSync(page, "utf8");
    await check(`${name}: links`, () => brokenLinks(page, text));
    const blocks = codeBlocks(text);
    const files = blocks.filter((block) => block.file !== undefined);
    if (files.length === 0) continue;
    const folder = writeExamples(name, files);
    await check(`${name}: examples compile`, () => compileFolder(folder));
    const manifests = files.filter(({ file }) => /\.ya?ml$/.test(file)).map(({ file }) => path.join(folder, file));
    for (const { file } of files.filter(isOperator)) {
      await check(`${name}: ${file} runs`, () => runOperator(path.join(folder, file), manifests));
    }
    const tests = files.filter(({ file }) => /\.test\.ts$/.test(file)).map(({ file }) => file);
    if (tests.length > 0) await check(`${name}: ${tests.join(", ")} passes`, () => runTests(folder));
    const prints = new Map(blocks.flatMap(({ printedBy, code }) => (printedBy ? [[printedBy, code]] : [])));
    const programs = files.filter(isProgram).map(({ file }) => file);
    const outcomes = runPrograms(programs.map((file) => path.join(folder, file)));
    for (const file of programs) {
      await check(`${name}: ${file} runs`, async () => problemOf((await outcomes.next()).value, prints.get(file)));
      prints.delete(file);
    }
    if (prints.size > 0)
      await check(`${name}: what is printed`, () => `by no program: ${[...prints.keys()].join(", ")}`);
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

function pagesWanted(names) {
  const known = pages.map((page) => path.relative(root, page));
  const unknown = names.find((name) => !known.includes(path.normalize(name)));
  if (unknown !== undefined) throw new Failure(`There is no page ${unknown}. There are:\n  ${known.join("\n  ")}`, 2);
  return names.length === 0 ? pages : names.map((name) => path.join(root, name));
}

/** Writes the named code blocks of a page into a folder of their own. */
function writeExamples(page, blocks) {
  // Not in node_modules, where no TypeScript is run; .lotse is never committed.
  const folder = path.join(root, ".lotse", "docs", page.replaceAll(/[^\w]/g, "-"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of blocks) writeFileSync(path.join(folder, file), code);
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ extends: path.join(root, "tsconfig.json"), include: ["*.ts"], exclude: [] }),
  );
  return folder;
}

async function compileFolder(folder) {
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const compiled = await capture(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { cwd: root });
  return compiled.exitCode === 0 ? undefined : indented(compiled.stdout);
}

/** How Node.js runs one of our TypeScript files. */
function typescript(script) {
  return ["--conditions=@lotse/source", "--import", "./scripts/typescript.mjs", script];
}

async function runOperator(file, manifests) {
  const args = [...typescript("scripts/docs/run-operator.ts"), file, ...manifests];
  const ran = await capture(process.execPath, args, { cwd: root });
  return ran.exitCode === 0 ? undefined : indented(ran.stderr);
}

/** The tests of a page, as those of the repository are run. */
async function runTests(folder) {
  const config = path.join(folder, "vitest.config.mjs");
  const loading = {
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--import", path.join(root, "scripts", "typescript.mjs"), "--conditions=@lotse/source"],
  };
  const test = { ...loading, include: ["*.test.ts"], testTimeout: 300_000, maxWorkers: 1 };
  writeFileSync(config, `export default ${JSON.stringify({ test })};\n`);
  const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
  const ran = await capture(process.execPath, [vitest, "run", "--root", folder, "--config", config], { cwd: root });
  return ran.exitCode === 0 ? undefined : indented(`${ran.stdout}\n${ran.stderr}`);
}

/** What becomes of each program, as soon as it is known. */
async function* runPrograms(files) {
  if (files.length === 0) return;
  const args = [...typescript("scripts/docs/run-programs.ts"), ...files];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  for await (const line of readline.createInterface({ input: child.stdout })) yield JSON.parse(line);
  for (;;) yield { problem: `did not come to its end, or was not begun: the process has ended\n${stderr}` };
}

function problemOf({ printed, problem }, said) {
  if (problem !== undefined) return indented(problem);
  return said === undefined ? undefined : printProblem(said, printed);
}

function indented(text) {
  return text.trim().replaceAll("\n", "\n       ");
}
