// Generates the tables of Kubernetes' built-in kinds.
//
//   node scripts/tables/generate.mjs           writes them
//   node scripts/tables/generate.mjs --check   fails when the committed ones differ
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeKinds, readKinds } from "./kinds.mjs";
import { packageLines, shortName } from "./names.mjs";
import { textModule } from "./output.mjs";
import { encodeMessages, readMessages } from "./protobuf.mjs";
import { encodeSchemas, readSchemas } from "./schemas.mjs";
import { openSources } from "./sources.mjs";
import { typeModules } from "./types.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const clientTables = join(root, "packages/client/src/kinds/tables");
const clusterTables = join(root, "packages/cluster/src/registry/tables");

/** @returns {Map<string, string>} path → text */
function generate() {
  const sources = openSources();
  const kinds = readKinds(sources);
  const schemas = readSchemas(sources, kinds);
  const messages = readMessages(sources, schemas);
  const packages = packageLines([...schemas.keys(), ...messages.keys()]);

  const files = new Map([
    [
      join(clientTables, "kinds.ts"),
      textModule(
        "kindLines",
        "group, version (* preferred), kind, plural, singular, scope, short names, categories, verbs, subresources",
        encodeKinds(kinds),
      ),
    ],
    [
      join(clusterTables, "packages.ts"),
      textModule("packageLines", "Short name of a package in the other tables, its full name.", packages),
    ],
    [
      join(clusterTables, "schemas.ts"),
      textModule(
        "schemaLines",
        "Component, schema in the compact form that scripts/tables/schemas.mjs describes.",
        encodeSchemas(schemas, shortName),
      ),
    ],
    [
      join(clusterTables, "protobuf.ts"),
      textModule(
        "messageLines",
        "Message, fields in the compact form that scripts/tables/protobuf.mjs describes.",
        encodeMessages(messages),
      ),
    ],
  ]);
  for (const [name, text] of typeModules(schemas)) files.set(join(clientTables, "types", name), text);
  return files;
}

/**
 * @param {Map<string, string>} files
 * @returns {string[]} what differs from the committed tables
 */
function differences(files) {
  const stale = staleTypes(files).map((path) => `${relative(root, path)} is no longer generated`);
  const changed = [...files]
    .filter(([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text)
    .map(([path]) => `${relative(root, path)} differs`);
  return [...stale, ...changed];
}

/** @param {Map<string, string>} files */
function write(files) {
  for (const path of staleTypes(files)) rmSync(path);
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/**
 * The folder of types holds generated modules only, so that one of a group version that is gone can be removed.
 * @param {Map<string, string>} files
 */
function staleTypes(files) {
  const folder = join(clientTables, "types");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => !files.has(path));
}

try {
  const files = generate();
  if (process.argv.includes("--check")) {
    const found = differences(files);
    for (const line of found) console.error(line);
    if (found.length > 0) {
      console.error("Run `node scripts/tables/generate.mjs` and commit the result.");
      process.exitCode = 1;
    }
  } else {
    write(files);
    for (const [path, text] of files) console.log(`${relative(root, path)} ${Math.ceil(text.length / 1024)} KB`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
