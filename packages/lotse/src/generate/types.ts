/** TypeScript for a kind that another project defined: interfaces from its schema, and a class that handlers can name. */
import { isObject, KubeError } from "@lotse/client/meta";
import type { SchemaNode } from "../schema/index.ts";
import { isIdentifier, pascalCase, TypeNames } from "./type-names.ts";

/** A definition, as far as types need it. */
export interface TypesInput {
  readonly group: string;
  readonly names: {
    readonly kind: string;
    readonly plural: string;
    readonly singular?: string | undefined;
    readonly shortNames?: readonly string[] | undefined;
    readonly categories?: readonly string[] | undefined;
  };
  readonly scope: string;
  readonly versions: readonly TypesVersion[];
}

/** A version of a definition. */
export interface TypesVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
  readonly subresources?: { readonly status?: unknown; readonly scale?: unknown } | undefined;
}

/** The definition has no such version, or none that is served. */
export class NoVersionError extends KubeError {
  override readonly code: string = "LOTSE_NO_VERSION";
}

const HEADER = "// Written by `lotse generate types`. Do not edit: write it again when the definitions change.\n";

/** One module with the types of all `definitions`; `version` chooses another than the one that is stored. */
export function typesModule(definitions: readonly TypesInput[], version?: string): string {
  const names = new TypeNames();
  // Kinds take their names first: what is nested in one gives way to another kind.
  const classes = definitions.map((one) =>
    names.take(pascalCase(one.names.kind), pascalCase(one.group.split(".")[0] ?? "")),
  );
  const parts = definitions.map((one, i) => typesOf(one, chosenVersion(one, version), classes[i] ?? "", names));
  return `${HEADER}import { defineKind, type KubeBody } from "lotse/client";\n\n${parts.join("\n")}`;
}

function chosenVersion({ versions, names }: TypesInput, wanted: string | undefined): TypesVersion {
  const served = versions.filter((one) => one.served);
  const found =
    wanted === undefined
      ? (served.find(({ storage }) => storage) ?? served[0])
      : served.find(({ name }) => name === wanted);
  if (found) return found;
  const what =
    wanted === undefined ? `no version of ${names.kind} is served` : `${names.kind} has no version ${wanted}`;
  throw new NoVersionError(what, {
    hint: served.length > 0 ? `it has ${served.map(({ name }) => name).join(", ")}` : "the definition is not in use",
  });
}

function typesOf(definition: TypesInput, version: TypesVersion, className: string, names: TypeNames): string {
  const schema = asNode(version.schema?.openAPIV3Schema);
  const writer = new Writer(names);
  const own = Object.entries(asNode(schema.properties)).filter(([name]) => !HEAD.has(name));
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const bodyName = names.take(`${className}Body`);
  const fields = own.map(([name, child]) => {
    // An object may be looked at before a controller has written its status, whatever the schema demands.
    const optional = name === "status" || !required.has(name);
    return writer.field(name, child, `${className}${pascalCase(name)}`, optional, "  ");
  });
  const body = [
    `/** The body of ${articleFor(className)} {@link ${className}}. */`,
    `export interface ${bodyName} extends KubeBody {`,
    ...fields,
    "}",
  ].join("\n");
  const interfaces = writer.interfaces.map((text) => `${text}\n`);
  return [...interfaces, `${body}\n`, classOf(definition, version, className, bodyName, schema)].join("\n");
}

/** Fields that every object has. */
const HEAD = new Set(["apiVersion", "kind", "metadata"]);

function classOf(
  { group, names, scope }: TypesInput,
  { name: version, subresources = {} }: TypesVersion,
  className: string,
  bodyName: string,
  schema: SchemaNode,
): string {
  const lower = names.kind.toLowerCase();
  const parts: [string, unknown][] = [
    ["group", group],
    ["version", version],
    ["kind", names.kind],
    ["plural", names.plural],
    ["singular", names.singular === lower ? undefined : names.singular],
    ["namespaced", scope !== "Cluster"],
    ["shortNames", names.shortNames?.length ? names.shortNames : undefined],
    ["categories", names.categories?.length ? names.categories : undefined],
    ["subresources", ["status", "scale"].filter((one) => one in subresources)],
  ];
  const lines = parts.flatMap(([key, value]) => (value === undefined ? [] : [`  ${key}: ${source(value)},`]));
  const about = textOf(schema.description) ?? `${names.kind} of ${group}/${version}: for handlers and for the client.`;
  return [
    comment(about, ""),
    `export class ${className} extends defineKind<${bodyName}>({\n${lines.join("\n")}\n}) {}\n`,
  ].join("\n");
}

/** A value as code. */
function source(value: unknown): string {
  return Array.isArray(value) ? `[${value.map((one) => JSON.stringify(one)).join(", ")}]` : JSON.stringify(value);
}

