import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CodeCache, codeFolder, thisCompiler } from "./cache.ts";

const source = Buffer.from("(function () {})");
const data = Buffer.from("what V8 made of it");
let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lotse-code-"));
  folder = join(root, "code");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The only file that is kept. */
function file(): string {
  const names = readdirSync(folder);
  expect(names).toHaveLength(1);
  return join(folder, names[0] as string);
}

describe("the cache of compiled code", () => {
  it("gives back what was kept, in another process too, and lets nobody else read or write it", () => {
    expect(new CodeCache(folder).read(source)).toBeUndefined();
    expect(new CodeCache(folder).write(source, data)).toBe(true);
    expect(new CodeCache(folder).read(source)).toEqual(data);
    expect([statSync(folder).mode & 0o777, statSync(file()).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it("has nothing for another source, another version of Node.js, another machine or other options", () => {
    const compiler = thisCompiler();
    new CodeCache(folder, compiler).write(source, data);
    expect(new CodeCache(folder, compiler).read(Buffer.from("(function () {} )"))).toBeUndefined();
    for (const other of [
      { version: "v99.0.0" },
      { arch: "elsewhere" },
      { platform: "beos" },
      { options: ["--no-opt"] },
    ]) {
      expect(new CodeCache(folder, { ...compiler, ...other }).read(source)).toBeUndefined();
    }
  });

  it("takes nothing that was damaged, and is whole again once it was written anew", () => {
    const cache = new CodeCache(folder);
    cache.write(source, data);
    const whole = readFileSync(file());
    const damaged = [...whole.keys()].map((at) => {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes;
    });
    const cut = [...whole.keys()].map((length) => whole.subarray(0, length));
    for (const bytes of [...damaged, ...cut, Buffer.concat([whole, whole])]) {
      writeFileSync(file(), bytes);
      expect(cache.read(source)).toBeUndefined();
    }
    expect(cache.write(source, data)).toBe(true);
    expect(cache.read(source)).toEqual(data);
  });

  it("takes nothing that another user may have written, because it is run", () => {
    const cache = new CodeCache(folder);
    cache.write(source, data);
    chmodSync(file(), 0o666);
    expect(cache.read(source)).toBeUndefined();
    chmodSync(file(), 0o620);
    expect(cache.read(source)).toBeUndefined();
  });

  it("costs nothing but time where nothing can be written", () => {
    writeFileSync(join(root, "file"), "");
    const inside = new CodeCache(join(root, "file", "code"));
    expect([inside.write(source, data), inside.read(source)]).toEqual([false, undefined]);
    inside.forget(Date.now());
    const cache = new CodeCache(folder);
    cache.write(source, data);
    chmodSync(folder, 0o500);
    // What is there already can be read; whether more can be written is up to the system, which lets root do it.
    expect(cache.read(source)).toEqual(data);
    expect([true, false]).toContain(cache.write(source, data));
    chmodSync(folder, 0o700);
  });

  it("forgets what is a month old, and nothing of others", () => {
    const cache = new CodeCache(folder);
    cache.write(source, data);
    cache.write(Buffer.from("old"), data);
    writeFileSync(join(folder, "of somebody else"), "");
    const day = 24 * 60 * 60;
    const now = Date.now();
    for (const name of readdirSync(folder))
      utimesSync(join(folder, name), now / 1_000 - 31 * day, now / 1_000 - 31 * day);
    cache.write(source, data);
    cache.forget(now);
    expect(cache.read(source)).toEqual(data);
    expect(readdirSync(folder).sort()).toEqual([expect.stringMatching(/\.code$/), "of somebody else"]);
  });
});

describe("the folder of compiled code", () => {
  it("is the user's own, may be chosen, and may be refused", () => {
    expect(codeFolder({})).toMatch(/\.cache[\\/]lotse[\\/]code$/);
    expect(codeFolder({ XDG_CACHE_HOME: "/caches" })).toBe(join("/caches", "lotse", "code"));
    expect(codeFolder({ LOTSE_CACHE: "/mine", XDG_CACHE_HOME: "/caches" })).toBe(join("/mine", "code"));
    expect(codeFolder({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBeUndefined();
  });
});
