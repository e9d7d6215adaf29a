/** Kinds with two versions, for tests of conversion. */
import type { SchemaNode } from "../../schema/index.ts";
import type { AnyConversion, ConvertedKind } from "./kind.ts";

type Fields = Record<string, unknown>;

const status: SchemaNode = {
  type: "object",
  properties: {
    phase: { type: "string" },
    lotse: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

/** The schema of a whole object. */
export function objectSchema(spec: SchemaNode, ofStatus: SchemaNode = status): SchemaNode {
  return { type: "object", required: ["spec"], properties: { spec, status: ofStatus } };
}

/** A kind `Shop` of `example.com`, stored as `v1`, with `v1beta1` beside it. */
export function shop(
  old: SchemaNode,
  stored: SchemaNode,
  conversion: { to: (old: never) => unknown; from: (stored: never) => unknown },
  more: Partial<ConvertedKind> = {},
): ConvertedKind {
  return {
    group: "example.com",
    kind: "Shop",
    plural: "shops",
    storageVersion: "v1",
    versions: [
      { name: "v1beta1", schema: () => old },
      { name: "v1", schema: () => stored },
    ],
    conversions: new Map([["v1beta1", conversion as AnyConversion]]),
    lossless: true,
    ...more,
  };
}

/** The pair that most tests use: a size that became a number, ports that got names, and a colour that is gone. */
export const OLD: SchemaNode = objectSchema({
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "string", pattern: "^[0-9]{1,3}m2$" },
    colour: { type: "string", maxLength: 20 },
    ports: { type: "array", maxItems: 5, items: { type: "integer", minimum: 1, maximum: 65_535 } },
    tags: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
      items: { type: "object", required: ["key"], properties: { key: { type: "string" } } },
    },
  },
});

/** The schema of the version in which objects are kept. */
export const STORED: SchemaNode = objectSchema({
  type: "object",
  required: ["squareMetres"],
  properties: {
    squareMetres: { type: "integer", minimum: 0, maximum: 999 },
    floors: { type: "integer", minimum: 1, maximum: 9, default: 1 },
    owner: {
      type: "object",
      properties: { name: { type: "string" }, phone: { type: "string", nullable: true } },
    },
    ports: {
      type: "array",
      maxItems: 5,
      items: {
        type: "object",
        required: ["number"],
        properties: { number: { type: "integer", minimum: 1, maximum: 65_535 }, name: { type: "string" } },
      },
    },
    tags: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key"],
      items: {
        type: "object",
        required: ["key"],
        properties: { key: { type: "string" }, value: { type: "string" } },
      },
    },
  },
});

interface OldShop {
  readonly spec: { readonly size: string; readonly ports?: readonly number[]; readonly tags?: readonly Fields[] };
}

interface StoredShop {
  readonly spec: {
    readonly squareMetres: number;
    readonly ports?: readonly { readonly number: number }[];
    readonly tags?: readonly Fields[];
  };
}

/** Loses nothing that the other version has, and knows nothing of the rest. */
export const CONVERSION = {
  to: ({ spec }: OldShop) => ({
    spec: {
      squareMetres: Number.parseInt(spec.size, 10),
      ...(spec.ports && { ports: spec.ports.map((number) => ({ number })) }),
      ...(spec.tags && { tags: spec.tags }),
    },
  }),
  from: ({ spec }: StoredShop) => ({
    spec: {
      size: `${spec.squareMetres}m2`,
      ...(spec.ports && { ports: spec.ports.map(({ number }) => number) }),
      ...(spec.tags && { tags: spec.tags.map(({ key }) => ({ key })) }),
    },
  }),
};

/** A kind whose two versions lose nothing. */
export const SHOP: ConvertedKind = shop(OLD, STORED, CONVERSION);
