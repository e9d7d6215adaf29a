// A stranger's project: packs the packages, installs the tarballs into an empty folder outside the repository, and
// writes, compiles and runs an operator there. What works here by the workspace's grace alone fails in this script.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { capture, Failure, leaveResults, main, npm, say, seconds } from "./process.mjs";
import { readJson, readPackages, root, sourcesOf } from "./workspace.mjs";

const counts = { passed: 0, failed: 0 };

/** One check: a name and what must not throw. Returns what it returns (true for nothing), or undefined when it failed. */
async function check(name, body) {
  const since = performance.now();
  try {
    const result = await body();
    counts.passed++;
    say(`ok     ${name} (${seconds(since)})`);
    return result ?? true;
  } catch (error) {
    counts.failed++;
    say(`FAILED ${name} (${seconds(since)})\n       ${String(error?.message ?? error).replaceAll("\n", "\n       ")}`);
    return undefined;
  }
}

/** Entry points that are only for a test runner, or for a thread: elsewhere they say so. */
const ELSEWHERE = new Set(["@lotse/testing/explore-thread", "@lotse/testing/jest", "@lotse/testing/vitest"]);

await main(async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-stranger-"));
  try {
    await ensureInstalled();
    if (await check("the packages build", async () => void (await build()))) await visit(folder);
  } finally {
    if (process.env.LOTSE_KEEP) say(`kept ${folder}`);
    else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  leaveResults(counts.passed, counts.failed);
  say(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed > 0 ? 1 : 0;
});

async function visit(folder) {
  const packages = readPackages().filter((pkg) => sourcesOf(pkg).length > 0);
  // As in a fresh checkout: whoever packs a package gets its declarations, without having to think of building them.
  for (const pkg of packages) for (const file of declarationsOf(pkg)) rmSync(file);
  const tarballs = [];
  for (const pkg of packages)
    tarballs.push(await check(`${pkg.name} packs all that it exports`, () => pack(pkg, folder)));
  const project = path.join(folder, "project");
  if (tarballs.includes(undefined) || !(await check("the tarballs install", () => install(project, tarballs)))) return;
  await check("every entry point loads on plain Node.js", () => loadEntries(project, packages));
  cpSync(fileURLToPath(new URL("./stranger", import.meta.url)), project, { recursive: true });
  await check("an operator compiles under strict settings", () => compile(project));
  await check("`explore` tries an operator, with a thread beside it", () => exploreOperator(project));
  await check("`lotse generate rbac` reads in its code what its handlers ask for", () => generate(project));
  await check("`npx @lotse/cluster envtest` makes an etcd and a kube-apiserver that start", () => envtest(project));
  await runOperator(project);
}

function declarationsOf(pkg) {
  const dist = path.join(pkg.dir, "dist");
  return readdirSync(dist).flatMap((name) => (name.endsWith(".d.ts") ? path.join(dist, name) : []));
}

async function pack(pkg, folder) {
  const [command, args, options] = npm(["pack", "--json", "--pack-destination", folder]);
  const { exitCode, stdout, stderr } = await capture(command, args, {
    cwd: pkg.dir,
    env: cleanEnvironment(),
    ...options,
  });
  if (exitCode !== 0) throw new Failure(stderr);
  // Before npm 11 a list, later an object by package name.
  const answer = JSON.parse(stdout.slice(stdout.search(/[[{]/)));
  const [packed] = Object.values(answer);
  const files = new Set(packed.files.map((file) => `./${file.path}`));
  const { exports = {}, bin = {} } = pkg.manifest;
  const named = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? target : [target.types, target.default],
  );
  const missing = [...named, ...Object.values(bin), "./LICENSE", "./README.md"].filter(
    (file) => file !== undefined && !files.has(file),
  );
  if (missing.length > 0) throw new Failure(`The tarball lacks ${missing.join(", ")}.`);
  const stray = [...files].filter((file) => /\.test\.|^\.\/src\//.test(file));
  if (stray.length > 0) throw new Failure(`The tarball carries ${stray.join(", ")}.`);
  return path.join(folder, path.basename(packed.filename));
}

async function install(project, tarballs) {
  const { devDependencies } = readJson(path.join(root, "package.json"));
  mkdirSync(project, { recursive: true });
  writeFileSync(
    path.join(project, "package.json"),
    JSON.stringify({ name: "stranger", private: true, type: "module" }),
  );
  const others = ["zod", "@types/node", "typescript"].map((name) => `${name}@${devDependencies[name]}`);
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const [command, args, options] = npm(["install", ...flags, ...tarballs, ...others]);
  const { exitCode, stdout, stderr } = await capture(command, args, {
    cwd: project,
    env: cleanEnvironment(),
    ...options,
  });
  if (exitCode !== 0) throw new Failure(`${stdout}${stderr}`);
}

/** The environment of a user who has never heard of this repository. */
function cleanEnvironment() {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    // npm_config_… stays: where packages come from is the user's setting. But not the folder that npm runs us in.
    if (/^(npm_(?!config_)|npm_config_local_prefix$|NODE_OPTIONS$|NODE_PATH$|INIT_CWD$|KUBECONFIG$)/.test(name))
      delete env[name];
  }
  return env;
}

async function loadEntries(project, packages) {
  const specifiers = packages
    .flatMap((pkg) =>
      pkg.entries.filter((entry) => entry.subpath !== undefined).map((entry) => pkg.name + entry.subpath.slice(1)),
    )
    .filter((name) => !ELSEWHERE.has(name));
  const code = `for (const name of ${JSON.stringify(specifiers)}) await import(name).catch((e) => { throw new Error(name + ": " + e.message) });`;
  const { exitCode, stderr } = await capture(process.execPath, ["--input-type=module", "-e", code], {
    cwd: project,
    env: cleanEnvironment(),
  });
  if (exitCode !== 0) throw new Failure(stderr);
}

/** With a thread, which loads the published package as well. */
async function exploreOperator(project) {
  const { exitCode, stdout, stderr } = await capture(process.execPath, ["explore.mjs"], {
    cwd: project,
    env: cleanEnvironment(),
  });
  if (exitCode !== 0) throw new Failure(`${stdout}${stderr}`);
}

async function compile(project) {
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const { exitCode, stdout } = await capture(process.execPath, [tsc, "-p", project, "--pretty", "false"], {
    cwd: project,
  });
  if (exitCode !== 0) throw new Failure(stdout.trim());
}

async function envtest(project) {
  const assets = path.join(project, ".lotse", "envtest");
  const [command, args, options] = npm(["exec", "--offline", "--", "@lotse/cluster", "envtest", assets]);
  for (const step of [
    [command, args, options],
    [process.execPath, ["envtest.mjs", assets], {}],
  ]) {
    const [program, words, more] = step;
    const { exitCode, stdout, stderr } = await capture(program, words, {
      cwd: project,
      env: cleanEnvironment(),
      ...more,
    });
    if (exitCode !== 0) throw new Failure(`${stdout}${stderr}`);
  }
}

async function generate(project) {
  const bin = path.join(project, "node_modules", "lotse", "bin", "lotse.js");
  const { exitCode, stdout, stderr } = await capture(process.execPath, [bin, "generate", "rbac", "operator.ts"], {
    cwd: project,
    env: cleanEnvironment(),
  });
  if (exitCode !== 0 || stderr !== "") throw new Failure(stderr);
  const rule =
    /# handler publishGreeting \(operator\.ts:\d+\)\n.*\n.*\n +resources:\n +- configmaps\n +verbs:\n +- create\n/;
  if (!rule.test(stdout)) throw new Failure(`there is no rule for the ConfigMaps that it creates:\n${stdout}`);
}

async function runOperator(project) {
  const operator = startDev(project);
  try {
    const kubeconfig = await check("`lotse dev operator.ts` starts and tells its kubeconfig", () =>
      kubeconfigOf(operator, project),
    );
    if (!kubeconfig) return;
    await check("the operator handles an object that the client creates", async () => {
      const { exitCode, stdout, stderr } = await capture(process.execPath, ["use.mjs", kubeconfig], {
        cwd: project,
        env: cleanEnvironment(),
      });
      if (exitCode !== 0) throw new Failure(`${stderr}\nThe operator wrote:\n${operator.output()}`);
      const wanted = JSON.stringify({ published: true, text: "GOOD MORNING", owner: "Greeting/hello" });
      if (stdout !== wanted) throw new Failure(`expected ${wanted}\nfound    ${stdout}`);
    });
    await check("SIGTERM ends it with exit code 0", async () => {
      operator.child.kill("SIGTERM");
      const code = await Promise.race([operator.ended, later(15_000, "it still runs after 15 s")]);
      if (code !== 0) throw new Failure(`exit code ${code}:\n${operator.output()}`);
    });
  } finally {
    operator.child.kill("SIGKILL");
  }
}

function startDev(project) {
  // The very file that npx runs, without npx between us and its signals.
  const launcher = path.join(project, "node_modules", ".bin", "lotse");
  const child = spawn(launcher, ["dev", "operator.ts"], {
    cwd: project,
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (text += part));
  const ended = new Promise((resolve) => {
    child.once("error", (error) => {
      text += error.message;
      resolve(127);
    });
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  return { child, ended, output: () => text.split("\n").slice(-30).join("\n"), all: () => text };
}

async function kubeconfigOf(operator, project) {
  let ended;
  operator.ended.then((code) => (ended = code));
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    if (ended !== undefined) throw new Failure(`it ended with ${ended}:\n${operator.output()}`);
    const file = candidates(operator.all(), project).find((path) =>
      statSync(path, { throwIfNoEntry: false })?.isFile(),
    );
    if (file !== undefined && readFileSync(file, "utf8").includes("clusters")) return file;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Failure(`it told no kubeconfig within 30 s:\n${operator.output()}`);
}

/** The paths in a text that may be a kubeconfig, `KUBECONFIG=path` included. */
function candidates(text, project) {
  const words = stripVTControlCharacters(text).match(/[^\s"'`]*kubeconfig[^\s"'`]*/gi) ?? [];
  return words.map((word) => path.resolve(project, word.replace(/^(--)?kubeconfig=/i, "")));
}

function later(ms, message) {
  return new Promise((_, reject) => setTimeout(() => reject(new Failure(message)), ms).unref());
}
