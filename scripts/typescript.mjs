// Lets Node.js run the repository's own TypeScript files, on every version that Lotse supports and with real ES
// modules: `node --import ./scripts/typescript.mjs tests/real/build.ts`. With `--conditions=@lotse/source` the packages
// come from their sources too, so nothing has to be built. Users never need it: `lotse run` loads their files.
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const isTypeScript = (url) => url.startsWith("file:") && /\.ts$/.test(url) && !url.includes("/node_modules/");

/** A hook of node:module: hands out TypeScript as JavaScript. */
export async function load(url, context, nextLoad) {
  if (!isTypeScript(url)) return nextLoad(url, context);
  const { transform } = await import("esbuild");
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, "utf8"), {
    loader: "ts",
    format: "esm",
    target: "node20",
    sourcefile: file,
    sourcemap: "inline",
  });
  return { format: "module", source: code, shortCircuit: true };
}

// The hooks live on a thread of their own, on which this file is loaded once more.
if (isMainThread) register(import.meta.url);
