import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CodeCache } from "./cache.ts";
import { openPack } from "./pack.ts";

interface Entry {
  readonly place: string;
  readonly other: string;
  readonly copy: string;
  later(): Promise<{ EOL: string }>;
}

let root: string;
let folder: string;

const wrap = (code: string) => `(function (exports, require, module, __filename, __dirname, __import) {\n${code}\n})`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lotse-pack-"));
  folder = join(root, "pack");
  mkdirSync(folder);
  const files = {
    entry: `exports.place = require("node:path").basename(__dirname);
      exports.other = require("./other.cjs").name;
      exports.copy = require("@lotse/client/meta").name;
      exports.later = () => __import("node:os");`,
    other: `exports.name = "other"; exports.again = require("./entry.cjs");`,
    "client-meta": `exports.name = "its own copy";`,
  };
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, `${name}.cjs`), wrap(code));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A cache that counts what is written. */
function counted() {
  const cache = new CodeCache(join(root, "code"));
  return { cache, written: vi.spyOn(cache, "write") };
}

describe("a pack", () => {
  it("loads files that need each other, Node.js and other packages", async () => {
    const { place, other, copy, later } = openPack(folder).load<Entry>("entry");
    expect([place, other, copy]).toEqual(["pack", "other", "its own copy"]);
    const warnings: Error[] = [];
    const hear = (warning: Error) => warnings.push(warning);
    process.on("warning", hear);
    expect(await later()).toHaveProperty("EOL");
    // Warnings are told in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });

  it("uses what others have loaded already", () => {
    const provided = { "@lotse/client/meta": { name: "theirs" } };
    expect(openPack(folder, { provided }).load<Entry>("entry").copy).toBe("theirs");
  });

  it("keeps compiled code once, and is loaded with it from then on", () => {
    const first = counted();
    const pack = openPack(folder, { cache: first.cache });
    pack.load("entry");
    expect([pack.keep(), first.written.mock.calls.length]).toEqual([true, 3]);
    expect([pack.keep(), first.written.mock.calls.length]).toEqual([true, 3]);
    const second = counted();
    const again = openPack(folder, { cache: second.cache });
    expect(again.load<Entry>("entry").other).toBe("other");
    expect([again.keep(), second.written.mock.calls.length]).toEqual([true, 0]);
  });

  it("does without compiled code that V8 refuses, and replaces it", () => {
    const { cache, written } = counted();
    const reads = vi.spyOn(cache, "read").mockReturnValue(Buffer.from("of another V8, with the right digest"));
    const pack = openPack(folder, { cache });
    expect(pack.load<Entry>("entry").other).toBe("other");
    expect([pack.keep(), written.mock.calls.length]).toEqual([true, 3]);
    reads.mockRestore();
    const again = openPack(folder, { cache });
    again.load("entry");
    expect([again.keep(), written.mock.calls.length]).toEqual([true, 3]);
  });

  it("compiles anew what was changed in place", () => {
    const { cache, written } = counted();
    const pack = openPack(folder, { cache });
    pack.load("entry");
    pack.keep();
    writeFileSync(join(folder, "other.cjs"), wrap(`exports.name = "patched";`));
    const patched = openPack(folder, { cache });
    expect(patched.load<Entry>("entry").other).toBe("patched");
    expect([patched.keep(), written.mock.calls.length]).toEqual([true, 4]);
  });

  it("runs without a place for compiled code, and says that nothing is kept", () => {
    writeFileSync(join(root, "file"), "");
    for (const cache of [undefined, new CodeCache(join(root, "file", "code"))]) {
      const pack = openPack(folder, { cache });
      expect(pack.load<Entry>("entry").other).toBe("other");
      expect(pack.keep()).toBe(false);
    }
  });
});
