/** `lotse check` on operators in a folder of this repository, where TypeScript and the packages are found. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { type Client, CustomResourceDefinition, defineKind, type KubeBody, Namespace } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { rememberedCode, testIo } from "../terminal/test-io.ts";
import { TestProject } from "../terminal/test-project.ts";
import type { Definition } from "./against.ts";

/** Each call asks the compiler, and several of them take long on a machine that has other things to do. */
const PATIENT = { timeout: 300_000 };

let project: TestProject;
let cwd: string;
const code = rememberedCode();

beforeEach(() => {
  project = new TestProject();
  cwd = project.folder;
}, 300_000);

afterEach(() => project.remove());

const write = (name: string, text: string) => project.write(name, text);

async function check(...argv: string[]) {
  const io = testIo({ cwd, env: { HOME: cwd, ...(process.env.PATH && { PATH: process.env.PATH }) }, code });
  const exitCode = await main(["check", ...argv], io);
  return { code: exitCode, out: io.out().replaceAll(cwd, "PROJECT"), err: io.err().replaceAll(cwd, "PROJECT") };
}

/** An operator of one kind, in JavaScript: types are not what it is about. */
const operator = (spec: string) => `
import { Operator, resource } from "lotse";
import { z } from "zod";
export const Rate = resource({
  group: "rates.example.com", version: "v1", kind: "Rate",
  spec: ${spec},
  status: z.object({ rate: z.number().optional() }),
});
const operator = new Operator({ name: "rates" });
operator.on.create(Rate, function publish() {});
export default operator;
`;

const GOOD = "z.object({ currency: z.string().max(3), note: z.string().optional() })";

describe("schemas", PATIENT, () => {
  it("tells what no API server checks, with the line and the field", async () => {
    write(
      "operator.js",
      operator(
        `z.object({
    port: z.union([z.string(), z.number()]),
    name: z.string().refine((name) => name !== "root"),
    tags: z.array(z.object({ key: z.string().trim() })).optional(),
  })`,
      ),
    );
    const { code, out } = await check("operator.js", "--no-cluster", "-o", "json");
    expect(code).toBe(0);
    const { warnings, findings } = JSON.parse(out) as { warnings: number; findings: Record<string, string>[] };
    expect(warnings).toBe(3);
    const told = findings.map(({ level, check: of, place, message }) => [level, of, place, message]);
    expect(told.map(([level, of, place]) => [level, of, place?.replace(/^.*operator.js/, "operator.js")])).toEqual([
      ["warning", "definitions", "operator.js:4 Rate v1 spec.port"],
      ["warning", "definitions", "operator.js:4 Rate v1 spec.name"],
      ["warning", "definitions", "operator.js:4 Rate v1 spec.tags[].key"],
    ]);
    expect(told.map(([, , , message]) => message)).toEqual([
      "it is string or number, which a CRD cannot say: anything is taken",
      ".refine(…): the server cannot call a function",
      expect.stringContaining("the value stays as it is stored"),
    ]);
  });

  it("tells that a value cannot be changed on its way", async () => {
    write("operator.js", operator("z.object({ size: z.string().transform(Number) })"));
    const { code, out } = await check("operator.js", "--no-cluster");
    expect(code).toBe(1);
    expect(out).toMatch(/spec\.size of Rate has \.transform\(…\), which nobody would ever call.*operator\.js:4/);
    expect(out).toContain("change it where it is used");
  });
});

