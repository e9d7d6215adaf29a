import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { reportOf } from "./report.mjs";
import { surfacesOf } from "./surface.mjs";

const trees = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

const shop = {
  name: "shop",
  folder: "shop",
  entries: [
    { subpath: ".", source: "./src/index.ts", types: "./dist/index.d.ts" },
    { subpath: undefined, source: "./src/cli.ts", types: undefined },
  ],
};

/** What a package with these emitted declarations shows. */
function surface(declarations) {
  const emitted = mkdtempSync(path.join(os.tmpdir(), "lotse-api-"));
  trees.push(emitted);
  for (const [file, text] of Object.entries(declarations)) {
    const target = path.join(emitted, "shop/src", file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  return surfacesOf(shop, emitted);
}

describe("the surface of a package", () => {
  it("has every exported name with its declaration, wherever it is declared", () => {
    const [{ entry, names }] = surface({
      "index.d.ts": `export { type Open, open as openShop } from "./door/index.ts";\nexport * from "./till.ts";`,
      "door/index.d.ts": `import { open } from "./open.ts";\nexport { open };\nexport type { Open } from "./open.ts";`,
      "door/open.d.ts": `export interface Open { readonly at: number }\nexport declare function open(): Open;\nexport declare function open(at: number): Open;`,
      "till.d.ts": `/** Money. */\nexport declare const till: readonly number[];\nexport declare const hidden: never;\n`,
    });
    expect(entry).toBe("shop");
    expect(names.map(({ name, text }) => [name, text.replaceAll(/\s+/g, " ")])).toEqual([
      ["Open", "interface Open { readonly at: number; }"],
      ["hidden", "const hidden: never;"],
      ["openShop", "function open(): Open; function open(at: number): Open;"],
      ["till", "const till: readonly number[];"],
    ]);
  });

  it("shows nothing private, and no comments", () => {
    const [{ names }] = surface({
      "index.d.ts": `/** A till. */\nexport declare class Till {\n  #private;\n  private readonly sum;\n  /** Adds. */\n  add(sum: number): void;\n}`,
    });
    expect(names[0].text.replaceAll(/\s+/g, " ")).toBe("class Till { add(sum: number): void; }");
    expect(names[0].docs).toEqual(["/** A till. */", "/** Adds. */"]);
  });

  it("knows which names have a doc comment of their own", () => {
    const [{ names }] = surface({
      "index.d.ts": `/** Said. */\nexport interface A {}\nexport interface B { /** only inside */ x: number }\nexport declare function c(): void;\n/** Said once. */\nexport declare function c(x: number): void;`,
    });
    expect(names.map(({ name, documented }) => [name, documented])).toEqual([
      ["A", true],
      ["B", false],
      ["c", true],
    ]);
  });

  it("names what comes from other packages instead of repeating it", () => {
    const surfaces = surface({
      "index.d.ts": `export * from "@lotse/client";\nexport { type Duration, parseDuration } from "@lotse/client/meta";`,
    });
    expect(reportOf("shop", surfaces)).toContain(
      "0 names. Everything of `@lotse/client`. Of `@lotse/client/meta`: `Duration`, `parseDuration`.",
    );
  });

  it("has the members that a class inherits from one that is not exported", () => {
    const [{ names }] = surface({
      "index.d.ts": `export { Shop } from "./shop.ts";`,
      "shop.d.ts": `import { Doors } from "./doors.ts";\n/** A shop. */\nexport declare class Shop extends Doors<number> {}`,
      "doors.d.ts": `export declare class Doors<T> {\n  /** Opens. */\n  open(at: T): void;\n}`,
    });
    expect(names.map(({ name, documented }) => [name, documented])).toEqual([
      ["Doors", true],
      ["Shop", true],
    ]);
    expect(names[0].text).toContain("// not exported by its name\nclass Doors<T>");
    expect(names[0].docs).toEqual(["/** Opens. */"]);
  });
});
