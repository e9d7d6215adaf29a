// The layering check: imports point down the list of packages and down the order of rooms, never past a room's door, and
// no files import each other in a circle; types count too.
//
// A room is a folder directly below a package's src; its door is its index.ts. Folders inside a room that have an
// index.ts of their own have a door too. Files directly in src are entry points.
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fileCycleViolations } from "./file-cycles.mjs";
import { findImports } from "./imports.mjs";
import { main, say } from "./process.mjs";
import {
  acceptedCycles,
  acceptedImports,
  forbiddenImports,
  orderViolations,
  readmeViolations,
  roomOrder,
} from "./rooms.mjs";
import { isTest, isTestHelper, listFiles, packageOrder, readJson, readPackages, root } from "./workspace.mjs";

/** Rooms that shall run in a browser one day. Files that start with disk or process are their edge to the machine. */
const nodeFree = { "@lotse/client": ["meta"], "@lotse/cluster": ["admission", "registry", "store", "controllers"] };
const edge = /^(disk|process)/;
/** Entries of our packages that are free of `node:` themselves. */
const nodeFreeEntries = new Set(["@lotse/client/meta", "@lotse/client/kinds"]);

/** Folders beside the packages, whose code sees of a package what a user sees. */
const outside = ["examples", "tests", "bench"];

const isCode = (file) => /\.[cm]?[jt]sx?$/.test(file);

/**
 * @typedef {object} Violation
 * @property {string} file  relative to the repository
 * @property {number} line
 * @property {string} what  what is wrong
 * @property {string} fix   what to do
 */

/** The rules of this house; tests bring their own. */
const houseRules = { rooms: roomOrder, forbiddenImports, acceptedImports, acceptedCycles };

/** @returns {{ files: number, violations: Violation[] }} */
export function checkLayers(base = root, rules = houseRules) {
  const packages = readPackages(base);
  const context = {
    base,
    byName: new Map(packages.map((pkg) => [pkg.name, pkg])),
    development: Object.keys(readJson(path.join(base, "package.json")).devDependencies ?? {}),
  };
  const violations = [];
  let files = 0;
  for (const pkg of packages) {
    const edges = [];
    for (const file of listFiles(path.join(pkg.dir, "src"), isCode)) {
      files++;
      for (const found of findImports(readFileSync(file, "utf8"))) {
        const place = { file: path.relative(base, file), line: found.line };
        const complain = (what, fix) => violations.push({ ...place, what, fix });
        if (found.specifier.startsWith(".")) {
          checkRelative(pkg, file, found, complain);
          const to = path.resolve(path.dirname(file), found.specifier);
          if (!isTest(file)) edges.push({ ...place, from: file, to, specifier: found.specifier });
        } else checkBare(context, pkg, file, found, complain);
      }
    }
    const src = path.join(pkg.dir, "src");
    for (const [name, order] of Object.entries(rules.rooms)) {
      const [owner, folder = ""] = name.split(":");
      if (owner !== pkg.name) continue;
      const rest = {
        isAbove: (file) => isEntry(pkg, file),
        forbidden: rules.forbiddenImports?.[name],
        accepted: rules.acceptedImports?.[name],
      };
      violations.push(...orderViolations(path.join(src, folder), order, edges, rest));
    }
    violations.push(...fileCycleViolations(pkg, edges, rules.acceptedCycles?.[pkg.name] ?? []));
    violations.push(...readmeViolations(base, pkg));
  }
  for (const folder of outside) {
    for (const file of listFiles(path.join(base, folder), isCode)) {
      files++;
      for (const found of findImports(readFileSync(file, "utf8"))) {
        const complain = (what, fix) =>
          violations.push({ file: path.relative(base, file), line: found.line, what, fix });
        checkOutsider(context, file, found, complain);
      }
    }
  }
  return { files, violations };
}

/** The room of a file: the folder below src, or the file itself when it lies directly in src. */
function roomOf(pkg, file) {
  return path.relative(path.join(pkg.dir, "src"), file).split(path.sep)[0];
}

function checkRelative(pkg, file, found, complain) {
  const src = path.join(pkg.dir, "src");
  const target = path.resolve(path.dirname(file), found.specifier);
  if (!isInside(src, target)) {
    complain(
      `"${found.specifier}" leaves the package`,
      "import another package by its name; keep what is needed inside src",
    );
    return;
  }
  // A door is for what is published, hence a test reaches the helpers of another room's tests (test-….ts) directly.
  const door = isTest(file) && isTestHelper(target) ? undefined : doorBetween(src, file, target);
  if (!isTest(file) && isTestHelper(target)) {
    complain(`"${found.specifier}" is for tests, and this is none`, "move what is needed into a file of the product");
  } else if (door !== undefined && target !== door) {
    const specifier = path.relative(path.dirname(file), door).split(path.sep).join("/");
    complain(
      `"${found.specifier}" goes past the door of ${path.relative(src, path.dirname(door))}`,
      `import "${specifier.startsWith(".") ? specifier : `./${specifier}`}", and export there what is needed`,
    );
  } else if (path.dirname(file) !== src && path.dirname(target) === src && isEntry(pkg, target)) {
    complain(`"${found.specifier}" is an entry point of ${pkg.name}`, "import the room that has what is needed");
  }
}

