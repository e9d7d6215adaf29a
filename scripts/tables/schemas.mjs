// The schemas of the built-in types, from the server's recorded OpenAPI v3 documents.
import { readEnums } from "./enums.mjs";

/**
 * @typedef {object} Schema
 * @property {string} [type]
 * @property {string} [format]
 * @property {Record<string, Schema>} [properties]
 * @property {Schema} [additionalProperties]
 * @property {Schema} [items]
 * @property {string[]} [required]
 * @property {unknown[]} [enum]
 * @property {unknown} [default]
 * @property {string} [$ref] a component's name
 * @property {Schema[]} [oneOf]
 * @property {string} [x-kubernetes-list-type]
 * @property {string[]} [x-kubernetes-list-map-keys]
 * @property {string} [x-kubernetes-map-type]
 * @property {string} [x-kubernetes-patch-strategy]
 * @property {string} [x-kubernetes-patch-merge-key]
 * @property {{ group: string; version: string; kind: string }[]} [x-kubernetes-group-version-kind]
 */

const REF_PREFIX = "#/components/schemas/";

/** Said in words or of no use to a server that takes its validation from elsewhere. */
const DROPPED = new Set(["description", "x-kubernetes-unions"]);

const COPIED = new Set([
  "type",
  "format",
  "required",
  "default",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
]);

/**
 * @param {import("./sources.mjs").Sources} sources
 * @param {import("./kinds.mjs").Kind[]} kinds
 * @returns {Map<string, Schema>} by component name, sorted
 */
export function readSchemas(sources, kinds) {
  /** @type {Map<string, Schema>} */
  const schemas = new Map();
  for (const file of openapiFiles(kinds)) {
    const document = sources.json("kubernetes", `api/openapi-spec/v3/${file}`);
    for (const [name, raw] of Object.entries(document.components.schemas)) addComponent(schemas, name, raw);
  }
  addEnums(schemas, readEnums(sources));
  return new Map([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * @param {import("./kinds.mjs").Kind[]} kinds
 * @returns {string[]}
 */
function openapiFiles(kinds) {
  const files = kinds.map(({ group, version }) => (group === "" ? `api__${version}` : `apis__${group}__${version}`));
  return [...new Set(files)].map((file) => `${file}_openapi.json`);
}

/**
 * @param {Map<string, Schema>} schemas
 * @param {string} name
 * @param {any} raw
 */
function addComponent(schemas, name, raw) {
  const schema = normalize(raw, name);
  const kinds = (raw["x-kubernetes-group-version-kind"] ?? []).map((/** @type {any} */ { group, version, kind }) => ({
    group,
    version,
    kind,
  }));
  const known = schemas.get(name);
  if (known === undefined) {
    schemas.set(name, kinds.length === 0 ? schema : { ...schema, "x-kubernetes-group-version-kind": kinds });
    return;
  }
  const { "x-kubernetes-group-version-kind": knownKinds = [], ...rest } = known;
  if (JSON.stringify(rest) !== JSON.stringify(schema)) throw new Error(`Two documents disagree about ${name}`);
  // A shared type such as DeleteOptions is listed in each document under that document's group only.
  for (const kind of kinds) {
    if (!knownKinds.some((k) => JSON.stringify(k) === JSON.stringify(kind))) knownKinds.push(kind);
  }
}

/**
 * @param {any} raw
 * @param {string} where for the error message
 * @returns {Schema}
 */
function normalize(raw, where) {
  /** @type {Record<string, unknown>} */
  const schema = {};
  for (const [key, value] of Object.entries(raw)) {
    if (DROPPED.has(key) || key === "x-kubernetes-group-version-kind") continue;
    if (COPIED.has(key)) {
      schema[key] = value;
    } else if (key === "$ref") {
      schema.$ref = refName(value);
    } else if (key === "allOf" && value.length === 1 && Object.keys(value[0]).join() === "$ref") {
      // OpenAPI v3 forbids siblings of $ref; the wrapping says nothing more.
      schema.$ref = refName(value[0].$ref);
    } else if (key === "oneOf") {
      schema.oneOf = value.map((/** @type {any} */ part) => normalize(part, where));
    } else if (key === "items" || key === "additionalProperties") {
      schema[key] = normalize(value, `${where} ${key}`);
    } else if (key === "properties") {
      schema.properties = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, normalize(property, `${where}.${name}`)]),
      );
    } else {
      throw new Error(`The generator does not know the keyword ${key} at ${where}`);
    }
  }
  return schema;
}

