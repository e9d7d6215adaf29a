import { expect, it } from "vitest";
import { bundleOf } from "./build.mjs";
import { readPackages } from "./workspace.mjs";

/** What the published entry loads before anybody has called anything: files of ours, and modules of others. */
async function eagerImports(name) {
  const chunks = await bundleOf(readPackages().find((pkg) => pkg.name === name));
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

it("importing the client loads nothing heavy: no YAML, no WebSocket, no child processes", async () => {
  const { modules, bytes } = await eagerImports("@lotse/client");
  const light = ["node:buffer", "node:http", "node:os", "node:path", "node:stream", "node:url", "node:util"];
  expect(modules.filter((name) => !light.includes(name))).toEqual([]);
  // Parsing costs about a millisecond for each 20 kB; the limit is for noticing, not for comfort.
  expect(bytes).toBeLessThan(240_000);
});
