/**
 * The promise of the comparison, with a server as the judge: what it calls harmless does no harm. Pairs of random
 * schemas become two kinds; whatever the old one accepts and keeps, the new one has to.
 */
import { type Client, CustomResourceDefinition, InvalidError, type KubeBody } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compareDefinitions } from "./compatibility.ts";
import type { SchemaNode } from "./node.ts";

type Pair = readonly [before: SchemaNode, after: SchemaNode];

const NAMES = ["a", "b", "c"] as const;
const PRESERVE = "x-kubernetes-preserve-unknown-fields";

/** Mostly the same on both sides, sometimes two of its kind. */
function twice<T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly [T, T]> {
  return fc.oneof(
    { weight: 5, arbitrary: one.map((same) => [same, same] as const) },
    { weight: 1, arbitrary: fc.tuple(one, one) },
  );
}

const rarely = <T>(value: fc.Arbitrary<T>, weight = 5) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** Nodes of which each keyword is there or not, the same or not. */
function keywords(parts: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Pair> {
  const pairs = Object.entries(parts).map(([key, value]) => twice(value).map((pair) => [key, pair] as const));
  return fc.tuple(...pairs).map((all) => {
    const side = (at: 0 | 1) =>
      Object.fromEntries(all.map(([key, pair]) => [key, pair[at]]).filter(([, value]) => value !== undefined));
    return [side(0), side(1)] as const;
  });
}

type Parts = Record<string, fc.Arbitrary<unknown>>;

const texts = ["", "a", "bb", "ccc", "abcd"];
const some = (values: readonly unknown[]) => fc.subarray([...values], { minLength: 1 });
const common = { nullable: rarely(fc.constant(true)) };

const TEXT: Parts = {
  minLength: fc.integer({ min: 0, max: 2 }),
  maxLength: fc.integer({ min: 1, max: 4 }),
  pattern: fc.constantFrom("^[ab]*$", "b", "^.?$"),
  enum: some(texts),
  nullable: fc.constant(true),
};

const NUMBER: Parts = {
  minimum: fc.integer({ min: -2, max: 2 }),
  exclusiveMinimum: fc.boolean(),
  maximum: fc.integer({ min: 1, max: 5 }),
  exclusiveMaximum: fc.boolean(),
  multipleOf: fc.constantFrom(1, 2, 4, 0.5),
  enum: some([0, 1, 2, 4]),
  nullable: fc.constant(true),
};

const LIST: Parts = {
  minItems: fc.integer({ min: 0, max: 1 }),
  maxItems: fc.integer({ min: 1, max: 3 }),
  "x-kubernetes-list-type": fc.constantFrom("set", "atomic"),
  nullable: fc.constant(true),
};

const allRarely = (parts: Parts): Parts =>
  Object.fromEntries(Object.entries(parts).map(([key, value]) => [key, rarely(value)]));

const text = keywords({
  type: fc.constant("string"),
  ...allRarely(TEXT),
  default: rarely(fc.constantFrom(...texts)),
});

const number = keywords({
  type: fc.constantFrom("integer", "integer", "number"),
  ...allRarely(NUMBER),
  default: rarely(fc.integer({ min: -1, max: 4 })),
});

const anything = keywords({
  "x-kubernetes-int-or-string": fc.constant(true),
  pattern: rarely(fc.constant("^[ab]*$")),
  maximum: rarely(fc.integer({ min: 1, max: 3 })),
  ...common,
}).chain(([a, b]) => fc.constantFrom<Pair>([a, b], [{ [PRESERVE]: true }, b], [a, { [PRESERVE]: true }]));

const { node } = fc.letrec<{ node: Pair; object: Pair; list: Pair; map: Pair; mixed: Pair }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", maxDepth: 3, withCrossShrink: true },
    text,
    number,
    anything,
    tie("object"),
    tie("list"),
    tie("map"),
    tie("mixed"),
  ),
  mixed: fc
    .tuple(fc.oneof(text, number, tie("object")), fc.oneof(text, number, tie("object")))
    .map(([a, b]) => [a[0], b[1]]),
  object: objectOf(tie("node")),
  list: fc
    .tuple(
      keywords({ type: fc.constant("array"), ...allRarely(LIST) }),
      fc.oneof({ weight: 2, arbitrary: text }, { weight: 1, arbitrary: tie("node") }),
    )
    .map(([[a, b], [c, d]]) => [
      { ...a, items: c },
      { ...b, items: d },
    ]),
  map: fc
    .tuple(
      keywords({ type: fc.constant("object"), maxProperties: rarely(fc.integer({ min: 1, max: 3 })), ...common }),
      tie("node"),
      fc.constantFrom<readonly [boolean, boolean]>([true, true], [true, true], [true, false], [false, true]),
    )
    .map(([[a, b], [c, d], [old, now]]) => [
      { ...a, ...(old && { additionalProperties: c }) },
      { ...b, ...(now && { additionalProperties: d }) },
    ]),
}));

