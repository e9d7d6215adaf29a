import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DeclarationError } from "../../declare/index.ts";
import { Operator } from "../../operator/index.ts";
import { formatProblem, Problem } from "../terminal/index.ts";
import { loadOperators, resolveFiles } from "./load.ts";
import { ModuleLoader } from "./module-loader.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-load-"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

/** An operator as the framework's brand tells it, so that a fixture needs no package. */
const operatorText = (name: string) =>
  `{ [Symbol.for("lotse.Operator")]: true, name: ${JSON.stringify(name)} } as unknown`;

// Not the native way: the test runner stands in it.
const loader = () => new ModuleLoader({ stripsTypes: false });
const load = (...files: string[]) => loadOperators(files, folder, loader());

async function problemOf(work: () => unknown): Promise<Problem> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    const lines = formatProblem(error).trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(3);
    return error as Problem;
  }
  throw new Error("nothing went wrong");
}

describe("loadOperators", () => {
  it("takes the default export of a TypeScript file", async () => {
    const file = write("operator.ts", `interface A { b: string }\nexport default ${operatorText("one")};`);
    expect(await load(file)).toMatchObject([{ file: "operator.ts", operator: { name: "one" } }]);
  });

  it("takes any exported operator, each once", async () => {
    const file = write(
      "operator.ts",
      `export const a = ${operatorText("a")};\nexport const b = ${operatorText("b")};\nexport default a;`,
    );
    expect((await load(file)).map(({ operator }) => operator.name).sort()).toEqual(["a", "b"]);
  });

  it("understands enums and imports without an extension", async () => {
    write("names.ts", `export enum Name { First = "first" }`);
    const file = write(
      "operator.ts",
      `import { Name } from "./names";\nexport default { [Symbol.for("lotse.Operator")]: true, name: Name.First };`,
    );
    expect(await load(file)).toMatchObject([{ operator: { name: "first" } }]);
  });

  it("understands names that the paths of tsconfig.json explain, also in a file above and with comments", async () => {
    write(
      "tsconfig.json",
      `{
        // Where our own files are.
        "compilerOptions": { "paths": { "@lib/*": ["./src/lib/*"], "#name": ["./src/lib/name.ts"], "@/*": ["./src/*"] }, },
      }`,
    );
    write("src/lib/name.ts", 'export const name = "mapped";');
    write("src/lib/suffix.ts", 'export const suffix = "-too";');
    write("src/more.ts", 'export { suffix } from "@lib/suffix";');
    const file = write(
      "src/operator.ts",
      `import { name } from "#name";\nimport { suffix } from "@/more.ts";
      export default { [Symbol.for("lotse.Operator")]: true, name: name + suffix } as unknown;`,
    );
    expect(await load(file)).toMatchObject([{ operator: { name: "mapped-too" } }]);
  });

  it("names the paths of tsconfig.json when a name that they could explain is not found", async () => {
    write("tsconfig.json", '{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }');
    const file = write("operator.ts", 'import "@lib/nope.ts";\nexport default 1;');
    expect((await problemOf(() => load(file))).todo).toBe(
      'check its spelling and the "paths" of tsconfig.json; if it is a package: npm install @lib/nope.ts',
    );
  });

  it("loads several files, and refuses two operators of the same name", async () => {
    const a = write("a.ts", `export default ${operatorText("a")};`);
    const b = write("b.ts", `export default ${operatorText("b")};`);
    const other = write("other.ts", `export default ${operatorText("a")};`);
    expect((await load(a, b)).map(({ operator }) => operator.name)).toEqual(["a", "b"]);
    const { what } = await problemOf(() => load(a, other));
    expect(what).toBe('two operators are called "a": in a.ts and in other.ts');
  });

  it("sees what was saved since, in imported files too", async () => {
    const file = write(
      "operator.ts",
      `import { name } from "./name.ts";\nexport default { [Symbol.for("lotse.Operator")]: true, name };`,
    );
    const one = loader();
    write("name.ts", `export const name: string = "before";`);
    expect(await loadOperators([file], folder, one)).toMatchObject([{ operator: { name: "before" } }]);
    write("name.ts", `export const name: string = "after";`);
    expect(await loadOperators([file], folder, one)).toMatchObject([{ operator: { name: "after" } }]);
  });

  it("names the place and the compiler's sentence of a file that does not compile", async () => {
    const file = write("operator.ts", "const a: number = 1;\nexport const x = = 3;\n");
    const problem = await problemOf(() => load(file));
    expect(problem).toMatchObject({
      what: "operator.ts does not compile",
      why: "operator.ts:2:17: Unexpected token",
      exitCode: 1,
    });
  });

  it("names the place where a file throws", async () => {
    const file = write("operator.ts", `type A = string;\nthrow new TypeError("no rates today");\n`);
    const problem = await problemOf(() => load(file));
    expect(problem.what).toBe("operator.ts throws while it is loaded");
    expect(problem.why).toMatch(/^TypeError: no rates today \(at operator\.ts:2:\d+\)$/);
  });

  it("tells a wrong declaration in its own words", async () => {
    const broken = {
      load: () => {
        const operator = new Operator({ name: "rates" });
        operator.on.create("pods", function handle() {});
        operator.on.create("pods", function handle() {});
        return Promise.resolve({});
      },
    };
    const problem = await problemOf(() => loadOperators([path.join(folder, "operator.ts")], folder, broken));
    expect(problem.what).toMatch(/^handler id "handle" is used twice for pods/);
    expect(problem.todo).toMatch(/name one of them/);
    expect(problem.cause).toBeInstanceOf(DeclarationError);
  });

  it("says what to install when a package is missing", async () => {
    const file = write("operator.ts", `import { z } from "@scope/not-there/deep";\nexport default z;`);
    const problem = await problemOf(() => load(file));
    expect(problem.what).toBe('operator.ts imports "@scope/not-there/deep", which cannot be found');
    expect(problem.todo).toBe("check its spelling; if it is right: npm install @scope/not-there");
  });

  it("says which import is wrong when a file is missing", async () => {
    const file = write("operator.ts", `import { z } from "./gone.ts";\nexport default z;`);
    expect((await problemOf(() => load(file))).what).toMatch(/imports ".*gone\.ts", which cannot be found$/);
  });

  it("says what to export when a file exports no operator", async () => {
    const file = write("operator.ts", "export const rate: number = 1;");
    const problem = await problemOf(() => load(file));
    expect(problem).toMatchObject({ what: "operator.ts exports no operator", why: "it exports rate" });
    expect(problem.todo).toContain("export default operator");
  });
});

