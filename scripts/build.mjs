// Builds what is published: for each entry point of each package one JavaScript bundle and one bundle of declarations
// in packages/*/dist. Nothing in the repository's own tests needs it; `npm start`, `npm pack` and the benchmarks do.
//
//   node scripts/build.mjs            everything
//   node scripts/build.mjs --js      without declarations (what `npm start` needs)
//   node scripts/build.mjs --force   even when nothing changed
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { emitDeclarations } from "./declarations.mjs";
import { ensureInstalled } from "./install.mjs";
import { Failure, leaveResults, main, say, seconds } from "./process.mjs";
import { digestFiles, readJson, readPackages, root, scratch, sourcesOf } from "./workspace.mjs";

const recipe = ["build.mjs", "declarations.mjs", "workspace.mjs"].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

/** Builds what changed since the last build. Returns how many packages were built anew. */
export async function build({ types = true, force = false } = {}) {
  const packages = readPackages().filter((pkg) => sourcesOf(pkg).length > 0);
  for (const pkg of packages) requireEntries(pkg);
  const stale = packages.filter((pkg) => force || !isFresh(pkg, "js", inputsOf([pkg])));
  for (const pkg of stale) await bundle(pkg);
  // A package's declarations depend on those of the packages below it, hence one digest for all.
  const inputs = types ? inputsOf(packages) : "";
  const typesStale = types && (force || !packages.every((pkg) => isFresh(pkg, "types", inputs)));
  if (typesStale) {
    const since = performance.now();
    for (const pkg of packages) for (const file of outputsOf(pkg, "types")) rmSync(file, { force: true });
    const written = await emitDeclarations(packages);
    for (const pkg of packages) {
      remember(pkg, "types", written.get(pkg.name) ?? [], inputs);
      report("types", pkg, written.get(pkg.name) ?? []);
    }
    say(`types    all packages in ${seconds(since)}`);
  }
  if (stale.length === 0 && !typesStale) say("build    nothing changed");
  return stale.length;
}

function requireEntries(pkg) {
  for (const entry of pkg.entries) {
    if (existsSync(path.join(pkg.dir, entry.source))) continue;
    throw new Failure(
      `${pkg.name}: the entry point ${entry.source} does not exist.\nCreate it, or take it out of packages/${pkg.folder}/package.json.`,
    );
  }
}

async function bundle(pkg) {
  const since = performance.now();
  for (const file of outputsOf(pkg, "js")) rmSync(file, { force: true });
  const chunks = await bundleOf(pkg);
  requireDeclared(pkg, chunks);
  const files = chunks.map(({ fileName, code }) => {
    const file = path.join(pkg.dir, "dist", fileName);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, code);
    return file;
  });
  remember(pkg, "js", files, inputsOf([pkg]));
  report("build", pkg, files, since);
}

/**
 * The JavaScript of a package: its entry points and what they share. Rollup splits by what is loaded when, in few
 * files: half the import time of a split by who shares what.
 */
export async function bundleOf(pkg) {
  const entries = pkg.entries.map(({ source, output }) => [
    path.relative("dist", output).replace(/\.js$/, ""),
    path.join(pkg.dir, source),
  ]);
  const plugin = await compiler();
  const published = await rolled(pkg, entries, plugin, { format: "es", names: ["[name].js", "shared-[hash].js"] });
  return [...published, ...(await programsOf(pkg, plugin)), ...(await packOf(pkg, plugin))];
}

/** Programs in CommonJS, which Node.js starts some milliseconds sooner. */
async function programsOf(pkg, plugin) {
  const entries = Object.entries(pkg.programs).map(([name, source]) => [name, path.join(pkg.dir, source)]);
  if (entries.length === 0) return [];
  return rolled(pkg, entries, plugin, { format: "cjs", names: ["[name].cjs", "part-[hash].cjs"] });
}

/** What a pack imports from other packages it asks its loader for. */
const importsOfOthers = {
  name: "imports-of-others",
  renderDynamicImport: ({ targetModuleId }) =>
    path.isAbsolute(targetModuleId ?? "") ? null : { left: "__import(", right: ")" },
};

