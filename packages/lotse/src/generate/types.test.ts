import { spawnSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { TestProject } from "../cli/terminal/test-project.ts";
import { resource } from "../declare/index.ts";
import { type TypesInput, typesModule } from "./types.ts";

const definition = (
  kind: string,
  properties: object,
  more: Partial<Omit<TypesInput, "names">> & { names?: object; required?: string[]; description?: string } = {},
): TypesInput => {
  const { names, required, description, ...rest } = more;
  const openAPIV3Schema = { type: "object", properties, required, description };
  return {
    group: "ships.example.com",
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), ...names },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } }],
    ...rest,
  };
};

const text = { type: "string" };

/** Everything that a schema can say. */
const SHIP = definition(
  "Ship",
  {
    apiVersion: text,
    kind: text,
    metadata: { type: "object" },
    spec: {
      type: "object",
      description: "What the ship shall be.\nTwo lines, with */ in them.",
      required: ["name", "flag", "crew"],
      properties: {
        name: { ...text, description: "As painted on the bow.", minLength: 1 },
        flag: { ...text, enum: ["de", "nl", 'with "quotes"'] },
        size: { type: "integer", enum: [1, 2], default: 1 },
        port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        draught: { type: "number", nullable: true },
        afloat: { type: "boolean" },
        crew: {
          type: "array",
          items: { type: "object", required: ["name"], properties: { name: text, "pay/day": { type: "integer" } } },
        },
        flags: { type: "array", items: { ...text, enum: ["a", "b"] } },
        ports: { type: "array", items: { "x-kubernetes-int-or-string": true } },
        labels: { type: "object", additionalProperties: text },
        holds: {
          type: "object",
          additionalProperties: { type: "object", properties: { tons: { type: "number" } } },
        },
        anything: { "x-kubernetes-preserve-unknown-fields": true },
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        half: { type: "object", properties: { known: text }, "x-kubernetes-preserve-unknown-fields": true },
        empty: { type: "object" },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        "kebab-case": text,
        "2nd": { type: "object", properties: { x: text } },
        default: text,
        grid: { type: "array", items: { type: "array", items: { type: "number", nullable: true } } },
      },
    },
    status: {
      type: "object",
      required: ["phase"],
      properties: {
        phase: text,
        conditions: {
          type: "array",
          items: { type: "object", required: ["type"], properties: { type: text, status: text } },
        },
      },
    },
  },
  { required: ["spec"], description: "A vessel.", names: { shortNames: ["sh"], categories: ["all"] } },
);

/** A cluster's kind, without a status, with data beside spec, and in several versions. */
const HARBOUR = definition(
  "Harbour",
  {},
  {
    scope: "Cluster",
    versions: [
      { name: "v1alpha1", served: false, storage: false },
      {
        name: "v1beta1",
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: "object", properties: { old: text } } },
      },
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["data"],
            properties: { data: { type: "object", additionalProperties: { type: "integer" } } },
          },
        },
        subresources: { scale: {} },
      },
    ],
  },
);

/** Takes the name of an interface that another kind would have. */
const SHIP_SPEC = definition("ShipSpec", { spec: { type: "object", properties: { body: text } } });

/** The same name in another group. */
const OTHER_SHIP = definition(
  "Ship",
  { spec: { type: "object", properties: { stars: { type: "integer" } } } },
  { group: "space.example.com" },
);

/** From zod to a CRD and back. */
const OWN = resource({
  group: "rates.example.com",
  version: "v1",
  kind: "ExchangeRate",
  spec: z.object({
    currency: z.string(),
    sources: z.array(z.object({ url: z.string(), weight: z.number().default(1) })),
  }),
  status: z.object({ rate: z.number().optional() }),
}).crd().spec as TypesInput;