describe("resolveFiles", () => {
  const resolve = (...files: string[]) => resolveFiles(files, folder, "run");

  it("gives absolute paths", () => {
    const file = write("operator.ts", "");
    expect(resolve("operator.ts")).toEqual([file]);
  });

  it("asks for a file when there is none, as wrong usage", async () => {
    const problem = await problemOf(() => resolve());
    expect(problem).toMatchObject({ what: "no file given", exitCode: 2 });
    expect(problem.todo).toContain("lotse run operator.ts");
  });

  it("suggests files with a similar name", async () => {
    write("operator.ts", "");
    write("operator.test.ts", "");
    write("zebra.ts", "");
    const problem = await problemOf(() => resolve("oprator.ts"));
    expect(problem).toMatchObject({
      what: "there is no file oprator.ts",
      todo: "did you mean operator.ts?",
      exitCode: 2,
    });
  });

  it("suggests the same name with another ending, in another folder", async () => {
    write("src/operator.mts", "");
    const problem = await problemOf(() => resolve("src/operator.ts"));
    expect(problem.todo).toBe(`did you mean ${path.join("src", "operator.mts")}?`);
  });

  it("tells what there is when nothing is similar", async () => {
    write("operator.ts", "");
    expect((await problemOf(() => resolve("zzz.ts"))).todo).toBe("that folder has operator.ts");
  });

  it("says when the folder is missing too", async () => {
    expect((await problemOf(() => resolve("no/such.ts"))).why).toBe("there is no folder no either");
  });

  it("does not take a folder, and names a file in it", async () => {
    write("src/operator.ts", "");
    const problem = await problemOf(() => resolve("src"));
    expect(problem).toMatchObject({ what: "src is a folder, not a file", exitCode: 2 });
    expect(problem.todo).toContain(path.join("src", "operator.ts"));
  });

  it("does not take what is no code", async () => {
    write("operator.py", "");
    expect(await problemOf(() => resolve("operator.py"))).toMatchObject({ exitCode: 2 });
  });
});
