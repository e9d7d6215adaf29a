// TypeScript types of the built-in kinds: one module for each group version.
import { splitName } from "./names.mjs";
import { generatedModule } from "./output.mjs";

/** @typedef {import("./schemas.mjs").Schema} Schema */

/** Everything of the machinery that is not a kind of a group lives with meta/v1. */
const META = "meta-v1";

/** Types whose JSON is not what their schema says, or whose schema says nothing. */
const SPECIAL = new Map([
  ["Time", "string"],
  ["MicroTime", "string"],
  ["Quantity", "string"],
  ["IntOrString", "number | string"],
  ["RawExtension", "unknown"],
  ["Patch", "unknown"],
  ["JSON", "unknown"],
  ["FieldsV1", "Record<string, unknown>"],
  ["CustomResourceSubresourceStatus", "Record<string, unknown>"],
  ["JSONSchemaPropsOrArray", "JSONSchemaProps | JSONSchemaProps[]"],
  ["JSONSchemaPropsOrBool", "JSONSchemaProps | boolean"],
  ["JSONSchemaPropsOrStringArray", "JSONSchemaProps | string[]"],
]);

/**
 * @param {Map<string, Schema>} schemas
 * @returns {Map<string, string>} file name → text
 */
export function typeModules(schemas) {
  /** @type {Map<string, string[]>} */
  const components = new Map();
  for (const name of schemas.keys()) {
    const module = moduleOf(name);
    components.set(module, [...(components.get(module) ?? []), name]);
  }
  /** @type {Map<string, string>} */
  const files = new Map();
  const modules = [...components.keys()].sort();
  for (const module of modules) files.set(`${module}.ts`, typeModule(module, components.get(module) ?? [], schemas));
  const exports = modules.map((module) => `export type * as ${aliasOf(module)} from "./${module}.ts";\n`);
  files.set("index.ts", generatedModule(exports.join("")));
  return files;
}

/** @param {string} component */
function moduleOf(component) {
  const segments = splitName(component).package.split(".");
  if (segments.includes("apimachinery")) return META;
  return segments.slice(-2).join("-");
}

/** @param {string} module */
const aliasOf = (module) => module.replace("-", "");

/**
 * @param {string} module
 * @param {string[]} names
 * @param {Map<string, Schema>} schemas
 */
function typeModule(module, names, schemas) {
  /** @type {Set<string>} */
  const imports = new Set();
  /** @param {string} component */
  const reference = (component) => {
    const target = moduleOf(component);
    const { type } = splitName(component);
    if (target === module) return type;
    imports.add(target);
    return `${aliasOf(target)}.${type}`;
  };
  const declarations = names.map((name) => declaration(splitName(name).type, schemas.get(name) ?? {}, reference));
  const importLines = [...imports].sort().map((m) => `import type * as ${aliasOf(m)} from "./${m}.ts";\n`);
  return generatedModule(`${importLines.join("")}${importLines.length > 0 ? "\n" : ""}${declarations.join("\n")}`);
}

/**
 * @param {string} type
 * @param {Schema} schema
 * @param {(component: string) => string} reference
 */
function declaration(type, schema, reference) {
  const special = SPECIAL.get(type);
  if (special !== undefined) return `export type ${type} = ${special};\n`;
  if (schema.properties === undefined) throw new Error(`The type ${type} has no properties and no rule in SPECIAL`);
  const kinds = schema["x-kubernetes-group-version-kind"] ?? [];
  const only = kinds.length === 1 ? kinds[0] : undefined;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([name, property]) => {
    let value = typeOf(property, reference);
    if (only && name === "kind") value = JSON.stringify(only.kind);
    if (only && name === "apiVersion") {
      value = JSON.stringify(only.group === "" ? only.version : `${only.group}/${only.version}`);
    }
    return `  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${value};\n`;
  });
  if (only === undefined) return `export interface ${type} {\n${fields.join("")}}\n`;
  // An alias, not an interface: only an alias can be given where any object with an index signature is wanted.
  const group = only.group === "" ? only.version : `${only.group}/${only.version}`;
  return `/** The kind ${only.kind} of ${group}. */\nexport type ${type} = {\n${fields.join("")}};\n`;
}

/**
 * @param {Schema} schema
 * @param {(component: string) => string} reference
 * @returns {string}
 */
function typeOf(schema, reference) {
  if (schema.$ref !== undefined) return reference(schema.$ref);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  switch (schema.type) {
    case "array": {
      const item = typeOf(schema.items ?? {}, reference);
      return item.includes("|") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return `Record<string, ${typeOf(schema.additionalProperties ?? {}, reference)}>`;
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "string":
      return "string";
    default:
      return "unknown";
  }
}
