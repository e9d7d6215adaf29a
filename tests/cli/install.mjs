// Puts the packages, in bundles and declarations, into a folder of their own, and prints it: what a user would have
// after `npm install`, without touching anybody's dist. The same sources are bundled once. Published bundles take ten
// times as long to make; the tests with kubectl and with a real server use those.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { build as bundle } from "esbuild";
import { emitInto } from "../../scripts/declarations.mjs";
import { digestFiles, readPackages, root, scratch, sourcesOf } from "../../scripts/workspace.mjs";

const wanted = ["@lotse/client", "@lotse/cluster", "lotse", "@lotse/testing"];
/** Packages of others that a user's project has. */
const others = ["zod", "typescript", "@types", "vitest"];
const oldMs = 60 * 60 * 1000;
const patienceMs = 100_000;

const packages = readPackages().filter(({ name }) => wanted.includes(name));
const files = packages.flatMap((pkg) => [...sourcesOf(pkg), path.join(pkg.dir, "package.json")]);
const base = path.join(scratch, "installed");
const folder = path.join(base, digestFiles([...files, new URL(import.meta.url).pathname]));
if (!existsSync(folder)) await once(`${folder}.lock`, build);
process.stdout.write(folder);

/** Test files begin at the same time: one builds, the others wait for it, or for it to give up. */
async function once(lock, work) {
  mkdirSync(base, { recursive: true });
  for (const deadline = Date.now() + patienceMs; !existsSync(folder); ) {
    try {
      mkdirSync(lock);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const left = statSync(lock, { throwIfNoEntry: false });
      if (Date.now() > deadline || (left && Date.now() - left.mtimeMs > patienceMs))
        rmSync(lock, { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    try {
      if (!existsSync(folder)) await work();
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}

async function build() {
  for (const name of readdirSync(base)) {
    const stale = path.join(base, name);
    const changed = statSync(stale, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > oldMs) rmSync(stale, { recursive: true, force: true });
  }
  const building = mkdtempSync(path.join(base, "building-"));
  const modules = path.join(building, "node_modules");
  const declarations = path.join(building, "declarations");
  await Promise.all([
    emitInto(declarations, packages, { check: false }),
    ...packages.map((pkg) => install(pkg, path.join(modules, pkg.name))),
  ]);
  for (const { name, folder: from } of packages) {
    renameSync(path.join(declarations, from, "src"), path.join(modules, name, "src"));
  }
  rmSync(declarations, { recursive: true });
  for (const name of others) symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  renameSync(building, folder);
}

async function install(pkg, target) {
  mkdirSync(target, { recursive: true });
  const entries = pkg.entries.map(({ source, output }) => [
    path.relative("dist", output).replace(/\.js$/, ""),
    path.join(pkg.dir, source),
  ]);
  await bundle({
    entryPoints: Object.fromEntries(entries),
    outdir: path.join(target, "dist"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    loader: { ".html": "text", ".css": "text", ".svg": "text" },
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: "silent",
  });
  for (const name of ["bin", "templates"]) {
    const from = path.join(pkg.dir, name);
    if (existsSync(from)) cpSync(from, path.join(target, name), { recursive: true });
  }
  writeFileSync(path.join(target, "package.json"), JSON.stringify(asInstalled(pkg.dir)));
}

/** Without the sources, which Node.js and the compiler are told to take in tests. */
function asInstalled(dir) {
  const manifest = JSON.parse(readFileSync(path.join(dir, "package.json"), "utf8"));
  const entries = Object.entries(manifest.exports).map(([name, entry]) => {
    const { "@lotse/source": source, ...others } = typeof entry === "string" ? {} : entry;
    return [name, source === undefined ? entry : { ...others, types: source.replace(/\.ts$/, ".d.ts") }];
  });
  return { ...manifest, exports: Object.fromEntries(entries) };
}
