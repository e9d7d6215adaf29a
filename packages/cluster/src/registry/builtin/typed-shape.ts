/**
 * Reads JSON as the typed structs of a real server would: unknown fields fall away and are reported, a wrong type is an
 * error that names the Go field, null is the same as absent, and zero values appear or vanish as the struct's tags say.
 */
import { setKey } from "@lotse/client/meta";
import { DecodeError } from "../codec.ts";
import type { FieldOrder } from "../field-order.ts";
import { isRecord } from "../object.ts";
import { canonicalQuantity, isQuantity } from "../quantity-form.ts";
import type { Schema } from "../schema/index.ts";
import type { MessageField, MessageTable, SchemaTable } from "../tables/index.ts";

/** The generated tables of all built-in types, opened on first use. */
export interface BuiltinTables {
  readonly schemas: SchemaTable;
  readonly messages: MessageTable;
  readonly order: FieldOrder;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TIME = `${META}.Time`;
const MICRO_TIME = `${META}.MicroTime`;
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const API_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const SCHEMA_PROPS = `${API_EXTENSIONS}.JSONSchemaProps`;
/** Any JSON at all. */
const RAW: ReadonlySet<string> = new Set([
  `${META}.FieldsV1`,
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  `${API_EXTENSIONS}.JSON`,
]);
/** Structs whose zero is written as nothing at all. */
const OMITTED_STRUCTS: ReadonlySet<string> = new Set([QUANTITY, INT_OR_STRING, ...RAW]);
/** Times are written as null when no client set them, except the one that every object has. */
const TIMES: ReadonlySet<string> = new Set([TIME, MICRO_TIME]);

/** Lists in which it makes a difference whether nothing was said or that there is nothing. */
const SAID_EMPTY: ReadonlySet<string> = new Set(["HPAScalingRules.policies"]);
/** Fields that are written even when they point to nothing. */
const WRITTEN_NULL: Readonly<Record<string, readonly string[]>> = {
  AzureFilePersistentVolumeSource: ["secretNamespace"],
  ScaleIOPersistentVolumeSource: ["secretRef"],
  TypedLocalObjectReference: ["apiGroup"],
  TypedObjectReference: ["apiGroup"],
};

interface Place {
  /** As errors and warnings print it: `spec.containers[0].image`. */
  readonly path: string;
  /** As the decoder of a real server prints it: the innermost struct, then the names without indexes. */
  readonly struct: string;
  readonly names: string;
}

/** One reading of one body. */
export class TypedShape {
  readonly unknownFields: string[] = [];
  readonly #tables: BuiltinTables;
  readonly #fields = new Map<string, ReadonlyMap<string, MessageField>>();

  constructor(tables: BuiltinTables) {
    this.#tables = tables;
  }

  /** The object that `ref` names, made of `value`. `path` is where it stands in the body; empty for the root. */
  read(value: unknown, ref: string, path = "", names = ""): Record<string, unknown> {
    return this.#ref(value, ref, { path, struct: shortName(ref), names }) as Record<string, unknown>;
  }

  #ref(value: unknown, ref: string, place: Place): unknown {
    if (RAW.has(ref)) return value;
    switch (ref) {
      case TIME:
        return readTime(value, place);
      case MICRO_TIME:
        return readMicroTime(value, place);
      case QUANTITY: {
        if (typeof value !== "number" && typeof value !== "string") throw wrongType(value, place, "resource.Quantity");
        if (!isQuantity(value)) {
          throw new DecodeError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
          );
        }
        return canonicalQuantity(value);
      }
      case INT_OR_STRING:
        if (typeof value === "number") return expectType(value, "integer", place, "int32");
        return expectType(value, "string", place, "intstr.IntOrString");
      case `${SCHEMA_PROPS}OrBool`:
        return typeof value === "boolean" ? value : this.#ref(value, SCHEMA_PROPS, place);
      case `${SCHEMA_PROPS}OrArray`:
        if (Array.isArray(value)) return value.map((item) => this.#ref(item, SCHEMA_PROPS, place));
        return this.#ref(value, SCHEMA_PROPS, place);
      case `${SCHEMA_PROPS}OrStringArray`:
        return Array.isArray(value) ? value : this.#ref(value, SCHEMA_PROPS, place);
    }
    const schema = this.#tables.schemas.get(ref);
    if (schema.properties === undefined) return this.#value(value, schema, place);
    if (!isRecord(value)) throw wrongType(value, place, goType({ $ref: ref }));
    return this.#struct(value, ref, schema.properties, place);
  }

