import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { type SchemaNode, SchemaSampler } from "../../schema/index.ts";
import { KEPT_ANNOTATION } from "./carry.ts";
import { convertBody } from "./convert.ts";
import type { ConvertedKind } from "./kind.ts";
import { CONVERSION, OLD, objectSchema, SHOP, STORED, shop } from "./test-kinds.ts";

type Fields = Record<string, unknown>;

const body = (version: string, spec: Fields, more: Fields = {}): KubeBody => ({
  apiVersion: `example.com/${version}`,
  kind: "Shop",
  metadata: { name: "corner", namespace: "default", uid: "1", labels: { a: "b" } },
  spec,
  ...more,
});

const keptOf = (one: KubeBody) => one.metadata?.annotations?.[KEPT_ANNOTATION];

const there = (one: KubeBody, kind: ConvertedKind = SHOP) => convertBody(kind, one, "v1beta1");
const home = (one: KubeBody, kind: ConvertedKind = SHOP) => convertBody(kind, one, "v1");

const edited = (one: KubeBody, spec: Fields): KubeBody => ({ ...one, spec: { ...(one.spec as Fields), ...spec } });

const FULL = body(
  "v1",
  {
    squareMetres: 40,
    floors: 2,
    owner: { name: "Ada", phone: null },
    ports: [{ number: 80, name: "http" }, { number: 443 }],
    tags: [{ key: "a", value: "1" }, { key: "b" }],
  },
  { status: { phase: "Open", lotse: { shops: { d: "x" } } } },
);

describe("an object in another version", () => {
  it("has the other apiVersion, and metadata and status as they were", () => {
    const old = there(body("v1", { squareMetres: 40 }, { status: { phase: "Open", lotse: { shops: {} } } }));
    expect(old).toEqual(body("v1beta1", { size: "40m2" }, { status: { phase: "Open", lotse: { shops: {} } } }));
    expect(home(old)).toEqual(body("v1", { squareMetres: 40 }, { status: { phase: "Open", lotse: { shops: {} } } }));
  });

  it("is itself in its own version", () => {
    expect(home(FULL)).toBe(FULL);
  });

  it("keeps Lotse's record when the conversion makes another status", () => {
    const kind = shop(OLD, STORED, {
      ...CONVERSION,
      from: (one: never) => ({ ...CONVERSION.from(one), status: { phase: "Closed" } }),
    });
    expect(there(FULL, kind).status).toMatchObject({ phase: "Closed", lotse: { shops: { d: "x" } } });
  });

  it("goes by the stored version from one spoke to the next", () => {
    const older = objectSchema({ type: "object", properties: { area: { type: "integer" } } });
    const kind: ConvertedKind = {
      ...SHOP,
      versions: [...SHOP.versions, { name: "v1alpha1", schema: () => older }],
      conversions: new Map([
        ...SHOP.conversions,
        [
          "v1alpha1",
          {
            to: ({ spec }: { spec: { area: number } }) => ({ spec: { squareMetres: spec.area } }),
            from: ({ spec }: { spec: { squareMetres: number } }) => ({ spec: { area: spec.squareMetres } }),
          },
        ],
      ]),
    };
    const beta = body("v1beta1", { size: "40m2", colour: "red", ports: [80] });
    const alpha = convertBody(kind, beta, "v1alpha1");
    expect(alpha.spec).toEqual({ area: 40 });
    expect(convertBody(kind, alpha, "v1beta1")).toEqual(beta);
    const stored = home(edited(alpha, { area: 50 }), kind);
    expect(stored.spec).toEqual({ squareMetres: 50, ports: [{ number: 80 }] });
    expect(convertBody(kind, stored, "v1beta1").spec).toEqual({ size: "50m2", colour: "red", ports: [80] });
  });

  it("of a version without functions only changes its apiVersion", () => {
    const kind: ConvertedKind = { ...SHOP, versions: [...SHOP.versions, { name: "v1beta2", schema: () => STORED }] };
    expect(convertBody(kind, FULL, "v1beta2")).toEqual({ ...FULL, apiVersion: "example.com/v1beta2" });
  });
});

