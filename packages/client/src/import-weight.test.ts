import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";

/** What the published entry loads before anybody has called anything: files of ours, and modules of others. */
async function eagerImports() {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("index.ts", import.meta.url))],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outdir: "out",
    write: false,
    metafile: true,
  });
  const entry = Object.keys(metafile.outputs).find((name) => name.endsWith("/index.js")) as string;
  const [modules, files] = [new Set<string>(), new Set<string>()];
  const visit = (name: string) => {
    if (files.has(name)) return;
    files.add(name);
    for (const { path, kind, external } of metafile.outputs[name]?.imports ?? []) {
      if (kind !== "import-statement") continue;
      if (external) modules.add(path);
      else visit(path);
    }
  };
  visit(entry);
  const bytes = [...files].reduce((sum, name) => sum + (metafile.outputs[name]?.bytes ?? 0), 0);
  return { modules: [...modules].sort(), bytes };
}

it("importing the client loads nothing heavy: no YAML, no WebSocket, no child processes", async () => {
  const { modules, bytes } = await eagerImports();
  const light = [
    "node:buffer",
    "node:fs/promises",
    "node:http",
    "node:https",
    "node:os",
    "node:path",
    "node:stream",
    "node:url",
    "node:util",
  ];
  expect(modules.filter((name) => !light.includes(name))).toEqual([]);
  // Parsing costs about a millisecond for each 20 kB; the limit is for noticing, not for comfort.
  expect(bytes).toBeLessThan(200_000);
});