  #struct(value: Record<string, unknown>, ref: string, properties: Readonly<Record<string, Schema>>, place: Place) {
    const fields = this.#fieldsOf(ref);
    const struct = shortName(ref);
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const path = place.path === "" ? key : `${place.path}.${key}`;
      const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (schema === undefined) {
        this.unknownFields.push(path);
        continue;
      }
      if (item === null || item === undefined) continue;
      const names = place.names === "" ? key : `${place.names}.${key}`;
      const read = this.#value(item, schema, { path, struct, names });
      const field = fields.get(key);
      const said = SAID_EMPTY.has(`${struct}.${key}`);
      if (field && !field.pointer && !field.always && !said && isZero(read, field)) continue;
      // The storage does not tell an empty list from none.
      const none = field?.always && field.repeated && isZero(read, field);
      setKey(result, key, none ? null : read);
    }
    this.#writeZeros(result, fields, properties, place);
    for (const name of WRITTEN_NULL[struct] ?? []) result[name] ??= null;
    return result;
  }

  /** Structs that are no pointers are always there, and so is the zero of a field without `omitempty`. */
  #writeZeros(
    result: Record<string, unknown>,
    fields: ReadonlyMap<string, MessageField>,
    properties: Readonly<Record<string, Schema>>,
    place: Place,
  ): void {
    for (const [name, field] of fields) {
      if (Object.hasOwn(result, name) || !Object.hasOwn(properties, name)) continue;
      const single = !field.repeated && !field.map;
      if (single && !field.pointer && "message" in field.type && TIMES.has(field.type.message)) {
        if (name !== "creationTimestamp") result[name] = null;
      } else if (single && !field.pointer && "message" in field.type && !OMITTED_STRUCTS.has(field.type.message)) {
        const path = place.path === "" ? name : `${place.path}.${name}`;
        result[name] = this.#ref({}, field.type.message, { ...place, path });
      } else if (field.always && !field.pointer) {
        if (!single) result[name] = null;
        else if ("scalar" in field.type) result[name] = ZERO[field.type.scalar];
      }
    }
  }

  #value(value: unknown, schema: Schema, place: Place): unknown {
    if (schema.$ref !== undefined) return this.#ref(value, schema.$ref, place);
    switch (schema.type) {
      case "array": {
        if (!Array.isArray(value)) throw wrongType(value, place, goType(schema));
        const items = schema.items ?? {};
        return value.map((item, i) => this.#value(item, items, { ...place, path: `${place.path}[${i}]` }));
      }
      case "object": {
        if (!isRecord(value)) throw wrongType(value, place, goType(schema));
        const items = schema.additionalProperties;
        if (typeof items !== "object") return value;
        const result: Record<string, unknown> = {};
        for (const [key, item] of Object.entries(value)) {
          if (item === null) setKey(result, key, items.type === "string" ? "" : {});
          else setKey(result, key, this.#value(item, items, { ...place, path: `${place.path}.${key}` }));
        }
        return result;
      }
      case "string":
        if (schema.format === "byte") return readBytes(value, place);
        return expectType(value, "string", place, "string");
      case "integer":
        return expectType(value, "integer", place, goType(schema));
      case "number":
        return expectType(value, "number", place, "float64");
      case "boolean":
        return expectType(value, "boolean", place, "bool");
      default:
        return value;
    }
  }

  #fieldsOf(ref: string): ReadonlyMap<string, MessageField> {
    let fields = this.#fields.get(ref);
    if (fields === undefined) {
      const all = new Map<string, MessageField>();
      for (const field of this.#tables.messages.get(ref)?.fields.values() ?? []) {
        if (!field.inline) all.set(field.name, field);
        else if ("message" in field.type)
          for (const [name, part] of this.#fieldsOf(field.type.message)) all.set(name, part);
      }
      fields = all;
      this.#fields.set(ref, fields);
    }
    return fields;
  }
}

const ZERO = { string: "", bytes: null, int32: 0, int64: 0, bool: false, double: 0 } as const;

