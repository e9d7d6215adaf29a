/** What `resource()` says in a definition, and what a server makes of it: versions, rules, columns, subresources. */
import { type Client, ConfigMap, CustomResourceDefinition, InvalidError, type KubeBody } from "@lotse/client";
import { checkDefinition } from "@lotse/cluster";
import {
  atomic,
  duration,
  embedded,
  immutable,
  intOrString,
  listMap,
  listSet,
  podTemplate,
  quantity,
  resource,
  rule,
  schema,
} from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const spec = z.object({
  range: rule(z.object({ min: z.int(), max: z.int() }), "self.min <= self.max", {
    message: "min must not exceed max",
    reason: "FieldValueForbidden",
    fieldPath: ".min",
  }).optional(),
  region: immutable(z.string().max(20)),
  zone: immutable(z.string().max(20).optional(), "stay where you are"),
  "host-name": immutable(z.string().max(20).optional()),
  colour: z
    .enum(["red", "green"])
    .default("red")
    .describe("What it is painted with")
    .meta({ examples: ["green"] }),
  replicas: z.int().min(0).default(1),
  ports: listMap(z.array(z.object({ name: z.string(), port: intOrString() })), ["name"]).optional(),
  tags: listSet(z.array(z.string())).optional(),
  selector: atomic(z.record(z.string(), z.string())).optional(),
  order: atomic(z.array(z.int())).optional(),
  memory: z.optional(quantity()),
  interval: z.optional(rule(duration(), "self >= duration('1m')", "at least a minute")),
  template: z.optional(podTemplate()),
  config: z.optional(embedded(ConfigMap)),
  anything: z.optional(embedded()),
  drive: z
    .discriminatedUnion("by", [
      rule(
        z.strictObject({ by: z.literal("coal"), of: z.string().max(9) }),
        "self.of.startsWith('a')",
        "of a kind with a",
      ),
      z.object({ by: z.literal("wind"), of: z.int(), blades: z.int().max(9) }),
    ])
    .optional(),
  one: z.xor([z.object({ a: z.string() }), z.object({ b: z.string() })]).optional(),
  keys: z
    .record(
      z
        .string()
        .regex(/^[a-z]+$/)
        .max(9),
      z.string(),
    )
    .optional(),
  named: z.partialRecord(z.enum(["north", "south"]), z.int()).optional(),
  pair: z.tuple([z.string().max(9), z.int()]).optional(),
  reach: z.union([z.email(), z.url()]).optional(),
  code: z.string().regex(/^a.b$/i).optional(),
  span: z.iso.duration().optional(),
});

const status = z.object({ replicas: z.int().optional(), selector: z.string().optional() });

