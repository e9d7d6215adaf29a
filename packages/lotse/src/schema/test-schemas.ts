/** A schema with all that a CRD can say, for tests of what is made and checked by schemas. */
import type { SchemaNode } from "./node.ts";

const port: SchemaNode = {
  type: "object",
  required: ["name", "number"],
  properties: {
    name: { type: "string", pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$", maxLength: 15 },
    number: { type: "integer", format: "int32", minimum: 1, maximum: 65_535 },
    protocol: { type: "string", enum: ["TCP", "UDP"], default: "TCP" },
  },
};

/** The spec of a kind. */
export const EVERYTHING: SchemaNode = {
  type: "object",
  required: ["name", "size", "ports", "target"],
  properties: {
    name: { type: "string", minLength: 1, maxLength: 12 },
    code: { type: "string", pattern: "^[A-Z]{3}-\\d{2,4}(x|yz)?$" },
    email: { type: "string", format: "email" },
    since: { type: "string", format: "date-time" },
    address: { type: "string", format: "ipv4" },
    network: { type: "string", format: "cidr" },
    id: { type: "string", format: "uuid" },
    every: { type: "string", format: "duration" },
    secret: { type: "string", format: "byte" },
    size: { type: "integer", minimum: 3, maximum: 11, multipleOf: 2 },
    ratio: { type: "number", minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true },
    weight: { type: "number" },
    enabled: { type: "boolean" },
    note: { type: "string", nullable: true },
    target: { "x-kubernetes-int-or-string": true },
    ports: {
      type: "array",
      minItems: 1,
      maxItems: 4,
      items: port,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    zones: {
      type: "array",
      minItems: 2,
      items: { type: "string", enum: ["a", "b", "c"] },
      "x-kubernetes-list-type": "set",
    },
    labels: { type: "object", additionalProperties: { type: "string", maxLength: 5 }, maxProperties: 4 },
    limits: { type: "object", minProperties: 1, additionalProperties: { type: "integer", minimum: 0 } },
    anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    template: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
    source: {
      type: "object",
      properties: { kind: { type: "string" }, url: { type: "string" }, path: { type: "string" } },
      required: ["kind"],
      anyOf: [
        { properties: { kind: { enum: ["git"] } }, required: ["url"] },
        { properties: { kind: { enum: ["disk"] } }, required: ["path"] },
      ],
    },
    mode: { type: "string", allOf: [{ pattern: "^[ab]+$" }, { maxLength: 3 }], not: { enum: ["aa"] } },
  },
};