describe("what a version cannot hold", () => {
  it("travels in one annotation, and is put back on the way home", () => {
    const old = there(FULL);
    expect(old.spec).toEqual({ size: "40m2", ports: [80, 443], tags: [{ key: "a" }, { key: "b" }] });
    expect(Object.keys(old.metadata?.annotations ?? {})).toEqual([KEPT_ANNOTATION]);
    expect(home(old)).toEqual(FULL);
  });

  it("is put back beside what was edited meanwhile, which wins", () => {
    const old = edited(there(FULL), { size: "50m2", ports: [80, 444, 8080], tags: [{ key: "b" }] });
    expect(home(old).spec).toEqual({
      squareMetres: 50,
      floors: 2,
      owner: { name: "Ada", phone: null },
      ports: [{ number: 80, name: "http" }, { number: 444 }, { number: 8080 }],
      tags: [{ key: "b" }],
    });
  });

  it("is not put back where it would change what was edited", () => {
    const whole: SchemaNode = { type: "integer" };
    const kind = shop(
      objectSchema({ type: "object", properties: { sum: whole } }),
      objectSchema({ type: "object", properties: { a: whole, b: whole, note: { type: "string" } } }),
      {
        to: ({ spec }: { spec: { sum: number } }) => ({ spec: { a: spec.sum, b: 0 } }),
        from: ({ spec }: { spec: { a: number; b: number } }) => ({ spec: { sum: spec.a + spec.b } }),
      },
    );
    const old = there(body("v1", { a: 1, b: 2, note: "kept" }), kind);
    expect(old.spec).toEqual({ sum: 3 });
    expect(home(old, kind).spec).toEqual({ a: 1, b: 2, note: "kept" });
    const four = home(edited(old, { sum: 4 }), kind);
    expect(four).toEqual(body("v1", { a: 4, b: 0, note: "kept" }));
    expect(there(four, kind).spec).toEqual({ sum: 4 });
  });

  it("never changes what a client has written, whatever it was before", () => {
    const [stored, old] = [new SchemaSampler(STORED), new SchemaSampler(OLD)];
    for (let i = 0; i < 2_000; i++) {
      const before = { ...body("v1", {}), ...(stored.any(1, i) as Fields) };
      const wish = old.any(2, i) as Fields;
      const written = home({ ...there(before), ...wish });
      expect(there(written).spec, JSON.stringify([before, wish])).toEqual(wish.spec);
    }
  });

  it("of an old version lies in the stored one, as long as it is needed", () => {
    const old = body("v1beta1", { size: "40m2", colour: "red" });
    const stored = home(old);
    expect(stored.spec).toEqual({ squareMetres: 40 });
    expect(keptOf(stored)).toBe('{"v1beta1":{"spec":{"colour":["=",null,"red"]}}}');
    expect(there(edited(stored, { squareMetres: 41 }))).toEqual(body("v1beta1", { size: "41m2", colour: "red" }));
    const { colour: _gone, ...rest } = there(stored).spec as Fields;
    expect(keptOf(home({ ...there(stored), spec: rest }))).toBeUndefined();
  });

  it("for a version that is gone goes with the next conversion", () => {
    const kept = { annotations: { [KEPT_ANNOTATION]: '{"v1alpha1":{"spec":{"area":["=",null,1]}}}' } };
    expect(there({ ...FULL, metadata: { ...FULL.metadata, ...kept } })).toEqual(there(FULL));
  });

  it("is nothing where the API server fills it in by itself", () => {
    const old = there(body("v1", { squareMetres: 40, floors: 1 }));
    expect(old.metadata?.annotations).toBeUndefined();
    expect(home(old).spec).toEqual({ squareMetres: 40 });
  });

  it("is kept too where a function passes on what the other version has no field for", () => {
    const kind = shop(OLD, STORED, {
      to: ({ spec }: { spec: Fields }) => ({ spec: { ...spec, squareMetres: 1 } }),
      from: ({ spec }: { spec: Fields }) => ({ spec: { ...spec, size: "1m2" } }),
    });
    const old = body("v1beta1", { size: "1m2", colour: "red" });
    expect(home(old, kind).spec).toEqual({ squareMetres: 1 });
    expect(there(home(old, kind), kind)).toEqual(old);
  });

  it("of the status lies in the status, which not all who write the object may write", () => {
    const rich = objectSchema(
      { type: "object", properties: { squareMetres: { type: "integer" } } },
      {
        type: "object",
        properties: {
          phase: { type: "string" },
          since: { type: "string" },
          lotse: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    );
    const kind = shop(OLD, rich, {
      to: ({ status }: { status: Fields }) => ({ spec: { squareMetres: 40 }, status: { phase: status.phase } }),
      from: ({ status }: { status: Fields }) => ({ spec: { size: "40m2" }, status: { phase: status.phase } }),
    });
    const stored = body("v1", { squareMetres: 40 }, { status: { phase: "Open", since: "today" } });
    const old = there(stored, kind);
    expect(keptOf(old)).toBeUndefined();
    expect(old.status).toEqual({
      phase: "Open",
      lotse: { _kept: { v1: { status: { since: ["=", null, "today"] } } } },
    });
    expect(home(old, kind)).toEqual(stored);
    // An annotation that a client has made up has no power over the status.
    const forged = {
      ...old,
      metadata: { ...old.metadata, annotations: { [KEPT_ANNOTATION]: '{"v1":{"status":{"phase":["-",null]}}}' } },
    };
    expect(() => home(forged, kind)).toThrow(/annotation lotse\.dev\/kept cannot be read/);
  });

  it("is lost where that was asked for, and annotations stay as they are", () => {
    const kind = shop(OLD, STORED, CONVERSION, { lossless: false });
    expect(there(FULL, kind).metadata?.annotations).toBeUndefined();
    expect(home(there(FULL, kind), kind).spec).toEqual({
      squareMetres: 40,
      ports: [{ number: 80 }, { number: 443 }],
      tags: [{ key: "a" }, { key: "b" }],
    });
  });

  it("is all of it where there is no way back at present, and reading is not stopped by that", () => {
    const kind = shop(OLD, STORED, {
      to: () => {
        throw new Error("no way");
      },
      from: CONVERSION.from,
    });
    expect(there(FULL, kind).spec).toMatchObject({ size: "40m2" });
    expect(() => home(there(FULL, kind), kind)).toThrow(
      "Shop default/corner cannot be converted from v1beta1 to v1: no way",
    );
    expect(home(there(FULL, kind)).spec).toMatchObject({ squareMetres: 40, floors: 2, owner: { name: "Ada" } });
  });

  it("may be too much: it can be read, and is not written without it", () => {
    const large = body("v1", { squareMetres: 40, owner: { name: "x".repeat(140_000) } });
    const old = there(large);
    expect(keptOf(old)).toMatch(/^\{"v1":\d+\}$/);
    expect(() => home(old)).toThrow(
      "Shop default/corner cannot be converted from v1beta1 to v1: what only v1 can hold of it has 137 KiB, too much to be kept in an annotation; write it as v1",
    );
    const colourful = shop(
      objectSchema({ type: "object", properties: { colour: { type: "string" } } }),
      objectSchema({ type: "object" }),
      { to: () => ({ spec: {} }), from: () => ({ spec: {} }) },
    );
    expect(() => home(body("v1beta1", { colour: "x".repeat(140_000) }), colourful)).toThrow(
      /what only v1beta1 can hold/,
    );
  });

  it.each([
    "no JSON",
    "[]",
    '{"v1":{"spec":1}}',
    '{"v1":{"metadata":{"name":["=",null,"x"]}}}',
    `{"v1":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  ])("is not put back of an annotation that a client has damaged, and nothing is written: %s", (text) => {
    const old = there(FULL);
    const damaged = { ...old, metadata: { ...old.metadata, annotations: { [KEPT_ANNOTATION]: text } } };
    expect(() => home(damaged)).toThrow(
      /^Shop default\/corner cannot be converted from v1beta1 to v1: metadata\.annotations: its annotation lotse\.dev\/kept cannot be read/,
    );
    const stored = { ...FULL, metadata: { ...FULL.metadata, annotations: { [KEPT_ANNOTATION]: text } } };
    expect(there(stored).spec).toMatchObject({ size: "40m2" });
  });

  it("is not put back as a value of another type", () => {
    const forged = {
      ...body("v1beta1", { size: "40m2" }),
      metadata: { name: "corner", annotations: { [KEPT_ANNOTATION]: '{"v1":{"spec":{"owner":["=",null,7]}}}' } },
    };
    expect(() => home(forged)).toThrow(
      "Shop corner cannot be converted from v1beta1 to v1: spec.owner: the annotation lotse.dev/kept puts it back as what v1 does not take: it must be of the type object, is integer",
    );
  });
});

describe("a conversion that goes wrong says object, versions and field:", () => {
  const failing = (to: (old: never) => unknown) => shop(OLD, STORED, { ...CONVERSION, to });
  const old = body("v1beta1", { size: "40m2" });
  const where = "Shop default/corner cannot be converted from v1beta1 to v1: ";
  type Old = { spec: { shape: { kind: string }; size: string; ports: number[] }; metadata: Fields };

  it.each<[string, (old: never) => unknown, string]>([
    [
      "it reads a field of what is not there",
      ({ spec }: Old) => ({ spec: { squareMetres: spec.shape.kind.length } }),
      "spec.shape: Cannot read properties of undefined (reading 'kind')",
    ],
    [
      "it walks through a list that is not there",
      ({ spec }: Old) => ({ spec: { ports: spec.ports.map(String) } }),
      "spec.ports: Cannot read properties of undefined (reading 'map')",
    ],
    [
      "it throws an error with a path",
      () => {
        throw Object.assign(new Error("is unknown"), { path: "spec.size" });
      },
      "spec.size: is unknown",
    ],
    [
      "it throws any other error",
      ({ spec }: Old) => {
        throw new Error(`cannot read ${spec.size}`);
      },
      "cannot read 40m2 (spec.size was read last)",
    ],
    [
      "it changes what it was given",
      (one: Old) => {
        one.spec.size = "1";
        return one;
      },
      "spec.size: Cannot assign to read only property 'size' of object '#<Object>'",
    ],
    ["it returns nothing", () => undefined, "the conversion returns nothing; it has to return at least { spec }"],
    ["it returns no spec", () => ({}), "the conversion returns no spec; it has to return at least { spec }"],
    [
      "it returns a promise",
      async () => ({ spec: {} }),
      "the conversion returns a promise; it has to return the object itself",
    ],
    [
      "it returns what JSON has not",
      () => ({ spec: { since: new Date(0) } }),
      "spec.since: the conversion returns a Date, which JSON has not",
    ],
    [
      "it returns no number",
      () => ({ spec: { squareMetres: Number.NaN } }),
      "spec.squareMetres: the conversion returns NaN, which JSON has not",
    ],
    [
      "it changes the name",
      (one: Old) => ({ ...one, metadata: { ...one.metadata, name: "other" } }),
      'metadata.name: the conversion changes it from "corner" to "other", and may change labels and annotations only',
    ],
    [
      "it changes the uid",
      (one: Old) => ({ ...one, metadata: { ...one.metadata, uid: "2" } }),
      'metadata.uid: the conversion changes it from "1" to "2", and may change labels and annotations only',
    ],
    [
      "it leaves the namespace out",
      ({ spec, metadata: { namespace: _, ...metadata } }: Old) => ({ spec, metadata }),
      'metadata.namespace: the conversion changes it from "default" to none, and may change labels and annotations only',
    ],
    [
      "it makes annotations of anything",
      ({ spec, metadata }: Old) => ({ spec, metadata: { ...metadata, annotations: { a: 1 } } }),
      "metadata.annotations: the values have to be texts",
    ],
  ])("%s", (_what, to, message) => {
    expect(() => home(old, failing(to))).toThrow(expect.objectContaining({ message: where + message }));
  });

  it("labels and annotations may change", () => {
    const kind = failing(({ metadata }: Old) => ({
      spec: { squareMetres: 1 },
      metadata: { ...metadata, labels: { c: "d" }, annotations: { e: "f" } },
    }));
    expect(home(old, kind).metadata).toMatchObject({ labels: { c: "d" }, annotations: { e: "f" } });
  });

  it.each([
    ["v2", "Shop has no version v2; it has v1beta1, v1"],
    ["", "Shop has no version ; it has v1beta1, v1"],
  ])("the version %j is not there", (version, message) => {
    expect(() => convertBody(SHOP, old, version)).toThrow(message);
  });
});
