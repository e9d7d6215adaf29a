import type { Json } from "@lotse/client/meta";
import type { Schema } from "../schema/index.ts";
import { createNameExpander, linesByName } from "./lines.ts";
import { schemaLines } from "./schemas.ts";

/** The schemas of the built-in types, each decoded when it is first asked for. */
export interface SchemaTable {
  /**
   * The schema of an OpenAPI component such as `io.k8s.api.core.v1.PodSpec`. A `$ref` in it is again the name of a
   * component, and may have a `default` beside it. Throws on a name that is not in {@link refs}. Works without its
   * table: it is a way to follow references, and the same one each time.
   */
  readonly get: (ref: string) => Schema;
  /** The names of all components, sorted. */
  refs(): string[];
  /** The component of a kind, its list kind, or an options kind such as DeleteOptions; `""` is the core group. */
  refOfKind(group: string, version: string, kind: string): string | undefined;
}

/**
 * Opens the table of built-in schemas.
 *
 * @example
 * ```ts
 * const table = createSchemaTable();
 * table.get("io.k8s.api.core.v1.PodSpec").properties?.containers;
 * ```
 */
export function createSchemaTable(): SchemaTable {
  const expand = createNameExpander();
  const open = new Map([...linesByName(schemaLines)].map(([short, code]) => [expand(short), code]));
  const decoded = new Map<string, Schema>();
  let kinds: ReadonlyMap<string, string> | undefined;
  return {
    get(ref) {
      let schema = decoded.get(ref);
      if (schema === undefined) {
        const code = open.get(ref);
        if (code === undefined) throw new Error(`There is no built-in schema named ${ref}`);
        schema = decode(JSON.parse(code) as Code, expand);
        decoded.set(ref, schema);
      }
      return schema;
    },
    refs: () => [...open.keys()],
    refOfKind(group, version, kind) {
      kinds ??= indexKinds(open);
      return kinds.get(`${group}/${version}/${kind}`);
    },
  };
}

/** `group/version/kind` → component, read off the lines without decoding them: the kinds are the last key of a line. */
export function indexKinds(lines: Iterable<readonly [name: string, code: string]>): ReadonlyMap<string, string> {
  const kinds = new Map<string, string>();
  for (const [name, code] of lines) {
    const list = /"v":(\["[^\]]*"\])\}$/.exec(code)?.[1];
    if (list === undefined) continue;
    for (const kind of JSON.parse(list) as string[]) kinds.set(kind, name);
  }
  return kinds;
}

/** A schema in the compact form: a type code, a reference, a list, or an object of one-letter keys. */
type Code = string | [Code] | CodeObject;

interface CodeObject {
  /** type and format */
  t?: string;
  /** format without a type */
  f?: string;
  /** reference */
  r?: string;
  /** properties of an object */
  p?: Record<string, Code>;
  /** values of a map */
  m?: Code;
  /** items of a list */
  a?: Code;
  /** required */
  q?: string[];
  /** enum */
  e?: Json[];
  /** default */
  d?: Json;
  /** oneOf */
  o?: Code[];
  /** x-kubernetes-list-type */
  l?: string;
  /** x-kubernetes-list-map-keys */
  k?: string[];
  /** x-kubernetes-map-type */
  x?: string;
  /** x-kubernetes-patch-strategy */
  s?: string;
  /** x-kubernetes-patch-merge-key */
  g?: string;
  /** kinds, each as group/version/kind */
  v?: string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function decode(code: Code, expand: (short: string) => string): Schema {
  if (typeof code === "string") {
    if (code.startsWith("#")) return { $ref: expand(code.slice(1)) };
    if (code.startsWith("+")) return { $ref: expand(code.slice(1)), default: {} };
    return decodeType(code);
  }
  if (Array.isArray(code)) return { type: "array", items: decode(code[0], expand) };
  const schema: Mutable<Schema> = code.t === undefined ? {} : decodeType(code.t);
  if (code.f !== undefined) schema.format = code.f;
  if (code.r !== undefined) schema.$ref = expand(code.r);
  if (code.p !== undefined) {
    schema.type = "object";
    schema.properties = Object.fromEntries(Object.entries(code.p).map(([name, part]) => [name, decode(part, expand)]));
  }
  if (code.m !== undefined) {
    schema.type = "object";
    schema.additionalProperties = decode(code.m, expand);
  }
  if (code.a !== undefined) {
    schema.type = "array";
    schema.items = decode(code.a, expand);
  }
  if (code.q !== undefined) schema.required = code.q;
  if (code.e !== undefined) schema.enum = code.e;
  if (code.d !== undefined) schema.default = code.d;
  if (code.o !== undefined) schema.oneOf = code.o.map((part) => decode(part, expand));
  if (code.l !== undefined) schema["x-kubernetes-list-type"] = code.l;
  if (code.k !== undefined) schema["x-kubernetes-list-map-keys"] = code.k;
  if (code.x !== undefined) schema["x-kubernetes-map-type"] = code.x;
  if (code.s !== undefined) schema["x-kubernetes-patch-strategy"] = code.s;
  if (code.g !== undefined) schema["x-kubernetes-patch-merge-key"] = code.g;
  if (code.v !== undefined) schema["x-kubernetes-group-version-kind"] = code.v.map(decodeKind);
  return schema;
}

function decodeKind(text: string): { group: string; version: string; kind: string } {
  const [group = "", version = "", kind = ""] = text.split("/");
  return { group, version, kind };
}

function decodeType(letter: string): Mutable<Schema> {
  switch (letter) {
    case "s":
      return { type: "string" };
    case "y":
      return { type: "string", format: "byte" };
    case "t":
      return { type: "string", format: "date-time" };
    case "b":
      return { type: "boolean" };
    case "n":
      return { type: "integer" };
    case "i":
      return { type: "integer", format: "int32" };
    case "l":
      return { type: "integer", format: "int64" };
    case "f":
      return { type: "number" };
    case "d":
      return { type: "number", format: "double" };
    case "o":
      return { type: "object" };
    default:
      throw new Error(`The table of schemas has an unknown type "${letter}"`);
  }
}