function objectOf(child: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> {
  const there = fc.oneof(
    { weight: 6, arbitrary: fc.constant([true, true] as const) },
    { weight: 1, arbitrary: fc.constantFrom([true, false] as const, [false, true] as const) },
  );
  return fc
    .tuple(
      keywords({
        type: fc.constant("object"),
        required: rarely(fc.subarray([...NAMES], { minLength: 1 })),
        [PRESERVE]: rarely(fc.constant(true)),
        minProperties: rarely(fc.integer({ min: 0, max: 2 })),
        maxProperties: rarely(fc.integer({ min: 1, max: 3 })),
        anyOf: rarely(fc.constantFrom([{ required: ["a"] }, { required: ["b"] }], [{ maxProperties: 2 }])),
        not: rarely(fc.constant({ required: ["c"] })),
        "x-kubernetes-embedded-resource": rarely(fc.constant(true), 20),
        default: rarely(fc.constantFrom({}, { a: "a" })),
        ...common,
      }),
      fc.subarray([...NAMES]),
      fc.tuple(child, child, child),
      fc.tuple(there, there, there),
    )
    .map(([[a, b], names, children, places]) => {
      const fields = (at: 0 | 1) =>
        Object.fromEntries(
          NAMES.flatMap((name, i) =>
            names.includes(name) && places[i]?.[at] ? [[name, children[i]?.[at] ?? {}] as const] : [],
          ),
        );
      return [
        { ...a, properties: fields(0) },
        { ...b, properties: fields(1) },
      ] as const;
    });
}

/** Values that a node often accepts. */
function valueFor(schema: SchemaNode | undefined): fc.Arbitrary<unknown> {
  const wild = fc.oneof(
    fc.constantFrom<unknown>(null, true, 1, 0.5, "a", "bb", [], ["a"], {}, { a: "a" }, { a: 1, z: "z" }),
  );
  if (!schema || (schema[PRESERVE] === true && schema.type === undefined)) return wild;
  const fitting = fittingValue(schema);
  return fc.oneof({ weight: 20, arbitrary: fitting }, { weight: 1, arbitrary: fc.constant(null) });
}

function fittingValue(schema: SchemaNode): fc.Arbitrary<unknown> {
  if (schema["x-kubernetes-int-or-string"] === true) return fc.constantFrom<unknown>("a", "abc", 0, 2, 5);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  switch (schema.type) {
    case "string":
      return fc.constantFrom(...texts);
    case "integer":
      return fc.integer({ min: -3, max: 6 });
    case "number":
      return fc.constantFrom(-2, 0, 0.5, 1, 1.5, 4);
    case "array":
      return fc.array(valueFor(schema.items as SchemaNode), { maxLength: 3 });
    default: {
      const fields = (schema.properties ?? {}) as Record<string, SchemaNode>;
      const required = (schema.required ?? []) as string[];
      const known = Object.fromEntries(Object.entries(fields).map(([name, child]) => [name, valueFor(child)]));
      const open = schema[PRESERVE] === true || schema.additionalProperties !== undefined;
      const rest = open
        ? fc.dictionary(fc.constantFrom("a", "b", "c", "z"), valueFor(schema.additionalProperties as SchemaNode), {
            maxKeys: 2,
          })
        : fc.constant({});
      const whole = schema["x-kubernetes-embedded-resource"] === true ? { apiVersion: "v1", kind: "Thing" } : {};
      return fc
        .tuple(rest, fc.record(known, { requiredKeys: required.filter((name) => name in known) }))
        .map(([more, own]) => ({ ...whole, ...more, ...own }));
    }
  }
}

const scenario = objectOf(node).chain(([before, after]) =>
  fc.record({
    before: fc.constant(before),
    after: fc.constant(after),
    values: fc.array(valueFor({ ...before, nullable: undefined }), { minLength: 4, maxLength: 4 }),
  }),
);

let cluster: Cluster;
let client: Client;

beforeAll(async () => {
  cluster = await Cluster.start({ tls: false, kubelet: false });
  client = await cluster.connect({ onWarning: () => {} });
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

function definition(kind: string, spec: SchemaNode): CustomResourceDefinition["body"] {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.compare.example.com` },
    spec: {
      group: "compare.example.com",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

/** Undefined when the server does not want it. */
async function unlessInvalid<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof InvalidError) return undefined;
    throw error;
  }
}

async function install(crd: CustomResourceDefinition["body"]): Promise<boolean> {
  const made = await unlessInvalid(client.create(new CustomResourceDefinition(crd, client)));
  if (made) await made.wait("condition=Established", { timeout: "170s" });
  return made !== undefined;
}

const post = (crd: CustomResourceDefinition["body"], spec: unknown) =>
  unlessInvalid(
    client
      .raw({
        method: "POST",
        path: `/apis/compare.example.com/v1/namespaces/default/${crd.spec?.names.plural}`,
        query: { dryRun: "All" },
        body: { apiVersion: "compare.example.com/v1", kind: crd.spec?.names.kind, metadata: { name: "one" }, spec },
      })
      .then((answer) => answer.json() as Promise<KubeBody & { spec?: unknown }>),
  );

const isHarmful = (before: SchemaNode, after: SchemaNode) =>
  compareDefinitions(definition("Same", before), definition("Same", after)).some(
    // What was null and has a default now is told as altered.
    ({ effect, what }) => effect === "refused" || effect === "lost" || what.endsWith("where it was null"),
  );

/** Whatever the old kind takes of `specs`, the new one has to take and keep. Returns how many there were. */
async function expectKept(
  before: SchemaNode,
  after: SchemaNode,
  id: string,
  specs: readonly unknown[],
): Promise<number> {
  const [old, now] = [definition(`Old${id}`, before), definition(`New${id}`, after)];
  if (!(await install(old)) || !(await install(now))) return 0;
  let taken = 0;
  for (const spec of specs) {
    const stored = await post(old, spec);
    if (stored === undefined) continue;
    taken++;
    const read = await post(now, stored.spec);
    expect(read, `refused: ${JSON.stringify(stored.spec)}`).toBeDefined();
    // Defaults may have been added; nothing may be gone.
    expect(read?.spec ?? {}).toMatchObject((stored.spec ?? {}) as object);
  }
  await Promise.all([old, now].map((crd) => client.delete(CustomResourceDefinition, crd.metadata?.name ?? "")));
  return taken;
}

/** A part in `npm test`, all of it in `npm run test:full`. */
const FULL = process.env.LOTSE_FULL === "1";

const NULL_TO_DEFAULT = {
  before: { type: "object", properties: { a: { type: "string", nullable: true } } },
  after: { type: "object", properties: { a: { type: "string", default: "ccc" } } },
  values: [{ a: null }],
};

it("calls no change harmless after which a stored object is refused or loses something", {
  timeout: 300_000,
}, async () => {
  let number = 0;
  const numRuns = FULL ? 100 : 40;
  const counts = { harmless: 0, harmful: 0, objects: 0 };
  await fc.assert(
    fc.asyncProperty(scenario, async ({ before, after, values }) => {
      const harmful = isHarmful(before, after);
      counts[harmful ? "harmful" : "harmless"]++;
      if (!harmful) counts.objects += await expectKept(before, after, `A${number++}`, values);
    }),
    // The example: a null that became a default had been called harmless.
    { numRuns, examples: [[NULL_TO_DEFAULT]] },
  );
  // Else nothing was tested.
  expect(counts.harmless).toBeGreaterThan(0.15 * numRuns);
  expect(counts.harmful).toBeGreaterThan(0.15 * numRuns);
  expect(counts.objects).toBeGreaterThan(0.2 * numRuns);
});

/** A field of which one keyword changes, comes or goes, and values that it may have had. */
function oneChange(base: SchemaNode, parts: Parts): fc.Arbitrary<{ pair: Pair; values: unknown[] }> {
  return fc.constantFrom(...Object.keys(parts)).chain((key) => {
    const change = fc.option(parts[key] ?? fc.constant(undefined), { nil: undefined, freq: 3 });
    return fc.tuple(keywords(allRarely(parts)), change, change).chain(([[rest], old, now]) => {
      const side = (value: unknown) => ({ ...base, ...rest, [key]: value });
      const pair: Pair = [side(old), side(now)];
      return fc.record({
        pair: fc.constant(pair),
        values: fc.array(valueFor(pair[0]), { minLength: 4, maxLength: 4 }),
      });
    });
  });
}

const changedField = fc.oneof(
  oneChange({ type: "string" }, TEXT),
  oneChange({ type: "integer" }, NUMBER),
  oneChange({ type: "array", items: { type: "string" } }, LIST),
);

it("calls no change of a single keyword harmless that is not", { timeout: 300_000 }, async () => {
  let number = 0;
  let objects = 0;
  const numRuns = FULL ? 4 : 1;
  await fc.assert(
    fc.asyncProperty(fc.array(changedField, { minLength: 50, maxLength: 50 }), async (fields) => {
      // One pair of kinds for all that are called harmless: each is a field of its own.
      const harmless = fields.filter(({ pair: [before, after] }) => !isHarmful(before, after));
      const spec = (at: 0 | 1) => ({
        type: "object",
        properties: Object.fromEntries(harmless.map(({ pair }, i) => [`f${i}`, JSON.parse(JSON.stringify(pair[at]))])),
      });
      const specs = harmless.flatMap(({ values }, i) => values.map((value) => ({ [`f${i}`]: value })));
      objects += await expectKept(spec(0), spec(1), `B${number++}`, specs);
    }),
    // A smaller counterexample would take minutes; the message has the object.
    { numRuns, endOnFailure: true },
  );
  expect(objects).toBeGreaterThan(25 * numRuns);
});
