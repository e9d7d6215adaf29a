import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SRC = path.resolve(import.meta.dirname, "..");

/** All files of the package that `entry` loads before anything is called: types are not loaded, `import()` is not yet. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set<string>();
  const look = (file: string) => {
    if (loaded.has(file) || !existsSync(file)) return;
    loaded.add(file);
    const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, clause = "", from = ""] of text.matchAll(/^(?:import|export)\s+([^;]*?)\s*from\s+"(\.[^"]+)";/gms)) {
      if (!clause.startsWith("type ")) look(path.resolve(path.dirname(file), from));
    }
  };
  look(path.join(SRC, entry));
  return loaded;
}

describe("an operator that judges nothing", () => {
  it("loads neither the webhook server nor what makes certificates", () => {
    const loaded = [...loadedBy("index.ts")].map((file) => path.relative(SRC, file));
    expect(loaded).toContain(path.join("operator", "runner.ts"));
    expect(loaded.filter((file) => file.startsWith(`admission${path.sep}`))).toEqual([]);
  });

  it("and one that does loads them when it starts", () => {
    const loaded = [...loadedBy("operator/webhooks.ts")].map((file) => path.relative(SRC, file));
    expect(loaded).toContain(path.join("admission", "server", "server.ts"));
  });
});

describe("an operator that nobody records", () => {
  it("loads neither what records it nor the command that asks for it", () => {
    const loaded = [...loadedBy("run.ts")];
    const names = loaded.map((file) => path.relative(SRC, file));
    expect(names).toContain(path.join("cli", "profiling", "take.ts"));
    expect(names.filter((file) => file.startsWith(path.join("cli", "profile", path.sep)))).toEqual([]);
    const early = /^import\s(?!type\s)[^;]*from "node:(?:inspector|v8)/m;
    expect(loaded.filter((file) => early.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});
