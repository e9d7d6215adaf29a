// What somebody gets from the registry, and sees there: told by npm itself, which decides what it packs.
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { links } from "./docs/markdown.mjs";
import { capture, npm } from "./process.mjs";
import { readPackages, root } from "./workspace.mjs";

const packages = readPackages();
let tarballs;

/** What a script would have to build first is not looked at: scripts/stranger.mjs does. */
beforeAll(async () => {
  const folders = packages.map(({ folder }) => `./packages/${folder}`);
  const [command, args, options] = npm(["pack", "--dry-run", "--json", "--ignore-scripts", ...folders]);
  const { stdout, stderr, exitCode } = await capture(command, args, { cwd: root, ...options });
  expect(exitCode, stderr).toBe(0);
  // Before npm 11 a list, later an object by package name.
  tarballs = Object.values(JSON.parse(stdout));
});

describe.each(packages.map((pkg) => [pkg.name, pkg]))("the package %s", (name, pkg) => {
  let files;

  beforeAll(() => {
    const tarball = tarballs.find((one) => one.name === name);
    files = tarball.files.map((file) => file.path);
  });

  it("has a README and the licence of the repository", () => {
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(readFileSync(path.join(pkg.dir, "LICENSE"), "utf8")).toBe(readFileSync(path.join(root, "LICENSE"), "utf8"));
  });

  it("is built before it is packed, declarations included, whoever packs it", () => {
    expect(pkg.manifest.scripts?.prepack).toBe("node ../../scripts/prepack.mjs");
    expect(pkg.manifest.files).toContain("dist");
    for (const target of Object.values(pkg.manifest.exports)) {
      if (typeof target === "object") expect(target.types).toMatch(/^\.\/dist\/.*\.d\.ts$/);
    }
  });

  it("has links in its README that work on the registry: to other sites, or to files that it brings", () => {
    const targets = links(readFileSync(path.join(pkg.dir, "README.md"), "utf8")).map((target) =>
      path.normalize(target),
    );
    expect(targets.filter((target) => !files.includes(target))).toEqual([]);
  });
});