/** Structs are never zero here: those that are no pointers are written even when they are empty. */
function isZero(value: unknown, field: MessageField): boolean {
  if (field.repeated) return Array.isArray(value) && value.length === 0;
  if (field.map) return isRecord(value) && Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function shortName(ref: string): string {
  return ref.slice(ref.lastIndexOf(".") + 1);
}

function goType(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split(".").slice(-2).join(".");
  switch (schema.type) {
    case "array":
      return `[]${goType(schema.items ?? {})}`;
    case "object":
      return `map[string]${typeof schema.additionalProperties === "object" ? goType(schema.additionalProperties) : "interface {}"}`;
    case "integer":
      return schema.format ?? "int32";
    case "boolean":
      return "bool";
    case "number":
      return "float64";
    default:
      return "string";
  }
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

function wrongType(value: unknown, place: Place, type: string, shown?: string): DecodeError {
  const fraction = typeof value === "number" && !Number.isInteger(value) ? `number ${value}` : undefined;
  const described = shown ?? fraction ?? jsonType(value);
  const where = place.names === "" ? "Go value" : `Go struct field ${place.struct}.${place.names}`;
  return new DecodeError(`json: cannot unmarshal ${described} into ${where} of type ${type}`, restored(value, type));
}

/** The same in the words of what makes structs of merged maps. */
function restored(value: unknown, type: string): string {
  const kind = Array.isArray(value) ? "slice" : isRecord(value) ? "map" : scalarKind(value);
  if (type.startsWith("map[")) return `cannot restore map from ${kind}`;
  if (type.startsWith("[]")) return `cannot restore slice from ${kind}`;
  if (type.includes(".")) return `cannot restore struct from: ${kind}`;
  // Go would make a letter of a number, and a whole number of a fraction.
  const converts = (kind === "int64" && type === "string") || (kind === "float64" && type.startsWith("int"));
  return converts ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}

function scalarKind(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

const LARGEST_INT32 = 2 ** 31;

function expectType<T>(value: T, type: "string" | "integer" | "number" | "boolean", place: Place, goName: string): T {
  const large = typeof value === "number" && (value >= LARGEST_INT32 || value < -LARGEST_INT32);
  if (goName === "int32" && large && Number.isInteger(value)) throw wrongType(value, place, goName, `number ${value}`);
  const fits = type === "integer" ? Number.isInteger(value) : jsonType(value) === (type === "boolean" ? "bool" : type);
  if (!fits) throw wrongType(value, place, goName);
  return value;
}

function readBytes(value: unknown, place: Place): unknown {
  if (typeof value !== "string") throw wrongType(value, place, "[]uint8");
  const text = value.replace(/[\r\n]/g, "");
  const wrong = /[^A-Za-z0-9+/=]/.exec(text);
  if (wrong) throw new DecodeError(`illegal base64 data at input byte ${wrong.index}`);
  if (text.length % 4 !== 0)
    throw new DecodeError(`illegal base64 data at input byte ${text.length - (text.length % 4)}`);
  return text;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function readTime(value: unknown, place: Place): unknown {
  if (typeof value !== "string") throw wrongType(value, place, "string");
  const ms = RFC3339.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw unreadableTime(value, "2006-01-02T15:04:05Z07:00");
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}

/** Six fractional digits exactly, as the layout of a real server asks: `toISOString()` of JavaScript does not fit. */
function readMicroTime(value: unknown, place: Place): unknown {
  if (typeof value !== "string") throw wrongType(value, place, "string");
  const digits = RFC3339.exec(value)?.[1];
  if (digits?.length !== 7) throw unreadableTime(value, "2006-01-02T15:04:05.000000Z07:00");
  const utc = new Date(Math.floor(Date.parse(value) / 1_000) * 1_000).toISOString();
  return utc.replace(/\.000Z$/, `${digits}Z`);
}

function unreadableTime(value: string, layout: string): DecodeError {
  const seconds = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(.*)$/.exec(value);
  const long = /^\.\d{6}(\d+.*)$/.exec(seconds?.[2] ?? "");
  const [rest, part] =
    seconds && layout.includes(".") ? (long ? [long[1], "Z07:00"] : [seconds[2], ".000000"]) : [value, "2006"];
  return new DecodeError(
    `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`,
  );
}