/** Files for `openPack` of packages/cluster/src/compiled: CommonJS, each in its function, ASCII. */
async function packOf(pkg, plugin) {
  if (!pkg.pack) return [];
  const packages = readPackages();
  const copies = pkg.pack.copies.map((name) => {
    const owner = packages.find((one) => name.startsWith(`${one.name}/`));
    const entry = owner.entries.find(({ subpath }) => `${owner.name}${subpath?.slice(1)}` === name);
    return [name.replace(/^@lotse\//, "").replaceAll("/", "-"), path.join(owner.dir, entry.source)];
  });
  const own = Object.entries(pkg.pack.entries).map(([name, source]) => [name, path.join(pkg.dir, source)]);
  const chunks = await rolled(pkg, [...own, ...copies], plugin, {
    format: "cjs",
    names: ["pack/[name].cjs", "pack/shared-[hash].cjs"],
    banner: "(function (exports, require, module, __filename, __dirname, __import) {",
    footer: "})",
    plugins: [importsOfOthers],
  });
  // The loader of a pack finds these beside it and nowhere else.
  const uncopied = chunks
    .flatMap(({ imports }) => imports)
    .find((id) => id.startsWith("@lotse/") && !pkg.pack.copies.includes(id));
  if (uncopied)
    throw new Failure(`${pkg.name}: its pack needs "${uncopied}", which is not among the copies in its package.json.`);
  return chunks.map(({ fileName, code, imports, dynamicImports }) => {
    const ascii = code.replace(/^.*[^\n\t -~].*$/gm, (line) => {
      // The compiler writes everything else with escapes.
      if (!/^\s*(?:\/?\*|\/\/)/.test(line)) throw new Failure(`${pkg.name}: ${fileName} is not ASCII:\n${line}`);
      return line.replace(/[^\t -~]/g, "?");
    });
    return { fileName, code: ascii, imports, dynamicImports };
  });
}

async function rolled(pkg, entries, plugin, { format, names: [entryFileNames, chunkFileNames], ...wrapper }) {
  const { rollup } = await import("rollup");
  try {
    const bundled = await rollup({
      input: Object.fromEntries(entries),
      external: (id) => !id.startsWith(".") && !path.isAbsolute(id),
      treeshake: { moduleSideEffects: false },
      plugins: [plugin],
      onwarn(warning) {
        throw new Failure(`${pkg.name} does not build:\n  ${warning.message}`);
      },
    });
    const { output } = await bundled.generate({
      format,
      entryFileNames,
      chunkFileNames,
      minifyInternalExports: false,
      // A bundle loads what it needs when it needs it, not what its parts may need later.
      hoistTransitiveImports: false,
      ...(format === "cjs" && { interop: "default", esModule: false, exports: "named", strict: true, ...wrapper }),
    });
    return output;
  } catch (error) {
    if (error instanceof Failure) throw error;
    const place = error.id ? `${path.relative(root, error.id)}${error.loc ? `:${error.loc.line}` : ""}: ` : "";
    throw new Failure(`${pkg.name} does not build:\n  ${place}${error.message}`);
  }
}

/** From TypeScript to what Node.js runs; pages, styles and pictures become texts. */
async function compiler() {
  const { transform } = await import("esbuild");
  const compiled = new Map();
  const compile = async (id) => {
    const text = readFileSync(id, "utf8");
    if (/\.(html|css|svg)$/.test(id)) return `export default ${JSON.stringify(text)};`;
    const options = { loader: "ts", target: "node20.19", charset: "ascii", legalComments: "none", sourcefile: id };
    const compilerOptions = { verbatimModuleSyntax: true };
    return (await transform(text, { ...options, tsconfigRaw: { compilerOptions } })).code;
  };
  return {
    name: "compile",
    load(id) {
      // Once for all bundles that a file goes into.
      if (!compiled.has(id)) compiled.set(id, compile(id));
      return compiled.get(id);
    },
  };
}

// A bundle that imports what its package.json does not declare works here by hoisting, and nowhere else.
function requireDeclared(pkg, chunks) {
  const declared = {
    ...pkg.manifest.dependencies,
    ...pkg.manifest.peerDependencies,
    ...pkg.manifest.optionalDependencies,
  };
  const own = new Set(chunks.map(({ fileName }) => fileName));
  for (const { imports = [], dynamicImports = [] } of chunks) {
    for (const target of [...imports, ...dynamicImports]) {
      if (own.has(target) || target.startsWith("node:")) continue;
      const name = target.split("/", target.startsWith("@") ? 2 : 1).join("/");
      if (name in declared) continue;
      throw new Failure(`${pkg.name} imports "${target}", which its package.json does not declare as a dependency.`);
    }
  }
}

function report(what, pkg, files, since) {
  const size = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const count = `${files.length} ${files.length === 1 ? "file" : "files"}`;
  const time = since === undefined ? "" : ` in ${seconds(since)}`;
  say(`${what.padEnd(8)} ${pkg.name.padEnd(16)} ${count}, ${(size / 1024).toFixed(0)} kB${time}`);
}

// The stamps: what was built from which sources, and which files came out. They lie outside dist, which is packed.
const stampOf = (pkg, what) => path.join(scratch, "stamps", `${pkg.folder}.${what}.json`);

/** A digest of everything that the result depends on: sources, settings, tools and this recipe. */
function inputsOf(packages) {
  const copied = packages.some(({ pack }) => pack) ? readPackages().slice(0, 1) : [];
  const files = [...new Set([...copied, ...packages])].flatMap((pkg) => [
    ...sourcesOf(pkg),
    path.join(pkg.dir, "package.json"),
  ]);
  const tools = ["esbuild", "rollup", "rollup-plugin-dts", "typescript"].map(
    (name) => readJson(path.join(root, "node_modules", name, "package.json")).version,
  );
  return digestFiles([...files, ...recipe, path.join(root, "tsconfig.json")], tools.join(" "));
}

function remember(pkg, what, files, inputs) {
  const stamp = stampOf(pkg, what);
  mkdirSync(path.dirname(stamp), { recursive: true });
  const outputs = files.map((file) => path.relative(pkg.dir, file));
  writeFileSync(stamp, JSON.stringify({ inputs, outputs }));
}

function readStamp(pkg, what) {
  const stamp = stampOf(pkg, what);
  return existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : undefined;
}

function outputsOf(pkg, what) {
  return (readStamp(pkg, what)?.outputs ?? []).map((file) => path.join(pkg.dir, file));
}

function isFresh(pkg, what, inputs) {
  const stamp = readStamp(pkg, what);
  return stamp?.inputs === inputs && outputsOf(pkg, what).every((file) => existsSync(file));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    const flags = process.argv.slice(2);
    const unknown = flags.find((flag) => flag !== "--js" && flag !== "--force");
    if (unknown !== undefined) throw new Failure(`Unknown option ${unknown}. There are --js and --force.`, 2);
    await ensureInstalled();
    try {
      await build({ types: !flags.includes("--js"), force: flags.includes("--force") });
    } catch (error) {
      leaveResults(0, 1);
      throw error;
    }
    leaveResults(1, 0);
  });
}