/** The door through which `file` must reach `target`: that of the outermost folder that holds target but not file. */
function doorBetween(src, file, target) {
  const steps = path.relative(src, target).split(path.sep).slice(0, -1);
  let folder = src;
  for (const [depth, step] of steps.entries()) {
    folder = path.join(folder, step);
    if (isInside(folder, file)) continue;
    const door = path.join(folder, "index.ts");
    if (depth === 0 || existsSync(door)) return door;
  }
  return undefined;
}

const isInside = (folder, file) => file.startsWith(folder + path.sep);

const isEntry = (pkg, file) => pkg.entries.some((entry) => path.join(pkg.dir, entry.source) === file);

function checkBare(context, pkg, file, found, complain) {
  const room = roomOf(pkg, file);
  const free = nodeFree[pkg.name]?.includes(room) && !isTest(file) && !edge.test(path.basename(file));
  if (isBuiltin(found.specifier)) {
    if (free) {
      complain(
        `"${found.specifier}" in the room ${room}, which is free of node:`,
        "let it come in through a parameter, or move it to a file whose name starts with disk or process",
      );
    }
    return;
  }
  const name = packageNameOf(found.specifier);
  if (name === pkg.name) {
    complain(`"${found.specifier}" is the package itself`, "import the room's index.ts by its relative path");
    return;
  }
  const target = context.byName.get(name);
  if (target) {
    checkExported(target, found, complain);
    if (rankOf(name) >= rankOf(pkg.name)) {
      complain(
        `"${found.specifier}" is above ${pkg.name}`,
        `imports point down only: ${[...packageOrder].reverse().join(" > ")}`,
      );
      return;
    }
    if (free && !found.type && !nodeFreeEntries.has(found.specifier)) {
      complain(
        `"${found.specifier}" needs node:, and the room ${room} is free of it`,
        `import ${[...nodeFreeEntries].join(" or ")}, or only types`,
      );
    }
  }
  checkDeclared(context, pkg, file, found, name, complain);
}

const rankOf = (name) => {
  const at = packageOrder.indexOf(name);
  return at < 0 ? packageOrder.length : at;
};

function packageNameOf(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function checkExported(target, found, complain) {
  const subpath = `.${found.specifier.slice(target.name.length)}`;
  if (subpath in (target.manifest.exports ?? {})) return;
  const doors = Object.keys(target.manifest.exports ?? {})
    .filter((key) => key !== "./package.json")
    .map((key) => target.name + key.slice(1));
  complain(`"${found.specifier}" is not exported by ${target.name}`, `it has ${doors.join(", ")}`);
}

function checkDeclared(context, pkg, file, found, name, complain) {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta, devDependencies } = pkg.manifest;
  if (name in { ...dependencies, ...optionalDependencies }) return;
  const development = name in { ...devDependencies } || context.development.includes(name);
  if (isTest(file) && (development || name in { ...peerDependencies })) return;
  if (name in { ...peerDependencies }) {
    // Found at run time or not at all: a static import would break everybody who has not installed it.
    if (!peerDependenciesMeta?.[name]?.optional || found.dynamic || found.type) return;
    complain(
      `"${found.specifier}" is an optional peer, imported statically`,
      `use await import("${found.specifier}") where it is needed`,
    );
    return;
  }
  // Types of a development dependency that are erased do no harm, but would be missing in published declarations.
  complain(
    `"${found.specifier}" is not declared by ${pkg.name}`,
    `add it to dependencies of packages/${pkg.folder}/package.json, or do without`,
  );
}

function checkOutsider(context, file, found, complain) {
  if (found.specifier.startsWith(".")) {
    const target = path.resolve(path.dirname(file), found.specifier);
    // A contract is a suite that runs on whatever it is given, hence it is for others to run; helpers of tests exist once.
    const isForTests = /(\.contract|\/test-[^/]+)\.ts$/.test(target);
    if (isInside(path.join(context.base, "packages"), target) && !isForTests) {
      complain(`"${found.specifier}" reaches into a package`, "import the package by its name, as a user would");
    }
    return;
  }
  const target = context.byName.get(packageNameOf(found.specifier));
  if (target) checkExported(target, found, complain);
}

export const tell = ({ file, line, what, fix }) => `${file}:${line}: ${what}\n    → ${fix}`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    const { files, violations } = checkLayers();
    for (const violation of violations) say(tell(violation));
    say(`${files} files, ${violations.length} violations`);
    return violations.length > 0 ? 1 : 0;
  });
}
