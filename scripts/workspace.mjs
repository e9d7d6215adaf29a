// What the repository consists of: its root, its packages in the order of design, and their entry points.
// Everything here is read from the package.json files, so that a new entry point needs one edit in one place.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** The packages from the bottom up: a package may import only what stands before it. */
export const packageOrder = [
  "@lotse/client",
  "@lotse/cluster",
  "@lotse/console",
  "lotse",
  "@lotse/testing",
  "create-lotse",
];

/** The export condition that leads from a package's name to its sources. */
export const sourceCondition = "@lotse/source";

export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/**
 * The workspace packages in their order, lowest first.
 * `entries` lists what is built: each `exports` key with a source, and the extra entries of the field `lotse.entries`
 * (`{ "cli": "./src/cli/main.ts" }`), which become `dist/<name>.js` without declarations. `lotse.programs` become
 * `dist/<name>.cjs`, programs that Node.js starts fastest; `lotse.pack` becomes `dist/pack`, whose compiled code is kept
 * (see packages/cluster/src/compiled), with copies of entries of other packages.
 */
export function readPackages(base = root) {
  const folder = path.join(base, "packages");
  const packages = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(path.join(folder, entry.name, "package.json")))
    .map((entry) => {
      const dir = path.join(folder, entry.name);
      const manifest = readJson(path.join(dir, "package.json"));
      const { programs = {}, pack } = manifest.lotse ?? {};
      return { name: manifest.name, folder: entry.name, dir, manifest, entries: readEntries(manifest), programs, pack };
    });
  const rank = (p) => {
    const at = packageOrder.indexOf(p.name);
    return at < 0 ? packageOrder.length : at;
  };
  return packages.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function readEntries(manifest) {
  const entries = [];
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    const source = typeof target === "object" && target !== null ? target[sourceCondition] : undefined;
    if (source === undefined) continue;
    entries.push({ subpath, source, output: target.default, types: target.types });
  }
  for (const [name, source] of Object.entries(manifest.lotse?.entries ?? {})) {
    entries.push({ subpath: undefined, source, output: `./dist/${name}.js`, types: undefined });
  }
  return entries;
}

/** Every file below `dir` for which `keep` says yes, as sorted absolute paths; node_modules and dist are never entered. */
export function listFiles(dir, keep = () => true) {
  const found = [];
  const walk = (current) => {
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const file = path.join(current, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && entry.name !== "dist") walk(file);
      } else if (entry.isFile() && keep(file)) found.push(file);
    }
  };
  if (existsSync(dir)) walk(dir);
  return found.sort();
}

/** Tests, and their helpers by the name test-….ts: neither is published. */
export const isTest = (file) => /\.(?:test|contract)\.[cm]?[jt]s$/.test(file) || isTestHelper(file);
export const isTestHelper = (file) => /[\\/]test-[^\\/]*\.[cm]?[jt]s$/.test(file);

/** The sources that end up in a published package: everything below src but tests. */
export function sourcesOf(pkg) {
  return listFiles(path.join(pkg.dir, "src"), (file) => !isTest(file));
}

/** One digest over the names and contents of files, and over `extra`. */
export function digestFiles(files, extra = "") {
  const hash = createHash("sha256").update(extra);
  for (const file of files) {
    hash.update(`\0${path.relative(root, file)}\0`);
    hash.update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 32);
}

/** Scratch space of the build: in node_modules, so that it is never committed, never packed, and goes with an install. */
export const scratch = path.join(root, "node_modules", ".cache", "lotse");
