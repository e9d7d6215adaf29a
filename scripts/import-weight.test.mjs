import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { bundleOf } from "./build.mjs";
import { capture } from "./process.mjs";
import { readPackages, scratch } from "./workspace.mjs";

let chunks;

beforeAll(async () => {
  chunks = await bundleOf(readPackages().find((pkg) => pkg.name === "@lotse/client"));
}, 300_000);

/** What the published entry loads before its importer has called anything: files of ours, and modules of others. */
function eagerImports() {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const [modules, files] = [new Set(), new Set()];
  const visit = (file) => {
    if (files.has(file)) return;
    files.add(file);
    for (const target of byName.get(file).imports) {
      if (byName.has(target)) visit(target);
      else modules.add(target);
    }
  };
  visit("index.js");
  return {
    modules: [...modules].sort(),
    bytes: [...files].reduce((sum, file) => sum + byName.get(file).code.length, 0),
  };
}

/**
 * What one import adds to a process that imports nothing: milliseconds of work, and megabytes. The least of several
 * rounds, because a busy machine makes one cost more, never less; no more rounds than it takes to keep the bars.
 */
async function importCost(bars) {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(path.join(scratch, "import-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  for (const { fileName, code } of chunks) {
    mkdirSync(path.dirname(path.join(folder, fileName)), { recursive: true });
    writeFileSync(path.join(folder, fileName), code);
  }
  const measure = (specifier) => `
    const before = process.cpuUsage();
    ${specifier ? `await import(${JSON.stringify(specifier)});` : ""}
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(JSON.stringify({ ms: (user + system) / 1000, mb: process.memoryUsage().rss / 2 ** 20 }));`;
  const sample = async (specifier) => {
    const ran = await capture(process.execPath, ["--input-type=module", "-e", measure(specifier)], { cwd: folder });
    return JSON.parse(ran.stdout);
  };
  const least = { ms: Infinity, mb: Infinity };
  for (let round = 0; round < 10 && (least.ms >= bars.ms || least.mb >= bars.mb); round++) {
    const [bare, loaded] = [await sample(), await sample("./index.js")];
    least.ms = Math.min(least.ms, loaded.ms - bare.ms);
    least.mb = Math.min(least.mb, loaded.mb - bare.mb);
  }
  return least;
}

it("importing the client costs at most 40 ms of work and 15 MB", async () => {
  const bars = { ms: 40, mb: 15 };
  const { ms, mb } = await importCost(bars);
  expect(ms).toBeLessThan(bars.ms);
  expect(mb).toBeLessThan(bars.mb);
}, 300_000);

it("importing the client loads nothing heavy: no YAML, no WebSocket, no child processes", () => {
  const { modules, bytes } = eagerImports();
  const light = ["node:buffer", "node:http", "node:os", "node:path", "node:stream", "node:url", "node:util"];
  expect(modules.filter((name) => !light.includes(name))).toEqual([]);
  // Parsing costs about a millisecond for each 20 kB; the limit is for noticing, not for comfort.
  expect(bytes).toBeLessThan(268_000);
});