/** Turns schemas into types, and collects the interfaces that these are made of, outer ones first. */
class Writer {
  readonly interfaces: string[] = [];
  readonly #names: TypeNames;

  constructor(names: TypeNames) {
    this.#names = names;
  }

  /** A line of an interface, with its comment. */
  field(name: string, child: unknown, typeName: string, optional: boolean, indent: string): string {
    const key = isIdentifier(name) ? name : JSON.stringify(name);
    const about = aboutField(asNode(child));
    const line = `${indent}${key}${optional ? "?" : ""}: ${this.type(asNode(child), typeName)};`;
    return about === undefined ? line : `${comment(about, indent)}\n${line}`;
  }

  /** The type of a schema; `name` is for the interface, should one be needed. */
  type(schema: SchemaNode, name: string): string {
    const type = this.#plainType(schema, name);
    return schema.nullable === true && type !== "unknown" && type !== "null" ? `${type} | null` : type;
  }

  #plainType(schema: SchemaNode, name: string): string {
    if (schema["x-kubernetes-int-or-string"] === true) return "number | string";
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return union(schema.enum);
    switch (schema.type) {
      case "string":
        return "string";
      case "integer":
      case "number":
        return "number";
      case "boolean":
        return "boolean";
      case "array":
        return this.#listType(schema, name);
      case "object":
        return this.#objectType(schema, name);
      default:
        return isObject(schema.properties) ? this.#objectType(schema, name) : "unknown";
    }
  }

  #listType(schema: SchemaNode, name: string): string {
    const items = asNode(schema.items);
    const item = this.type(items, `${name}Item`);
    return isUnion(items) ? `(${item})[]` : `${item}[]`;
  }

  #objectType(schema: SchemaNode, name: string): string {
    if (schema["x-kubernetes-embedded-resource"] === true && !hasOwnFields(schema)) {
      return "KubeBody";
    }
    const properties = Object.entries(asNode(schema.properties));
    if (properties.length > 0) return this.#interface(schema, properties, name);
    const { additionalProperties: more } = schema;
    if (isObject(more)) return `Record<string, ${this.type(asNode(more), `${name}Value`)}>`;
    // Pruned to nothing: the server keeps no field of it.
    const open = schema["x-kubernetes-preserve-unknown-fields"] === true || more === true;
    return open ? "Record<string, unknown>" : "Record<string, never>";
  }

  #interface(schema: SchemaNode, properties: readonly [string, unknown][], wanted: string): string {
    const name = this.#names.take(wanted);
    const place = this.interfaces.push("") - 1;
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const lines = properties.map(([key, child]) => {
      // What has a default is there when it is read, and may be left out when it is written: readers are many.
      return this.field(key, child, `${name}${pascalCase(key)}`, !required.has(key), "  ");
    });
    if (schema["x-kubernetes-preserve-unknown-fields"] === true) lines.push("  [field: string]: unknown;");
    const about = textOf(schema.description);
    const head = about === undefined ? "" : `${comment(about, "")}\n`;
    this.interfaces[place] = `${head}export interface ${name} {\n${lines.join("\n")}\n}`;
    return name;
  }
}

function hasOwnFields(schema: SchemaNode): boolean {
  return Object.keys(asNode(schema.properties)).some((name) => !HEAD.has(name));
}

/** Whether the type of a schema has several members, and hence needs brackets in a list. */
function isUnion(schema: SchemaNode): boolean {
  if (schema["x-kubernetes-int-or-string"] === true) return true;
  const several = Array.isArray(schema.enum) && new Set(schema.enum).size > 1;
  return several || (schema.nullable === true && schema.type !== undefined);
}

function union(values: readonly unknown[]): string {
  return [...new Set(values.map((one) => JSON.stringify(one)))].join(" | ");
}

/** What is known of a field beyond its type. An interface has its description itself. */
function aboutField(schema: SchemaNode): string | undefined {
  const parts = [
    textOf(schema.description),
    schema.default === undefined ? undefined : `@default ${JSON.stringify(schema.default)}`,
  ].filter((one) => one !== undefined);
  return parts.length === 0 ? undefined : parts.join("\n");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** A doc comment. Nothing in a description may end it. */
function comment(text: string, indent: string): string {
  const lines = text.replaceAll("*/", "*\\/").split(/\r?\n/);
  const [only = ""] = lines;
  if (lines.length === 1) return `${indent}/** ${only.trim()} */`;
  const inner = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return [`${indent}/**`, ...inner, `${indent} */`].join("\n");
}

function articleFor(name: string): "a" | "an" {
  return /^[AEIOU]/.test(name) ? "an" : "a";
}

function asNode(value: unknown): SchemaNode {
  return isObject(value) ? (value as SchemaNode) : {};
}
