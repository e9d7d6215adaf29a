import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObjectBody } from "../kinds/index.ts";
import { EventParser } from "./event.ts";

const managedFields = [{ manager: "kubelet", fieldsV1: { "f:spec": { 'k:{"name":"a}"}': { ".": {} } } } }, { a: 1 }];

const parse = (text: string) => new EventParser().parse(Buffer.from(text));

/** A parser with a store behind it, which remembers what was parsed. */
function keeper(): { parse: (event: unknown) => { object: Kept }; digests: () => number } {
  const kept = new Map<unknown, ObjectBody>();
  let digests = 0;
  const digest = (bytes: Buffer) => {
    digests++;
    return bytes.toString("latin1");
  };
  const parser = new EventParser({ known: ({ metadata }) => kept.get(metadata?.name), digest });
  return {
    digests: () => digests,
    parse: (event) => {
      const parsed = parser.parse(Buffer.from(JSON.stringify(event))) as { object: Kept };
      kept.set(parsed.object.metadata?.name, parsed.object);
      return parsed;
    },
  };
}

interface Kept extends ObjectBody {
  spec: { nodes: (string | { b: number })[] };
}

/** What parsing and dropping would give. */
function dropped(event: unknown): unknown {
  const { object } = event as { object?: { metadata?: { managedFields?: unknown } } };
  if (Array.isArray(object?.metadata?.managedFields)) delete object.metadata.managedFields;
  return event;
}

it.each([
  ["as the last key", { name: "a", managedFields }],
  ["as the first key", { managedFields, name: "a" }],
  ["in the middle, where custom resources have them", { labels: { managedFields: "no" }, managedFields, name: "ä" }],
  ["as the only key", { managedFields }],
])("parses an event without its managed fields %s", (_, metadata) => {
  const object = { kind: "Pod", metadata, spec: { managedFields }, status: { phase: "日本" } };
  const text = JSON.stringify({ type: "MODIFIED", object });
  const event = parse(text) as { object: { metadata: object } };
  expect(event.object.metadata).not.toHaveProperty("managedFields");
  expect(event).toEqual(dropped(JSON.parse(text)));
  expect(Object.keys(event.object)).toEqual(Object.keys(object));
});

it.each([
  ["a spec", { metadata: { name: "a" }, spec: { managedFields } }],
  ["something before the metadata", { data: { managedFields }, metadata: { name: "a" } }],
  ["a template's metadata", { spec: { template: { metadata: { managedFields } } } }],
  ["a key that only ends so", { metadata: { 'x"managedFields': managedFields } }],
  ["a parent whose name only ends so", { 'x"metadata': { managedFields } }],
  ["an annotation that quotes an object", { metadata: { annotations: { last: JSON.stringify({ managedFields }) } } }],
  ["metadata in a list", { metadata: [{ managedFields }] }],
  ["a value that is no list", { metadata: { managedFields: { a: 1 } } }],
])("leaves the same name in %s alone", (_, object) => {
  const event = { type: "ADDED", object };
  expect(parse(JSON.stringify(event))).toEqual(event);
});

it.each([
  ["a bracket in a string", [{ manager: 'a}],"x":[' }, { manager: "b" }]],
  ["a list in a field", [{ fieldsV1: { list: [{ a: [{}] }] } }]],
  ["a last item that is no object", [{ a: 1 }, 2]],
])("is not misled by managed fields with %s", (_, fields) => {
  const metadata = { managedFields: fields, ownerReferences: [{ uid: "u" }], name: "a" };
  const text = JSON.stringify({ type: "ADDED", object: { metadata, spec: [{}] } });
  expect(dropped(parse(text))).toEqual(dropped(JSON.parse(text)));
});

it("throws for what is no JSON, and keeps a key that would set a prototype", () => {
  const text = JSON.stringify({ type: "ADDED", object: { metadata: { managedFields } } });
  expect(() => parse(text.slice(0, -5))).toThrow(SyntaxError);
  const odd = text.replace(/\}\}$/, ',"__proto__":{"polluted":true}}}');
  const { object } = parse(odd) as { object: object };
  expect(Object.hasOwn(object, "__proto__")).toBe(true);
  expect("polluted" in object).toBe(false);
});

it.each([
  ["a Pod", (version: string) => ({ name: "a", resourceVersion: version, managedFields })],
  ["a custom resource", (version: string) => ({ labels: {}, managedFields, name: "a", resourceVersion: version })],
])("takes the spec of %s from the version before while its text is the same", (_, metadata) => {
  const { parse: read } = keeper();
  const event = (version: string, spec: unknown, status?: unknown) => ({
    type: "MODIFIED",
    object: { kind: "Pod", metadata: metadata(version), spec, ...(status ? { status } : {}) },
  });
  const spec = { nodes: ["ü", { b: 1 }] };
  const first = read(event("1", spec, { phase: "Pending" }));
  const second = read(event("2", spec, { phase: "Running" }));
  const third = read(event("3", spec));
  expect(second).toEqual(dropped(event("2", spec, { phase: "Running" })));
  expect(second.object.spec).toBe(first.object.spec);
  expect(third).toEqual(dropped(event("3", spec)));
  expect(third.object.spec).toBe(first.object.spec);
  const changed = { nodes: ["ü", { b: 2 }] };
  expect(read(event("4", changed, {}))).toEqual(dropped(event("4", changed, {})));
  expect(first.object.spec).toEqual(spec);
});

it("lets nobody change a spec that the next versions share", () => {
  const { parse: read } = keeper();
  const event = { type: "ADDED", object: { metadata: { name: "a", managedFields }, spec: { nodes: [{ b: 1 }] } } };
  const { spec } = read(event).object;
  expect(() => (spec.nodes[0] = "x")).toThrow(TypeError);
  expect(() => ((spec.nodes[0] as { b: number }).b = 2)).toThrow(TypeError);
});

it("digests nothing for those who keep nothing", () => {
  const event = { type: "ADDED", object: { metadata: { name: "a", managedFields }, spec: { nodes: [] } } };
  const { parse: read, digests } = keeper();
  read(event);
  expect(digests()).toBe(1);
  const { object } = parse(JSON.stringify(event)) as { object: Kept };
  expect(Object.isFrozen(object.spec)).toBe(false);
});

it("gives what parsing gives, whatever the object is and whatever it was before", () => {
  const key = fc.constantFrom("metadata", "managedFields", "spec", "status", 'x"metadata', "a", 'q"', "b\\", "ü]", "}");
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom<unknown>(
        1,
        null,
        "managedFields",
        '"managedFields":[{',
        "}]",
        "}],",
        ',"status":{',
        "\\",
        "日本",
      ),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const metadata = fc.record({
    managedFields: fc.array(tree, { minLength: 1, maxLength: 2 }),
    metadata: tree,
    a: tree,
  });
  const object = fc.oneof(
    fc.dictionary(key, tree, { maxKeys: 5 }),
    fc.record({ a: tree, metadata, spec: tree, status: tree }),
  );
  const event = fc.oneof(fc.record({ type: tree, object }), fc.record({ object, type: tree }));
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 3 }), (values) => {
      let last: ObjectBody | undefined;
      const parser = new EventParser({ known: () => last, digest: (bytes) => bytes.toString("latin1") });
      for (const value of [...values, ...values]) {
        const text = JSON.stringify(value);
        expect(dropped(parse(text))).toEqual(dropped(JSON.parse(text)));
        const read = parser.parse(Buffer.from(text));
        expect(dropped(read)).toEqual(dropped(JSON.parse(text)));
        last = read.object as ObjectBody;
      }
    }),
    { numRuns: 1000 },
  );
});
