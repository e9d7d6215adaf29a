/** An object that shows what a kind is about, made from nothing but its schema. */
import { isObject } from "@lotse/client/meta";
import type { SchemaNode } from "../schema/index.ts";

const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2030-01-01T00:00:00Z",
  date: "2030-01-01",
  email: "jo@example.com",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  cidr: "192.0.2.0/24",
  byte: "ZXhhbXBsZQ==",
  uri: "https://example.com",
  hostname: "example.com",
  duration: "1h",
};

/** The smallest value that a schema asks for: what it gives as an example or default, else what is required. */
export function exampleOf(schema: unknown): unknown {
  if (!isObject(schema)) return {};
  const node = schema as SchemaNode;
  if (node.example !== undefined) return node.example;
  if (node.default !== undefined) return node.default;
  if (Array.isArray(node.enum) && node.enum.length > 0) return node.enum[0];
  if (node["x-kubernetes-int-or-string"] === true) return 1;
  switch (node.type) {
    case "object":
      return objectExample(node);
    case "array":
      return Array.from({ length: numberOr(node.minItems, 0) }, () => exampleOf(node.items));
    case "string":
      return BY_FORMAT[String(node.format)] ?? "example".padEnd(numberOr(node.minLength, 0), "x");
    case "integer":
    case "number":
      return numberExample(node);
    case "boolean":
      return false;
    default:
      return {};
  }
}

function objectExample(node: SchemaNode): object {
  const properties = isObject(node.properties) ? node.properties : {};
  const required = Array.isArray(node.required) ? node.required : [];
  const wanted = Object.entries(properties).filter(
    ([name, child]) => required.includes(name) || (isObject(child) && child.example !== undefined),
  );
  return Object.fromEntries(wanted.map(([name, child]) => [name, exampleOf(child)]));
}

function numberExample(node: SchemaNode): number {
  const step = numberOr(node.multipleOf, 1);
  const least = numberOr(node.minimum, Math.min(1, numberOr(node.maximum, 1)));
  return node.exclusiveMinimum === true ? least + step : Math.ceil(least / step) * step;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