const Shop = resource({
  group: "shops.example.com",
  kind: "Shop",
  description: "A place that sells things.",
  categories: ["places"],
  shortNames: ["sp"],
  versions: {
    v1beta1: {
      spec,
      status,
      columns: [{ name: "Colour", type: "string", path: ".spec.colour" }],
      deprecated: "shops.example.com/v1beta1 is old: use v1",
    },
    v1: {
      spec,
      status,
      storage: true,
      columns: [
        { name: "Region", type: "string", path: ".spec.region", description: "Where it is" },
        { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
        { name: "Wanted", type: "integer", path: ".spec.replicas", priority: 1 },
      ],
    },
  },
  scale: { spec: ".spec.replicas", status: ".status.replicas", selector: ".status.selector" },
  selectableFields: [".spec.colour", ".spec.region"],
  rules: [
    {
      rule: "self.metadata.name != 'forbidden'",
      messageExpression: "'no shop is called ' + self.metadata.name",
      reason: "FieldValueForbidden",
      fieldPath: ".spec.region",
    },
  ],
});

/** Declared without a schema library. */
const Plain = resource({
  group: "shops.example.com",
  version: "v1",
  kind: "Plain",
  spec: schema({
    type: "object",
    properties: {
      size: { type: "integer", minimum: 1, default: 3 },
      port: { "x-kubernetes-int-or-string": true },
      note: { type: ["string", "null"] },
      labels: { type: "object", additionalProperties: { type: "string" } },
      memory: quantity(),
    },
  }),
});

describeOn(clustersUnderTest(), "what resource() says", (cluster) => {
  const stage = useStage(cluster, "versions");
  let client: Client;
  let counted = 0;

  beforeEach(async () => {
    ({ client } = stage);
    for (const crd of [Shop.crd(), Plain.crd()]) {
      const made = new CustomResourceDefinition(crd, client);
      await made.apply({ force: true });
      await made.wait("condition=Established", { timeout: "60s" });
    }
    // A definition is served a moment after it is established.
    await stage.eventually(() =>
      Promise.all([client.list(Shop), client.list(Shop.version("v1beta1")), client.list(Plain)]),
    );
  });

  const create = (more: object = {}) =>
    client.create(new Shop({ metadata: { name: `shop-${++counted}` }, spec: { region: "eu", ...more } as never }));
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(InvalidError);
    return (error as InvalidError).details.causes?.map(({ field, message }) => `${field}: ${message}`).join("\n") ?? "";
  };

  it("is taken, as it was said without a server", async () => {
    for (const crd of [Shop.crd(), Plain.crd()]) expect(await checkDefinition(crd)).toEqual([]);
    const { body } = await client.get(CustomResourceDefinition, "shops.shops.example.com");
    expect(body.spec?.versions.map(({ name, storage }) => [name, storage])).toEqual([
      ["v1beta1", false],
      ["v1", true],
    ]);
    expect((body as { status?: { storedVersions?: string[] } }).status?.storedVersions).toEqual(["v1"]);
    // Nothing that was said got lost.
    expect(body.spec?.versions[1]).toMatchObject(Shop.crd().spec?.versions[1] as object);
  });

  it.each<[what: string, spec: object, told: RegExp]>([
    ["a rule", { range: { min: 2, max: 1 } }, /^spec\.range\.min: Forbidden: min must not exceed max$/],
    ["a rule of a duration", { interval: "5s" }, /spec\.interval: Invalid value: .*at least a minute/],
    ["a duration that Go does not read", { interval: "1d" }, /spec\.interval: Invalid value/],
    ["no quantity", { memory: "1KB" }, /spec\.memory: Invalid value/],
    ["a template without containers", { template: { spec: {} } }, /spec\.template\.spec\.containers: Required value/],
    [
      "a container without a name",
      { template: { spec: { containers: [{ image: "a" }] } } },
      /containers\[0\]\.name: Required value/,
    ],
    [
      "another kind inside",
      { config: { apiVersion: "v1", kind: "Secret" } },
      /spec\.config\.kind: Unsupported value: "Secret"/,
    ],
    ["no kind inside", { anything: { metadata: {} } }, /spec\.anything\.(apiVersion|kind): Required value/],
    ["an item twice", { tags: ["a", "a"] }, /spec\.tags\[1\]: Duplicate value: "a"/],
    [
      "a name twice",
      {
        ports: [
          { name: "a", port: 1 },
          { name: "a", port: "b" },
        ],
      },
      /spec\.ports\[1\]: Duplicate value/,
    ],
    [
      "a branch without its field",
      { drive: { by: "wind", of: 1 } },
      /"spec\.drive" must validate at least one schema \(anyOf\)/,
    ],
    ["a branch with a field of another", { drive: { by: "coal", of: "ab", blades: 3 } }, /spec\.drive/],
    [
      "a branch with a text for a number",
      { drive: { by: "wind", of: "ab", blades: 3 } },
      /of must be a whole number here/,
    ],
    ["a branch with a number for a text", { drive: { by: "coal", of: 3 } }, /of must be a text here/],
    ["a rule of a branch", { drive: { by: "coal", of: "b" } }, /of a kind with a/],
    [
      "what a branch says of a common field",
      { drive: { by: "coal", of: "a".repeat(10) } },
      /spec\.drive\.of: Too long/,
    ],
    ["no branch", { drive: { by: "sun", of: 1 } }, /spec\.drive\.by: Unsupported value: "sun"/],
    [
      "two of which one may be",
      { one: { a: "x", b: "y" } },
      /"spec\.one" must validate one and only one schema \(oneOf\)/,
    ],
    ["a key that may not be", { keys: { A: "b" } }, /spec\.keys: Invalid value: .*a key that is not allowed/],
    ["a tuple in the wrong order", { pair: [1, "a"] }, /may not stand at its place/],
    ["a tuple that is too short", { pair: ["a"] }, /spec\.pair: Invalid value/],
    ["neither of two formats", { reach: "me" }, /spec\.reach/],
    ["a pattern with a flag", { code: "aXc" }, /spec\.code/],
    ["a span that is none", { span: "PT" }, /spec\.span/],
  ])("refuses %s", async (_what, more, told) => {
    expect(await refusal(create(more))).toMatch(told);
  });

  it("takes everything that is right", async () => {
    const { body } = await create({
      range: { min: 1, max: 2 },
      zone: "a",
      ports: [
        { name: "a", port: 1 },
        { name: "b", port: "http" },
      ],
      tags: ["a", "b"],
      selector: { a: "b" },
      order: [2, 1, 2],
      memory: "1.5Gi",
      interval: "1h30m",
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "a", image: "b", env: [{ name: "c" }] }], nodeName: "n" },
      },
      config: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", labels: { a: "b" } }, data: { a: "b" } },
      anything: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" }, spec: { a: 1 } },
      drive: { by: "coal", of: "ab" },
      one: { a: "x" },
      keys: { abc: "d" },
      named: { north: 1, east: 2 },
      pair: ["a", 1],
      reach: "https://example.com",
      code: "AXB",
      span: "P1DT2H",
    });
    expect(body.spec).toMatchObject({
      colour: "red",
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ env: [{ name: "c" }] }], nodeName: "n" } },
      config: { metadata: { labels: { a: "b" } }, data: { a: "b" } },
      anything: { spec: { a: 1 } },
    });
    expect((body.spec as { named?: object }).named).toEqual({ north: 1 });
    await expect(
      create({ drive: { by: "wind", of: 3, blades: 3 }, memory: 2, span: "P2W", reach: "me@example.com" }),
    ).resolves.toBeDefined();
    expect(
      (await client.create(new Plain({ metadata: { name: "p" }, spec: { memory: "1Gi", note: null } }))).body.spec,
    ).toMatchObject({ size: 3 });
    expect(await refusal(client.create(new Plain({ metadata: { name: "q" }, spec: { size: 0 } })))).toMatch(
      /spec\.size: Invalid value: 0/,
    );
  });

  it("keeps what must not change, come or go", async () => {
    const full = await create({ zone: "a", "host-name": "h" });
    const bare = await create();
    const change = (name: string, more: object) => refusal(client.patch(Shop, name, { spec: more as never }));
    expect(await change(full.name, { region: "us" })).toMatch(/^spec\.region: Invalid value: .*field is immutable$/);
    expect(await change(full.name, { zone: "b" })).toMatch(/^spec\.zone: Invalid value: .*stay where you are$/);
    expect(await change(full.name, { zone: null })).toMatch(/^spec\.zone: Invalid value: .*stay where you are$/);
    expect(await change(full.name, { "host-name": null })).toMatch(/field is immutable$/);
    expect(await change(bare.name, { zone: "a" })).toMatch(/^spec\.zone: Invalid value: .*stay where you are$/);
    await client.patch(Shop, full.name, { spec: { colour: "green", zone: "a" } });
  });

  it("has rules over the whole object", async () => {
    const told = await refusal(client.create(new Shop({ metadata: { name: "forbidden" }, spec: { region: "eu" } })));
    expect(told).toBe("spec.region: Forbidden: no shop is called forbidden");
  });

  it("prints the columns of each version", async () => {
    await create({ colour: "green" });
    const now = await client.table(Shop);
    expect(now.columns.map(({ name, type, priority }) => `${name} ${type} ${priority}`)).toEqual([
      "Name string 0",
      "Region string 0",
      "Ready string 0",
      "Wanted integer 1",
      "Age date 0",
    ]);
    expect(now.rows[0]?.cells.slice(1, 4)).toEqual(["eu", null, 1]);
    const old = await client.table(Shop.version("v1beta1"));
    expect(old.columns.map(({ name }) => name)).toEqual(["Name", "Colour", "Age"]);
    expect(old.rows[0]?.cells[1]).toBe("green");
  });

  it("warns of a version that is old, and of no other", async () => {
    const warning = async (version: string) => {
      const path = `/apis/shops.example.com/${version}/namespaces/${stage.namespace}/shops`;
      return (await client.raw({ method: "GET", path })).headers.warning;
    };
    expect(await warning("v1beta1")).toBe('299 - "shops.example.com/v1beta1 is old: use v1"');
    expect(await warning("v1")).toBeUndefined();
  });

  it("is seen in each version by its class", async () => {
    const made = await create({ colour: "green" });
    const old = await client.get(Shop.version("v1beta1"), made.name);
    expect(old.body).toMatchObject({
      apiVersion: "shops.example.com/v1beta1",
      spec: { region: "eu", colour: "green" },
    });
    await old.patch({ spec: { colour: "red" } });
    expect((await client.get(Shop, made.name)).body).toMatchObject({
      apiVersion: "shops.example.com/v1",
      spec: { colour: "red" },
    });
  });

  it("lists by the fields that were named", async () => {
    await create({ colour: "green" });
    await create({ colour: "red" });
    const colours = async (fieldSelector: string) => {
      const found: unknown[] = [];
      for await (const shop of client.list(Shop, { fieldSelector })) found.push(shop.spec.colour);
      return found;
    };
    expect(await colours("spec.colour=green")).toEqual(["green"]);
    expect(await colours("spec.region=us")).toEqual([]);
    await expect(colours("spec.replicas=1")).rejects.toThrow(/field label not supported|not.*supported/);
  });

  it("scales", async () => {
    const made = await create();
    const path = `/apis/shops.example.com/v1/namespaces/${stage.namespace}/shops/${made.name}`;
    await client.raw({
      method: "PATCH",
      path: `${path}/status`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { status: { replicas: 1, selector: "app=shop" } },
    });
    await client.raw({
      method: "PATCH",
      path: `${path}/scale`,
      headers: { "content-type": "application/merge-patch+json" },
      body: { spec: { replicas: 4 } },
    });
    const scale = (await (await client.raw({ method: "GET", path: `${path}/scale` })).json()) as KubeBody;
    expect(scale).toMatchObject({
      kind: "Scale",
      spec: { replicas: 4 },
      status: { replicas: 1, selector: "app=shop" },
    });
    expect((await client.get(Shop, made.name)).spec.replicas).toBe(4);
    expect(Shop.description.subresources).toContain("scale");
  });

  it("reads well in kubectl explain, and is found by its category", async () => {
    await stage.eventually(async () => {
      const document = (await (
        await client.raw({ method: "GET", path: "/openapi/v3/apis/shops.example.com/v1" })
      ).json()) as {
        components: { schemas: Record<string, { description?: string; properties: Record<string, never> }> };
      };
      const [, shop] = Object.entries(document.components.schemas).find(([name]) => name.endsWith(".Shop")) ?? [];
      expect(shop).toMatchObject({
        description: "A place that sells things.",
        properties: { spec: { properties: { colour: { description: 'What it is painted with. Example: "green"' } } } },
      });
    });
    const { resources } = (await (await client.raw({ method: "GET", path: "/apis/shops.example.com/v1" })).json()) as {
      resources: { name: string; categories?: string[] }[];
    };
    expect(resources.find(({ name }) => name === "shops")?.categories).toEqual(["places"]);
  });

  it("says without a server what a server says of rules that it refuses", async () => {
    const wrong: [string, z.ZodType][] = [
      ["a", rule(z.object({ a: z.int() }), "self.b > 1")],
      ["b", rule(z.object({ a: z.int() }), "self.a > 'x'")],
      ["c", rule(z.object({ a: z.int() }), "self.a")],
      ["d", rule(z.object({ a: z.int() }), "true", { messageExpression: "self.a" })],
      ["e", rule(z.object({ a: z.array(z.string()) }), "self.a.all(x, self.a.all(y, x == y))")],
      ["f", z.object({ a: z.array(z.object({ b: immutable(z.string()) })) })],
      ["g", rule(z.object({ a: z.int() }), "self.a > 1", { messageExpression: "'it is ' + string(self.a)" })],
      ["h", listMap(z.array(z.object({ name: z.string().optional() })), ["name"])],
      ["i", rule(z.object({ a: z.int() }), "self.a > 1", { fieldPath: ".b" })],
    ];
    for (const [name, part] of wrong) {
      const kind = `Wrong${name.toUpperCase()}`;
      const crd = resource({ group: "wrong.example.com", version: "v1", kind, spec: z.object({ part }) }).crd();
      const error = await client.create(new CustomResourceDefinition(crd, client), { dryRun: true }).then(
        () => undefined,
        (reason: unknown) => reason as InvalidError,
      );
      const said = (error?.details.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
      const told = (await checkDefinition(crd)).map(({ path, message }) => `${path}: ${message}`);
      expect([kind, ...told]).toEqual([kind, ...said]);
    }
  });
});
