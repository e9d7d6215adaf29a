// Lets Node.js run the repository's own TypeScript files, on every version that Lotse supports and with real ES
// modules: `node --import ./scripts/typescript.mjs tests/real/build.ts`. With `--conditions=@lotse/source` the packages
// come from their sources too, so nothing has to be built. The test suites load their files this way as well. Users
// never need it: `lotse run` loads their files.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, threadId, workerData } from "node:worker_threads";
import { root } from "./workspace.mjs";

const cache = path.join(root, "node_modules", ".cache", "lotse-typescript");
/** Part of every mark: what another version of this file or of the compiler has left is not taken. */
const version = createHash("sha256").update(readFileSync(new URL(import.meta.url)));
version.update(readFileSync(path.join(root, "node_modules", "rolldown", "package.json")));
const edition = version.digest("hex");

/** A hook of node:module: hands out TypeScript as JavaScript. A query makes another module of the same file. */
export async function load(url, context, nextLoad) {
  const [address] = url.split("?", 1);
  if (!address.startsWith("file:") || address.includes("/node_modules/")) return nextLoad(url, context);
  if (address.endsWith(".ts")) return { format: "module", source: await javascriptOf(address), shortCircuit: true };
  return nextLoad(url, context);
}

/** Compiled once for all processes: the mark at the end of what is kept says of which text it was made. */
async function javascriptOf(address) {
  const file = fileURLToPath(address);
  const source = readFileSync(file, "utf8");
  const inside = path.relative(root, file);
  // What tests write is read once: beside the repository, or in its folder for scratch.
  if (inside.startsWith("..") || inside.startsWith(".lotse")) return compiled(file, source);
  const kept = path.join(cache, `${inside}.js`);
  const mark = `\n// ${createHash("sha256").update(edition).update(file).update(source).digest("hex")}\n`;
  const code = readIfThere(kept);
  if (code?.endsWith(mark)) return code;
  const fresh = (await compiled(file, source)) + mark;
  keep(kept, fresh);
  return fresh;
}

async function compiled(file, source) {
  const { transformSync } = await import("rolldown/utils");
  const { code, map, errors } = transformSync(file, source, { sourcemap: true, target: "node20", tsconfig: false });
  if (errors.length > 0) throw new SyntaxError(errors.map(({ message }) => `${file}: ${message}`).join("\n"));
  const sources = [path.basename(file)];
  const inline = Buffer.from(JSON.stringify({ ...map, sources, sourceRoot: undefined })).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}`;
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Another process never sees a half of it. A folder that cannot be written only costs the time. */
function keep(file, text) {
  const draft = `${file}.${process.pid}.${threadId}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch {
    // The next process compiles it again.
  }
}

// The hooks live on a thread of their own, on which this file is loaded once more. Threads of `explore` need hooks of their
// own before Node.js 22.
if (isMainThread || workerData?.scenario !== undefined) register(import.meta.url);
