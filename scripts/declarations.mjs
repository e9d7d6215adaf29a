// Declarations of the published packages: one tsc run over all of them, then one bundle for each entry point.
// Declarations that two entry points of a package share land in one common file, so that a class stays one class.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { capture, Failure } from "./process.mjs";
import { isTest, listFiles, root, scratch } from "./workspace.mjs";

const emitted = path.join(scratch, "types");

/** Writes dist/*.d.ts of all packages. Returns the written files by package name. */
export async function emitDeclarations(packages) {
  await emitInto(emitted, packages);
  const written = new Map();
  for (const pkg of packages) written.set(pkg.name, await roll(pkg));
  return written;
}

/**
 * Has the compiler write the declarations of all packages into a folder, one for each source.
 *
 * @param {{ check?: boolean }} options  without `check` only what keeps declarations from being written is an error
 */
export async function emitInto(emitted, packages, { check = true } = {}) {
  rmSync(emitted, { recursive: true, force: true });
  mkdirSync(emitted, { recursive: true });
  const toRoot = path.relative(emitted, root);
  const project = path.join(emitted, "tsconfig.json");
  writeFileSync(
    project,
    JSON.stringify({
      extends: `${toRoot}/tsconfig.json`,
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        stripInternal: true,
        noCheck: !check,
        rootDir: `${toRoot}/packages`,
        outDir: ".",
        types: ["node"],
        typeRoots: [`${toRoot}/node_modules/@types`],
      },
      include: packages.map((pkg) => `${toRoot}/packages/${pkg.folder}/src`),
      exclude: ["*.test.ts", "test-*.ts"].map((name) => `${toRoot}/packages/*/src/**/${name}`),
    }),
  );
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const result = await capture(process.execPath, [tsc, "-p", project, "--pretty", "false"], { cwd: root });
  if (result.exitCode !== 0) {
    throw new Failure(
      `The types do not compile, so there are no declarations (npm run check):\n${result.stdout.trim()}`,
    );
  }
  // tsc does not copy declaration files that are themselves sources.
  for (const pkg of packages) {
    for (const file of listFiles(path.join(pkg.dir, "src"), (f) => f.endsWith(".d.ts") && !isTest(f))) {
      const copy = path.join(emitted, path.relative(path.join(root, "packages"), file));
      mkdirSync(path.dirname(copy), { recursive: true });
      copyFileSync(file, copy);
    }
  }
}

async function roll(pkg) {
  const entries = pkg.entries.filter((entry) => entry.types !== undefined);
  if (entries.length === 0) return [];
  const { rollup } = await import("rollup");
  const { dts } = await import("rollup-plugin-dts");
  const declarationOf = (source) => path.join(emitted, pkg.folder, source.replace(/\.[cm]?tsx?$/, ".d.ts"));
  const bundle = await rollup({
    input: Object.fromEntries(
      entries.map((entry) => [path.relative("dist", entry.types).replace(/\.d\.ts$/, ""), declarationOf(entry.source)]),
    ),
    external: (id) => !id.startsWith(".") && !path.isAbsolute(id),
    plugins: [resolveDeclarations(), dts({ respectExternal: false })],
    onwarn(warning) {
      // Declarations have no order of evaluation, and an entry point may have nothing but types of others.
      if (warning.code === "CIRCULAR_DEPENDENCY" || warning.code === "EMPTY_BUNDLE") return;
      // It does not see that types are exported inside a namespace (`corev1.Pod`), and complains about each.
      if (warning.message.includes("no public re-export")) return;
      throw new Failure(`${pkg.name}: the declarations do not bundle: ${warning.message}`);
    },
  });
  const { output } = await bundle.write({
    dir: path.join(pkg.dir, "dist"),
    format: "es",
    entryFileNames: "[name].d.ts",
    chunkFileNames: "types-[hash].d.ts",
  });
  await bundle.close();
  const files = output.map((chunk) => path.join(pkg.dir, "dist", chunk.fileName));
  for (const file of files) requirePublishable(pkg, file);
  return files;
}

/** Relative imports in emitted declarations keep their source's extension; lead them to the declaration beside it. */
function resolveDeclarations() {
  return {
    name: "resolve-declarations",
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith(".")) return null;
      return path.resolve(path.dirname(importer), id.replace(/((\.d)?\.[cm]?[jt]sx?)?$/, ".d.ts"));
    },
  };
}

// What a stranger's compiler would trip over: a path into our sources.
function requirePublishable(pkg, file) {
  const bad = /(?:from|import\()\s*["'](\.[^"']*\.ts|[^"']*\/src\/[^"']*)["']/.exec(readFileSync(file, "utf8"));
  if (bad) throw new Failure(`${pkg.name}: ${path.basename(file)} imports "${bad[1]}", which is not published.`);
}
