/** Kinds whose schemas are written with other libraries than zod: the real ones, as their users write them. */
import { CustomResourceDefinition } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { resource } from "../declare/index.ts";
import { immutable, listMap, rule } from "./helpers.ts";
import { schema } from "./literal.ts";

const common = { group: "libraries.example.com", version: "v1" } as const;

const arkHost = type({ name: "string > 0", "port?": "1 <= number.integer <= 65535" });
const ByArktype = resource({
  ...common,
  kind: "Arkhouse",
  // Helpers around parts of it need a literal: a schema of arktype takes only its own.
  spec: rule(
    schema({
      type: "object",
      properties: {
        owner: immutable(type("string")),
        min: type("number.integer >= 0"),
        max: type("number.integer <= 100"),
        mode: type("'open' | 'closed'"),
        hosts: listMap(arkHost.array(), ["name"]),
        labels: type({ "[string]": "string" }),
      },
      required: ["owner", "min", "max", "mode", "hosts"],
    }),
    "self.min <= self.max",
    "min is at most max",
  ),
  status: type({ "phase?": "string" }),
});

const valibotHost = v.object({
  name: v.pipe(v.string(), v.minLength(1)),
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))),
});
const ByValibot = resource({
  ...common,
  kind: "Valhouse",
  spec: rule(
    toStandardJsonSchema(
      v.object({
        owner: v.string(),
        min: v.pipe(v.number(), v.integer(), v.minValue(0)),
        max: v.pipe(v.number(), v.integer(), v.maxValue(100)),
        mode: v.picklist(["open", "closed"]),
        hosts: v.array(valibotHost),
        labels: v.optional(v.record(v.string(), v.string())),
      }),
    ),
    "self.min <= self.max",
    "min is at most max",
  ),
  status: toStandardJsonSchema(v.object({ phase: v.optional(v.string()) })),
});

const GOOD = { owner: "me", min: 1, max: 5, mode: "open", hosts: [{ name: "a", port: 80 }] } as const;

describe.each([
  ["arktype", ByArktype],
  ["valibot", ByValibot],
] as const)("a kind whose schema is written with %s", (_, Kind) => {
  it("is taken by a server, which checks what the schema says", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await using client = await cluster.connect();
    const crd = await client.create(new CustomResourceDefinition(Kind.crd()));
    await crd.wait("condition=Established");
    const { group, version, kind } = Kind.description;
    const apiVersion = `${group}/${version}`;
    const make = (name: string, spec: object) => client.create({ apiVersion, kind, metadata: { name }, spec });
    await make("good", { ...GOOD, labels: { a: "b" } });
    const refused = async (spec: object) =>
      String(await make("bad", { ...GOOD, ...spec }).catch((error: Error) => error.message));
    expect(await refused({ min: 7 })).toContain("min is at most max");
    expect(await refused({ min: -1 })).toContain("spec.min");
    expect(await refused({ mode: "ajar" })).toContain('Unsupported value: "ajar"');
    expect(await refused({ hosts: [{ name: "" }] })).toContain("spec.hosts[0].name");
    expect(await refused({ hosts: [{ name: "a", port: 0 }] })).toContain("spec.hosts[0].port");
    expect(await refused({ owner: 1 })).toContain("spec.owner");
  });
});

describe("helpers", () => {
  it("keep what they say in a literal that holds schemas of arktype", () => {
    const { properties = {} } = (schemaOf(ByArktype).properties?.spec ?? {}) as Properties;
    expect(properties.owner).toMatchObject({ "x-kubernetes-validations": [{ rule: "self == oldSelf" }] });
    expect(properties.hosts).toMatchObject({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] });
  });

  it("keep the static types", () => {
    type Spec = NonNullable<InstanceType<typeof ByArktype>["spec"]>;
    expectTypeOf<Spec["mode"]>().toEqualTypeOf<"open" | "closed">();
    expectTypeOf<NonNullable<InstanceType<typeof ByValibot>["spec"]>["hosts"][number]["port"]>().toEqualTypeOf<
      number | undefined
    >();
  });
});

interface Properties {
  readonly properties?: Readonly<Record<string, Properties>>;
}

function schemaOf(kind: { crd(): object }): Properties {
  const crd = kind.crd() as { spec: { versions: { schema: { openAPIV3Schema: Properties } }[] } };
  return crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
}