/** @param {string} ref */
function refName(ref) {
  if (!ref.startsWith(REF_PREFIX)) throw new Error(`A reference outside of the components: ${ref}`);
  return ref.slice(REF_PREFIX.length);
}

/**
 * @param {Map<string, Schema>} schemas
 * @param {import("./enums.mjs").EnumFact[]} enums
 */
function addEnums(schemas, enums) {
  for (const { component, property, element, values } of enums) {
    const schema = schemas.get(component);
    if (schema === undefined) continue;
    const field = schema.properties?.[property];
    const target = element ? (field?.items ?? field?.additionalProperties) : field;
    if (target?.type !== "string") throw new Error(`The enum of ${component}.${property} has no string to stand on`);
    target.enum = values;
  }
}

// --- the compact form -----------------------------------------------------------------------------------------------

/** One letter for each type and format; what is not here is spelled out. */
const TYPE_CODES = {
  "string ": "s",
  "string byte": "y",
  "string date-time": "t",
  "boolean ": "b",
  "integer ": "n",
  "integer int32": "i",
  "integer int64": "l",
  "number ": "f",
  "number double": "d",
  "object ": "o",
};

const LONG_KEYS = /** @type {const} */ ({
  "x-kubernetes-list-type": "l",
  "x-kubernetes-list-map-keys": "k",
  "x-kubernetes-map-type": "x",
  "x-kubernetes-patch-strategy": "s",
  "x-kubernetes-patch-merge-key": "g",
});

/**
 * One line for each component: its short name, a blank, its schema in the compact form.
 *
 * A schema is `"s"` (a type code), `"#name"` (a reference), `"+name"` (a reference whose default is `{}`), `[item]` (a
 * list), or an object with the keys t type code, f format, r reference, p properties, m values of a map, a items,
 * q required, e enum, d default, o oneOf, v kinds, and those of LONG_KEYS.
 * @param {Map<string, Schema>} schemas
 * @param {(name: string) => string} shortName
 */
export function encodeSchemas(schemas, shortName) {
  return [...schemas].map(([name, schema]) => `${shortName(name)} ${JSON.stringify(encode(schema, shortName))}`);
}

/**
 * @param {Schema} schema
 * @param {(name: string) => string} shortName
 * @returns {unknown}
 */
function encode(schema, shortName) {
  /** @type {Record<string, unknown>} */
  const code = {};
  const child = (/** @type {Schema} */ part) => encode(part, shortName);
  if (schema.$ref !== undefined) code.r = shortName(schema.$ref);
  if (schema.items !== undefined) code.a = child(schema.items);
  else if (schema.additionalProperties !== undefined) code.m = child(schema.additionalProperties);
  else if (schema.properties !== undefined) code.p = mapValues(schema.properties, child);
  else if (schema.type !== undefined) code.t = typeCode(schema);
  else if (schema.format !== undefined) code.f = schema.format;
  if (schema.required !== undefined) code.q = schema.required;
  if (schema.enum !== undefined) code.e = schema.enum;
  if (schema.default !== undefined) code.d = schema.default;
  if (schema.oneOf !== undefined) code.o = schema.oneOf.map(child);
  for (const [long, short] of Object.entries(LONG_KEYS)) {
    const value = schema[/** @type {keyof typeof LONG_KEYS} */ (long)];
    if (value !== undefined) code[short] = value;
  }
  const kinds = schema["x-kubernetes-group-version-kind"];
  if (kinds !== undefined) code.v = kinds.map(({ group, version, kind }) => `${group}/${version}/${kind}`);

  const keys = Object.keys(code).join("");
  if (keys === "t") return code.t;
  if (keys === "r") return `#${code.r}`;
  if (keys === "rd" && JSON.stringify(code.d) === "{}") return `+${code.r}`;
  if (keys === "a") return [code.a];
  return code;
}

/** @param {Schema} schema */
function typeCode(schema) {
  const name = `${schema.type} ${schema.format ?? ""}`;
  const code = TYPE_CODES[/** @type {keyof typeof TYPE_CODES} */ (name)];
  if (code === undefined) throw new Error(`No code for the type "${name}"`);
  return code;
}

/**
 * @template A, B
 * @param {Record<string, A>} record
 * @param {(value: A) => B} convert
 */
const mapValues = (record, convert) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]));