describe("types", PATIENT, () => {
  it("finds a field that does not exist, where it stands", async () => {
    // Typed by zod alone: to compile the framework's own sources along takes a while.
    const file = `
import { z } from "zod";
const Spec = z.object({ currency: z.string() });
export const rateOf = (spec: z.infer<typeof Spec>) => spec.currncy.length;
export default { [Symbol.for("lotse.Operator")]: true, name: "rates", resources: [{ resource: "pods", handlers: [] }] };
`;
    write("operator.ts", file);
    const { code, out, err } = await check("operator.ts", "--no-cluster");
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.replace(/TypeScript [\d.]+/, "TypeScript")).toBe(
      "error    operator.ts:4:60: Property 'currncy' does not exist on type '{ currency: string; }'. Did you mean 'currency'? (TS2551)\n" +
        "checked types (TypeScript): 1 error, 0 warnings\n",
    );
    write("operator.ts", file.replace("currncy", "currency"));
    expect(await check("operator.ts", "--no-cluster")).toMatchObject({ code: 0 });
    expect(readdirSync(path.join(cwd, ".lotse"))).toEqual([".gitignore"]);
  });

  it("tells both when a file neither compiles nor loads", async () => {
    write("operator.ts", "export const rate: number = 'one';\n");
    const { code, out } = await check("operator.ts", "--no-cluster", "-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      errors: 2,
      warnings: 0,
      findings: [
        { check: "types", level: "error", place: "operator.ts:1:14" },
        { check: "load", level: "error", message: "operator.ts exports no operator: it exports rate" },
      ],
    });
  });
});

describe("handlers", PATIENT, () => {
  it("an operator that declares nothing is warned of, and does not fail", async () => {
    write(
      "operator.js",
      'export default { [Symbol.for("lotse.Operator")]: true, name: "idle", resources: [], activities: [] };',
    );
    expect(await check("operator.js", "--no-cluster")).toEqual({
      code: 0,
      err: "",
      out:
        "warning  operator.js (idle): the operator has no handlers, so it will never do anything → declare one, or import the file that does: operator.on.create(Kind, function name() {})\n" +
        "checked nothing: 0 errors, 1 warning\n",
    });
  });
});

describe("definitions", PATIENT, () => {
  it("with rules that no server would take are told with the server's words and the line of the rule", async () => {
    write(
      "operator.js",
      `
import { Operator, listMap, resource, rule } from "lotse";
import { z } from "zod";
const range = rule(
  z.object({ min: z.int(), max: z.int(), tags: z.array(z.string()) }),
  "self.min <= self.maxx",
  "min must not exceed max",
);
export const Rate = resource({
  group: "rates.example.com", kind: "Rate",
  versions: {
    v1beta1: { spec: z.object({ range, list: z.array(z.string()) }), deprecated: true },
    v1: { spec: z.object({ range, list: listMap(z.array(z.object({ name: z.string().optional() })), ["name"]) }), storage: true },
  },
  convert: { v1beta1: { to: ({ spec }) => ({ spec }), from: ({ spec }) => ({ spec }) } },
  rules: [{ rule: "self.spec.range.tags.all(a, self.spec.range.tags.all(b, a == b))" }],
});
const operator = new Operator({ name: "rates" });
operator.on.create(Rate, function publish() {});
export default operator;
`,
    );
    const { code, out } = await check("operator.js", "--no-cluster", "-o", "json");
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { findings: { level: string; place: string; message: string }[] };
    const told = findings.map(
      ({ level, place, message }) => `${level} ${place.replace(/^lotse-project-\w+\//, "")}: ${message}`,
    );
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^error operator\.js:4 Rate v1beta1 spec\.range\.x-kubernetes-validations\[0\]\.rule: Invalid value: .*undefined field 'maxx'/s,
        ),
        expect.stringMatching(
          /^error operator\.js:9 Rate v1beta1 x-kubernetes-validations\[0\]\.rule: Forbidden: estimated rule cost exceeds budget/,
        ),
      ]),
    );
    expect(told.every((line) => /^error operator\.js:\d+ Rate v1/.test(line))).toBe(true);
  });

  it("are tried out on a server", async () => {
    write(
      "operator.js",
      operator(
        `z.object({ list: z.array(z.string()).meta({ "x-kubernetes-list-type": "map" }), a: z.number().default(1).meta({ "x-kubernetes-validations": [{ rule: "self >" }] }) })`,
      ),
    );
    const { code, out } = await check("operator.js", "--no-cluster");
    expect(code).toBe(1);
    expect(out.replaceAll(/ \S+(operator\.js:\d+)/g, " $1")).toMatchInlineSnapshot(`
      "error    operator.js:4 Rate v1 spec.list.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map
      error    operator.js:4 Rate v1 spec.list[].type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map
      checked requests of handlers, definitions (rates.rates.example.com): 2 errors, 0 warnings
      "
    `);
  });
});