describe("the types of a foreign kind", () => {
  const ship = typesModule([SHIP]);

  it.each([
    ["a description", "  /** As painted on the bow. */\n  name: string;"],
    [
      "several lines, none of which ends the comment",
      "/**\n * What the ship shall be.\n * Two lines, with *\\/ in them.\n */\nexport interface ShipSpec {",
    ],
    ["an enum", '  flag: "de" | "nl" | "with \\"quotes\\"";'],
    ["numbers as an enum, and a default", "  /** @default 1 */\n  size?: 1 | 2;"],
    ["a number or a text", "  port?: number | string;"],
    ["what may be null", "  draught?: number | null;"],
    ["a list of objects", "  crew: ShipSpecCrewItem[];"],
    ["a list of an enum", '  flags?: ("a" | "b")[];'],
    ["a list of either", "  ports?: (number | string)[];"],
    ["a list of lists", "  grid?: (number | null)[][];"],
    ["a map", "  labels?: Record<string, string>;"],
    ["a map of objects", "  holds?: Record<string, ShipSpecHoldsValue>;"],
    ["anything", "  anything?: unknown;"],
    ["an object of anything", "  open?: Record<string, unknown>;"],
    [
      "an object that keeps more than is known",
      "export interface ShipSpecHalf {\n  known?: string;\n  [field: string]: unknown;\n}",
    ],
    ["an object that keeps nothing", "  empty?: Record<string, never>;"],
    ["another object", "  template?: KubeBody;"],
    ["a field whose name needs quotes", '  "kebab-case"?: string;'],
    ["a field that begins with a digit", '  "2nd"?: ShipSpec_2nd;'],
    ["a reserved word", "  default?: string;"],
    ["a field with a slash", '  "pay/day"?: number;'],
    ["a status that is there or not", "  spec: ShipSpec;\n  status?: ShipStatus;\n}"],
  ])("tell of %s", (_what, code) => expect(ship).toContain(code));

  it("come with a class for handlers", () => {
    expect(ship).toContain(`/** A vessel. */
export class Ship extends defineKind<ShipBody>({
  group: "ships.example.com",
  version: "v1",
  kind: "Ship",
  plural: "ships",
  namespaced: true,
  shortNames: ["sh"],
  categories: ["all"],
  subresources: ["status"],
}) {}`);
  });

  it("are those of the version that is stored, unless another is asked for", () => {
    expect(typesModule([HARBOUR])).toContain("  data: Record<string, number>;");
    expect(typesModule([HARBOUR])).toContain('  namespaced: false,\n  subresources: ["scale"],');
    expect(typesModule([HARBOUR], "v1beta1")).toContain("  old?: string;");
    expect(() => typesModule([HARBOUR], "v1alpha1")).toThrow("Harbour has no version v1alpha1");
    expect(() => typesModule([{ ...HARBOUR, versions: [] }])).toThrow("no version of Harbour is served");
  });

  it("have names of their own, whatever kinds are called", () => {
    const both = typesModule([SHIP, SHIP_SPEC, OTHER_SHIP]);
    const names = [...both.matchAll(/^export (?:interface|class) (\w+)/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["Ship", "ShipSpec", "SpaceShip", "ShipSpec2"]));
  });

  it("are the same each time", () => expect(typesModule([SHIP, HARBOUR])).toBe(typesModule([SHIP, HARBOUR])));
});

describe("the compiler", () => {
  let project: TestProject;

  beforeAll(() => {
    project = new TestProject();
  }, 300_000);

  afterAll(() => project.remove());

  it("accepts them, and knows in a handler what the definition says", { timeout: 300_000 }, () => {
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      target: "es2023",
      lib: ["es2023", "esnext.disposable", "dom"],
      module: "nodenext",
      types: ["node"],
    };
    project.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    project.write("types.ts", typesModule([SHIP, HARBOUR, SHIP_SPEC, OTHER_SHIP, OWN]));
    project.write(
      "operator.ts",
      `import { Operator } from "lotse";
import { ExchangeRate, Harbour, Ship, type ShipBody } from "./types.ts";

const operator = new Operator({ name: "harbour" });

operator.on.create(Ship, async ({ spec, status, patch, object, client }) => {
  const flag: "de" | "nl" | 'with "quotes"' = spec.flag;
  const port: number | string | undefined = spec.port;
  const first: string | undefined = spec.crew[0]?.name;
  const pay: number | undefined = spec.crew[0]?.["pay/day"];
  const tons: number | undefined = spec.holds?.fore?.tons;
  const nothing: number | null | undefined = spec.draught;
  patch.status.phase = status.phase ?? "new";
  const body: ShipBody = object.body;
  // @ts-expect-error there is no such field
  spec.sails;
  // @ts-expect-error a text is no flag
  const wrong: "fr" = spec.flag;
  // @ts-expect-error the phase is a text
  patch.status.phase = 1;
  // @ts-expect-error anything has to be looked at first
  spec.anything.more;
  const other = await client.get(Ship, "other");
  return [flag, port, first, pay, tons, nothing, body.spec.name, wrong, other.spec.name];
});

operator.on.update(Harbour, ({ body }) => {
  const tide: number | undefined = body.data.tide;
  // @ts-expect-error a number is no text
  const word: string = body.data.tide;
  return [tide, word];
});

operator.timer(ExchangeRate, { interval: "1h" }, ({ spec }) => spec.sources.map(({ url, weight = 1 }) => [url, weight]));

export default operator;
`,
    );
    const tsc = path.join(project.folder, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project.folder], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });
});
