/**
 * What a remembered read costs: bytes of heap for each, with 100,000 readers that have read one thing each. Run by
 * `node --expose-gc bench/reconcile-memory.mjs`; exits with 1 when a read costs more than it may.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const READERS = 100_000;
const MOST = 200;

if (!globalThis.gc) {
  console.error("needs the collector: node --expose-gc bench/reconcile-memory.mjs");
  process.exit(2);
}

const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-reads-"));
try {
  const rooms = fileURLToPath(new URL("../packages/lotse/src/reconcile/", import.meta.url));
  await build({
    stdin: {
      contents: 'export { KindReads } from "./reads.ts"; export { readQuery } from "./query.ts";',
      resolveDir: rooms,
    },
    outfile: path.join(folder, "reads.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@lotse/source"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "silent",
  });
  const { KindReads, readQuery } = await import(pathToFileURL(path.join(folder, "reads.mjs")).href);

  const reader = () => ({ onChange() {}, claim() {}, point: undefined });
  const selector = (at) => readQuery({ namespace: "default", labelSelector: { machine: `machine-${at}` } });
  const both = (at) => readQuery({ namespace: "default", labelSelector: { machine: `machine-${at}`, tier: "db" } });
  const sorts = {
    "get of an object": (reads, one, at) => reads.object(`default/object-${at}`, one),
    "list by one label": (reads, one, at) => reads.list(selector(at), one),
    "list by owner": (reads, one, at) => reads.list(readQuery({ namespace: "default", owner: `uid-${at}` }), one),
    "list by two labels": (reads, one, at) => reads.list(both(at), one),
    "list that all share": (reads, one) => reads.list(selector(0), one),
  };

  for (const [name, read] of Object.entries(sorts)) {
    const readers = Array.from({ length: READERS }, reader);
    const reads = new KindReads("Machine");
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (const [at, one] of readers.entries()) one.point = read(reads, one, at);
    globalThis.gc();
    const bytes = Math.round((process.memoryUsage().heapUsed - before) / READERS);
    const tested = name === "list by two labels";
    console.log(`${name}: ${bytes} bytes${tested ? " (its test included)" : ""}`);
    if (bytes > MOST && !tested) process.exitCode = 1;
    for (const one of readers) reads.forget(one.point, one);
    if (reads.size !== 0) throw new Error("something was left behind");
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
