import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { findImports } from "./imports.mjs";
import { checkLayers, tell } from "./layers.mjs";
import { isTest } from "./workspace.mjs";

const trees = [];
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

const manifests = {
  "package.json": { devDependencies: { vitest: "1", zod: "1" } },
  "packages/client/package.json": {
    name: "@lotse/client",
    exports: {
      ".": { "@lotse/source": "./src/index.ts", default: "./dist/index.js" },
      "./meta": { "@lotse/source": "./src/meta/index.ts", default: "./dist/meta.js" },
    },
    dependencies: { "js-yaml": "1" },
  },
  "packages/cluster/package.json": {
    name: "@lotse/cluster",
    exports: { ".": { "@lotse/source": "./src/index.ts", default: "./dist/index.js" } },
    dependencies: { "@lotse/client": "1" },
  },
  "packages/lotse/package.json": {
    name: "lotse",
    exports: { ".": { "@lotse/source": "./src/index.ts", default: "./dist/index.js" } },
    dependencies: { "@lotse/client": "1" },
    peerDependencies: { "@lotse/cluster": "1" },
    peerDependenciesMeta: { "@lotse/cluster": { optional: true } },
  },
};

/** A README that has a row for each room of a package. */
function readmeOf(name, sources) {
  const rooms = Object.keys(sources).flatMap((file) => {
    const [, pkg, , room, ...rest] = file.split("/");
    return pkg === name && rest.length > 0 && !isTest(file) ? [room] : [];
  });
  return `# ${name}\n\n## Rooms\n\n| folder | question |\n| --- | --- |\n${[...new Set(rooms)].map((room) => `| \`${room}/\` | what? |\n`).join("")}`;
}

/** Checks a small repository with these sources; gives one line for each violation. */
function check(sources, rules = { rooms: {} }) {
  const base = mkdtempSync(path.join(os.tmpdir(), "lotse-layers-"));
  trees.push(base);
  const write = (file, text) => {
    mkdirSync(path.dirname(path.join(base, file)), { recursive: true });
    writeFileSync(path.join(base, file), text);
  };
  for (const [file, manifest] of Object.entries(manifests)) write(file, JSON.stringify(manifest));
  for (const [file, text] of Object.entries(sources)) write(file, text);
  for (const name of ["client", "cluster", "lotse"]) {
    if (!(`packages/${name}/README.md` in sources)) write(`packages/${name}/README.md`, readmeOf(name, sources));
  }
  return checkLayers(base, rules).violations.map(tell);
}

describe("layering", () => {
  it("accepts imports down the packages, through doors, inside a room and of declared dependencies", () => {
    const violations = check({
      "packages/client/src/index.ts": `export * from "./meta/index.ts";\nexport * from "./objects/index.ts";`,
      "packages/client/src/meta/index.ts": `export * from "./deep/thing.ts";`,
      "packages/client/src/meta/deep/thing.ts": "export const thing = 1;",
      "packages/client/src/objects/index.ts": `import { thing } from "../meta/index.ts";\nimport { load } from "js-yaml";\nimport fs from "node:fs";`,
      "packages/client/src/objects/a.test.ts": `import { it } from "vitest";\nimport { z } from "zod";`,
      "packages/cluster/src/store/index.ts": `import { thing } from "@lotse/client/meta";\nimport type { Pod } from "@lotse/client";`,
      "packages/cluster/src/store/disk-log.ts": `import fs from "node:fs";`,
      "packages/lotse/src/cli/dev.ts": `const { Cluster } = await import("@lotse/cluster");\nimport type { Cluster as C } from "@lotse/cluster";`,
      "examples/rates/operator.ts": `import { Operator } from "lotse";\nimport { z } from "zod";`,
    });
    expect(violations).toEqual([]);
  });

  it("refuses an import up the list of packages", () => {
    const [violation, ...rest] = check({
      "packages/cluster/src/api/index.ts": `\nimport { Operator } from "lotse";`,
    });
    expect(violation).toContain(`packages/cluster/src/api/index.ts:2: "lotse" is above @lotse/cluster`);
    expect(rest).toEqual([]);
  });

  it("refuses to go past the door of another room, and names the door", () => {
    const [violation] = check({
      "packages/client/src/meta/index.ts": "",
      "packages/client/src/objects/verbs/create.ts": `export { clock } from "../../meta/clock.ts";`,
    });
    expect(violation).toBe(
      `packages/client/src/objects/verbs/create.ts:1: "../../meta/clock.ts" goes past the door of meta\n` +
        `    → import "../../meta/index.ts", and export there what is needed`,
    );
  });

  it("refuses to go past a room's door from an entry point and from a test", () => {
    const violations = check({
      "packages/client/src/index.ts": `export * from "./meta/clock.ts";`,
      "packages/client/src/objects/a.test.ts": `import { x } from "../meta/clock.ts";`,
    });
    expect(violations).toHaveLength(2);
    expect(violations.every((line) => line.includes("past the door of meta"))).toBe(true);
  });

  it("refuses to go past the door of a folder inside the same room", () => {
    const violations = check({
      "packages/cluster/src/registry/schema/index.ts": "",
      "packages/cluster/src/registry/schema/prune.ts": "",
      "packages/cluster/src/registry/create.ts": `import { prune } from "./schema/prune.ts";`,
      "packages/cluster/src/registry/update.ts": `import { prune } from "./schema/index.ts";`,
    });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("registry/create.ts:1");
    expect(violations[0]).toContain(`import "./schema/index.ts"`);
  });

  it("refuses a room that imports its package's entry point", () => {
    const violations = check({
      "packages/client/src/index.ts": "",
      "packages/client/src/objects/index.ts": `import { Client } from "../index.ts";`,
    });
    expect(violations[0]).toContain("is an entry point of @lotse/client");
  });

  it("refuses a relative path out of the package", () => {
    const [violation] = check({
      "packages/cluster/src/api/index.ts": `import { Pod } from "../../../client/src/index.ts";`,
    });
    expect(violation).toContain("leaves the package");
  });

  it("refuses a dependency that the package does not declare, outside of tests", () => {
    const violations = check({
      "packages/cluster/src/api/index.ts": `import { z } from "zod";`,
      "packages/cluster/src/api/a.test.ts": `import { z } from "zod";`,
    });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(`api/index.ts:1: "zod" is not declared by @lotse/cluster`);
  });

  it("refuses a deep path beyond another package's exports", () => {
    const [violation] = check({
      "packages/cluster/src/api/index.ts": `import { x } from "@lotse/client/src/meta/clock.ts";`,
    });
    expect(violation).toContain("is not exported by @lotse/client");
    expect(violation).toContain("it has @lotse/client, @lotse/client/meta");
  });

  it("refuses a static import of an optional peer", () => {
    const [violation, ...rest] = check({
      "packages/lotse/src/cli/dev.ts": `import { Cluster } from "@lotse/cluster";`,
    });
    expect(violation).toContain("optional peer");
    expect(violation).toContain(`await import("@lotse/cluster")`);
    expect(rest).toEqual([]);
  });

  it("refuses a package that imports itself by name", () => {
    const [violation] = check({
      "packages/client/src/objects/index.ts": `import { x } from "@lotse/client/meta";`,
    });
    expect(violation).toContain("is the package itself");
  });

  it.each(["node:fs", "fs/promises"])("refuses %s in a room that is free of node:", (specifier) => {
    const [violation] = check({ "packages/cluster/src/registry/index.ts": `import x from "${specifier}";` });
    expect(violation).toContain(`"${specifier}" in the room registry, which is free of node:`);
  });

  it("refuses values of an entry that needs node: in a room that is free of it", () => {
    const violations = check({
      "packages/cluster/src/store/index.ts": `import { Pod } from "@lotse/client";`,
      "packages/cluster/src/api/index.ts": `import { Pod } from "@lotse/client";`,
    });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("the room store is free of it");
  });

  const lotse = { rooms: { lotse: ["report", "queue", "turn", "."], "lotse:turn": ["storage", "."] } };

  it("refuses an import up the order of rooms, also of types alone", () => {
    const violations = check(
      {
        "packages/lotse/src/turn/index.ts": `import { a } from "../queue/index.ts";`,
        "packages/lotse/src/queue/index.ts": `import { b } from "../report/index.ts";`,
        "packages/lotse/src/report/index.ts": "",
        "packages/lotse/src/report/log.ts": `\nimport type { Turn } from "../turn/index.ts";`,
      },
      lotse,
    );
    expect(violations.filter((line) => line.includes("is above"))).toEqual([
      `packages/lotse/src/report/log.ts:2: "../turn/index.ts": turn is above report\n` +
        "    → imports point down only: . > turn > queue > report; move what both need into the lower one",
    ]);
  });

  it("refuses a room that has no place in the order, once", () => {
    const violations = check(
      {
        "packages/lotse/src/attic/index.ts": `import { a } from "../queue/index.ts";\nimport { b } from "../report/index.ts";`,
        "packages/lotse/src/queue/index.ts": "",
        "packages/lotse/src/report/index.ts": "",
      },
      lotse,
    );
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("the room attic has no place in the order of rooms");
  });

  it("holds rooms inside a room to an order of their own", () => {
    const violations = check(
      {
        "packages/lotse/src/turn/index.ts": `import { a } from "./storage/index.ts";`,
        "packages/lotse/src/turn/decide.ts": "",
        "packages/lotse/src/turn/storage/index.ts": `import type { Decision } from "../decide.ts";`,
      },
      lotse,
    );
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("turn/storage/index.ts:1");
    expect(violations[0]).toContain(". is above storage");
  });

  it("lets files beside the rooms and the entry points use all of them", () => {
    const violations = check(
      {
        "packages/lotse/src/index.ts": `export * from "./turn/index.ts";\nexport * from "./start.ts";`,
        "packages/lotse/src/start.ts": `import { a } from "./queue/index.ts";`,
        "packages/lotse/src/turn/index.ts": "",
        "packages/lotse/src/queue/index.ts": "",
      },
      lotse,
    );
    expect(violations).toEqual([]);
  });

  it("refuses an import that the plan forbids, accepts what is on the list, and tells when that is no longer needed", () => {
    const sources = {
      "packages/lotse/src/turn/index.ts": `import { a } from "../queue/index.ts";`,
      "packages/lotse/src/queue/index.ts": "",
    };
    const forbidden = { ...lotse, forbiddenImports: { lotse: ["turn → queue"] } };
    expect(check(sources, forbidden)[0]).toContain("turn knows nothing of queue");
    expect(check(sources, { ...forbidden, acceptedImports: { lotse: ["turn → queue"] } })).toEqual([]);
    expect(check(sources, { ...lotse, acceptedImports: { lotse: ["turn → queue"] } })[0]).toContain(
      "nothing imports turn → queue any more",
    );
  });

  it("refuses files that import each other, by types too, and tells a shortest way around", () => {
    const violations = check({
      "packages/client/src/meta/index.ts": `export { a } from "./a.ts";`,
      "packages/client/src/meta/a.ts": `import { b } from "./b.ts";\nimport type { C } from "./c.ts";`,
      "packages/client/src/meta/b.ts": `import { c } from "./c.ts";`,
      "packages/client/src/meta/c.ts": `\nimport type { A } from "./a.ts";`,
    });
    expect(violations).toEqual([
      "packages/client/src/meta/a.ts:2: files of @lotse/client import each other: meta/a.ts → meta/c.ts → meta/a.ts (3 files in all)\n" +
        `    → cut one of packages/client/src/meta/a.ts:2 ("./c.ts"), packages/client/src/meta/c.ts:2 ("./a.ts")`,
    ]);
  });

  it("accepts a circle in a folder that is on the list, and fails when there is none any more", () => {
    const circle = {
      "packages/client/src/meta/a.ts": `import "./b.ts";`,
      "packages/client/src/meta/b.ts": `import "./a.ts";`,
    };
    const rules = { rooms: {}, acceptedCycles: { "@lotse/client": ["meta"] } };
    expect(check(circle, rules)).toEqual([]);
    const [violation] = check({ "packages/client/src/meta/a.ts": "" }, rules);
    expect(violation).toContain("no files of @lotse/client import each other in meta any more");
  });

  it("does not count what tests import as a circle", () => {
    const violations = check({
      "packages/client/src/meta/a.ts": "",
      "packages/client/src/meta/a.test.ts": `import "./a.ts";\nimport "./test-help.ts";`,
      "packages/client/src/meta/test-help.ts": `import "./a.test.ts";`,
    });
    expect(violations).toEqual([]);
  });

  it("holds the table of rooms in a README against the folders", () => {
    const violations = check({
      "packages/client/README.md":
        "# client\n\n## Rooms\n\n| `meta/` | pure |\n| `attic/` | old |\n\n## More\n\n| `else/` | no |\n",
      "packages/client/src/meta/index.ts": "",
      "packages/client/src/pods/index.ts": "",
      "packages/client/src/fixtures/index.ts": "",
    });
    expect(violations).toHaveLength(2);
    expect(violations[0]).toContain("packages/client/README.md:3: the table of rooms has no row for src/pods");
    expect(violations[1]).toContain("packages/client/README.md:6: there is no room src/attic");
  });

  it("lets a test use a room that its own room must not", () => {
    const violations = check({
      "packages/lotse/src/queue/index.ts": `import { a } from "../turn/index.ts";`,
      "packages/lotse/src/turn/index.ts": "",
      "packages/lotse/src/turn/a.test.ts": `import { c } from "../queue/index.ts";`,
    });
    expect(violations).toEqual([]);
  });

  it("lets a test use the helpers of another room's tests, and nobody else", () => {
    const violations = check({
      "packages/client/src/transport/index.ts": "",
      "packages/client/src/transport/test-server.ts": `import { vi } from "vitest";`,
      "packages/client/src/objects/a.test.ts": `import { server } from "../transport/test-server.ts";`,
      "packages/client/src/transport/agent.ts": `import { server } from "./test-server.ts";`,
    });
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain("transport/agent.ts:1");
    expect(violations[0]).toContain("is for tests");
  });

  it("refuses examples and tests that reach into a package", () => {
    const violations = check({
      "tests/real/a.test.ts": `import { x } from "../../packages/client/src/index.ts";`,
      "examples/rates/operator.ts": `import { x } from "@lotse/client/dist/index.js";`,
    });
    expect(violations).toHaveLength(2);
    expect(violations.join("\n")).toContain("reaches into a package");
    expect(violations.join("\n")).toContain("is not exported by @lotse/client");
  });
});

describe("findImports", () => {
  const specifiers = (text) => findImports(text).map((found) => found.specifier);

  it("finds every form of import with its line", () => {
    const text = `import a from "a";\nimport "b";\nexport * from 'c';\nexport {\n  d,\n} from "d";\nconst e = await import("e");\ntype F = import("f").F;\n`;
    expect(findImports(text)).toEqual([
      { specifier: "a", line: 1, type: false, dynamic: false },
      { specifier: "b", line: 2, type: false, dynamic: false },
      { specifier: "c", line: 3, type: false, dynamic: false },
      { specifier: "d", line: 6, type: false, dynamic: false },
      { specifier: "e", line: 7, type: false, dynamic: true },
      { specifier: "f", line: 8, type: true, dynamic: false },
    ]);
  });

  it.each([
    [`import type { A } from "x"`, true],
    [`import type A from "x"`, true],
    [`import { type A, type B } from "x"`, true],
    [`import { type A, b } from "x"`, false],
    [`import type, { a } from "x"`, false],
    [`import type from "x"`, false],
    [`export type * from "x"`, true],
    [`export type { A } from "x"`, true],
    [`import {} from "x"`, false],
    [`const m: typeof import("x") = y`, true],
    [`(await import("x")).default`, false],
    [`import("x").then((m) => m)`, false],
  ])("knows whether %s is erased", (text, type) => {
    expect(findImports(text)).toMatchObject([{ specifier: "x", type }]);
  });

  it("is not misled by comments, strings, templates and regular expressions", () => {
    const text = [
      `// import "no1"`,
      `/* import a from "no2" */`,
      `const s = 'import a from "no3"';`,
      'const t = `import "no4" \u0024{inner(`from "no5"`, { a: { b: 1 } })} from "no6"`;',
      `const r = /['"\`]from "no7"/.test(x) ? 1 / 2 : 3 / 4;`,
      `const q = [/[/"']/, a / b];`,
      `loader.import("no8");`,
      `import yes from "yes";`,
    ].join("\n");
    expect(specifiers(text)).toEqual(["yes"]);
  });

  it("finds an import inside a template's expression", () => {
    expect(specifiers('const t = `\u0024{(await import("x")).y}`;')).toEqual(["x"]);
  });
});