describe("compatibility", PATIENT, () => {
  it("with a manifest: what is refused, lost, altered, and lost in a rollback", async () => {
    write("old.js", operator(GOOD));
    write(
      "operator.js",
      operator("z.object({ currency: z.string().max(2), amount: z.number(), kind: z.enum(['a']).default('a') })"),
    );
    const { out: yaml } = await generate("old.js");
    write("old.yaml", yaml);
    const told = await check("operator.js", "--no-cluster", "--against", "old.yaml");
    expect(told.out).toMatchInlineSnapshot(`
      "error    Rate v1 spec.amount: is new and required → give it a default, or leave it optional
      error    Rate v1 spec.currency: must have at most 2 characters, was 3 → keep what was allowed, or mend the stored objects first
      error    Rate v1 spec.note: is gone, and the server drops it → keep it in the schema as long as objects have it
      note     Rate v1 spec.amount: is new; a rollback drops it
      note     Rate v1 spec.kind: is new; a rollback drops it
      checked requests of handlers, definitions (rates.rates.example.com), compatibility with old.yaml: 3 errors, 0 warnings
      "
    `);
    expect(told.code).toBe(1);
    write("moved.js", operator(GOOD).replace("rates.example.com", "money.example.com"));
    expect((await check("moved.js", "--no-cluster", "--against", "old.yaml")).out.split("\n").slice(0, 2)).toEqual([
      "warning  rates.rates.example.com: is in old.yaml, and not declared any more: its objects are left alone → keep its group and plural, or move the objects to the new kind",
      "note     Rate: is not in old.yaml yet: nothing to compare with",
    ]);
    expect((await check("operator.js", "--no-cluster", "--against", "old.js")).out).toBe(
      told.out.replace("with old.yaml", "with old.js"),
    );
  });

  it("with a git revision, whose index and working tree stay as they are", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
        cwd,
        encoding: "utf8",
      });
    git("init", "--quiet");
    mkdirSync(path.join(cwd, "src"));
    write("src/spec.js", `import { z } from "zod"; export const spec = ${GOOD};`);
    write("src/operator.js", `import { spec } from "./spec.js";${operator("spec")}`);
    git("add", ".");
    git("commit", "--quiet", "-m", "first");
    write("src/spec.js", `import { z } from "zod"; export const spec = z.object({ currency: z.string().max(3) });`);
    const before = git("status", "--porcelain");
    const { code, out } = await check("src/operator.js", "--no-cluster", "--against", "git:HEAD");
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      "error    Rate v1 spec.note: is gone, and the server drops it → keep it in the schema as long as objects have it
      checked requests of handlers, definitions (rates.rates.example.com), compatibility with git revision HEAD: 1 error, 0 warnings
      "
    `);
    expect(git("status", "--porcelain")).toBe(before);
    expect(await check("src/operator.js", "--no-cluster", "--against", "git:nowhere")).toMatchObject({
      code: 2,
      err: "Error: there is no revision nowhere\nDo:    name a commit, a tag or a branch: git:main, git:v1.2.0\n",
    });
  });
});

async function generate(file: string) {
  const io = testIo({ cwd });
  const code = await main(["generate", "crd", file], io);
  return { code, out: io.out() };
}

describe("with a cluster", PATIENT, () => {
  let cluster: Cluster;
  let admin: Client;

  beforeAll(async () => {
    cluster = await Cluster.start({ rbac: true, kubelet: false });
    admin = await cluster.connect();
    await admin.create(Namespace.gen({ name: "team-a" }));
  });

  afterAll(async () => {
    await admin.close();
    await cluster.stop();
  });

  const Rate = defineKind<KubeBody & { spec: object }>({ group: "rates.example.com", version: "v1", kind: "Rate" });

  it("looks at what is stored there, and at what one may do", async () => {
    write("old.js", operator(GOOD));
    const { out: yaml } = await generate("old.js");
    write("old.yaml", yaml);
    const { loadAll } = await import("js-yaml");
    const [crd] = loadAll(yaml) as Definition[];
    const made = await admin.create(new CustomResourceDefinition(crd as Definition, admin));
    await made.wait("condition=Established", { timeout: "170s" });
    for (const [name, currency] of [
      ["eur", "EUR"],
      ["long", "EURO"],
      ["usd", "USD"],
    ] as const) {
      const spec = { currency: currency.slice(0, 3), ...(name === "long" && { note: "a long note" }) };
      await admin.create(Rate.gen({ name, namespace: "team-a", spec }));
    }
    write("kubeconfig", JSON.stringify(cluster.kubeconfig));
    write("operator.js", operator("z.object({ currency: z.string().max(3), note: z.string().max(5).optional() })"));
    const args = ["operator.js", "--kubeconfig", "kubeconfig"];
    const plain = await check(...args);
    expect(plain.out.replaceAll(cluster.url, "SERVER")).toMatchInlineSnapshot(`
      "error    Rate v1 spec.note: must have at most 5 characters → keep what was allowed, or mend the stored objects first
      checked requests of handlers, definitions (rates.rates.example.com), compatibility with the cluster at SERVER, permissions of kubernetes-admin: 1 error, 0 warnings
      "
    `);
    expect(plain.code).toBe(1);
    const objects = await check(...args, "--objects");
    expect(objects.out.replaceAll(cluster.url, "SERVER")).toMatchInlineSnapshot(`
      "error    Rate team-a/long: would be refused: spec.note: Too long: may not be more than 5 bytes → mend the object before the release
      error    Rate v1 spec.note: must have at most 5 characters → keep what was allowed, or mend the stored objects first
      checked requests of handlers, definitions (rates.rates.example.com), 3 stored objects, compatibility with the cluster at SERVER, permissions of kubernetes-admin: 2 errors, 0 warnings
      "
    `);
    expect(objects.code).toBe(1);

    await (await admin.get(Rate, "long", { namespace: "team-a" })).delete();
    const mended = await check(...args, "--objects");
    expect(mended.out.replaceAll(cluster.url, "SERVER")).toMatchInlineSnapshot(`
      "warning  Rate v1 spec.note: must have at most 5 characters (none of the 2 stored objects is affected)
      checked requests of handlers, definitions (rates.rates.example.com), 2 stored objects, compatibility with the cluster at SERVER, permissions of kubernetes-admin: 0 errors, 1 warning
      "
    `);
    expect(mended.code).toBe(0);

    write("kubeconfig", JSON.stringify(cluster.kubeconfigFor({ user: "jane" })));
    const jane = await check(...args, "-n", "team-a");
    expect(jane.out.replaceAll(cluster.url, "SERVER")).toMatchInlineSnapshot(`
      "warning  jane: may not create, patch events in team-a
      warning  jane: may not get, list, watch rates.rates.example.com in team-a
      warning  jane: may not patch rates.rates.example.com/status in team-a
      note     Rate: could not be read from the cluster at SERVER: customresourcedefinitions.apiextensions.k8s.io "rates.rates.example.com" is forbidden: User "jane" cannot get resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope
      note     it needs more rules → lotse generate rbac FILE
      checked requests of handlers, definitions (rates.rates.example.com), permissions of jane: 0 errors, 3 warnings
      "
    `);
    expect(jane.code).toBe(0);
  });

  it("does without one that was not asked for, and not without one that was", async () => {
    write("operator.js", operator(GOOD));
    const { code, out } = await check("operator.js");
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "note     no cluster is looked at: no cluster is configured → choose one with --context or --kubeconfig
      checked requests of handlers, definitions (rates.rates.example.com): 0 errors, 0 warnings
      "
    `);
    expect(await check("operator.js", "--context", "staging")).toMatchObject({ code: 1, out: "" });
    expect(await check("operator.js", "--objects", "--no-cluster")).toMatchObject({
      code: 2,
      err: "Error: --objects needs a cluster\nDo:    leave --no-cluster out\n",
    });
  });
});
