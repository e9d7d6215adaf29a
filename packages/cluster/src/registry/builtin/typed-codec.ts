import { deepClone, deepEqual, lookup } from "@lotse/client/meta";
import { type Codec, type Decoded, DecodeError, type SchemaView } from "../codec.ts";
import { type FieldError, notSupported, required } from "../fields.ts";
import { type ApiMeta, type ApiObject, isRecord } from "../object.ts";
import type { Schema } from "../schema/index.ts";
import { type BuiltinTables, TypedShape } from "./typed-shape.ts";

/** Rewrites an object between two versions of its kind; both directions, neither changes its argument. */
export interface Conversion {
  readonly fromStorage: (stored: ApiObject) => ApiObject;
  readonly toStorage: (object: ApiObject) => ApiObject;
}

/** A built-in kind as its codec needs it. */
export interface TypedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The component that describes it: `io.k8s.api.core.v1.ConfigMap`. */
  readonly ref: string;
  /** The same for another built-in kind, if there is one. */
  readonly refOf?: (apiVersion: unknown, kind: unknown) => string | undefined;
  readonly defaults?: ((object: ApiObject) => void) | undefined;
  readonly conversion?: Conversion | undefined;
  /** Its strategy finds missing fields, too, and words them differently. */
  readonly checksItself?: boolean;
  /** Paths, without indexes, whose mistakes its strategy words. */
  readonly ownChecks?: ReadonlySet<string>;
}

/** Lists that a type calls required and that may nevertheless be empty. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  "EndpointSlice.endpoints",
  "CSINodeSpec.drivers",
  "TokenRequestSpec.audiences",
  "Role.rules",
  "ClusterRole.rules",
  "DeviceRequestAllocationResult.device",
]);

/** A built-in kind: its schema comes from the generated tables and is only looked at when a request needs it. */
export class TypedCodec implements Codec {
  readonly #tables: () => BuiltinTables;
  readonly #kind: TypedKind;
  #zero: ApiObject | undefined;

  constructor(tables: () => BuiltinTables, kind: TypedKind) {
    this.#tables = tables;
    this.#kind = kind;
  }

  get schema(): SchemaView {
    const { schemas } = this.#tables();
    return { schema: schemas.get(this.#kind.ref), resolve: schemas.get };
  }

  get tracked(): SchemaView {
    return this.schema;
  }

  decode(body: Record<string, unknown>): Decoded {
    const shape = new TypedShape(this.#tables());
    const read = shape.read(body, this.#kind.ref);
    const { apiVersion: _, kind: __, ...rest } = read;
    const object = { kind: this.#kind.kind, apiVersion: this.#kind.apiVersion, ...rest };
    return { object: object as unknown as ApiObject, unknownFields: shape.unknownFields };
  }

  misread(body: Record<string, unknown>): string | undefined {
    const ref = this.#kind.refOf?.(body.apiVersion, body.kind);
    if (ref === undefined) return undefined;
    try {
      new TypedShape(this.#tables()).read(body, ref);
      return undefined;
    } catch (error) {
      if (error instanceof DecodeError) return error.message;
      throw error;
    }
  }

  get zero(): ApiObject {
    this.#zero ??= this.decode({ metadata: {} }).object;
    return this.#zero;
  }

  emptyStatus(): unknown {
    const ref = this.schema.schema.properties?.status?.$ref;
    return ref === undefined ? undefined : new TypedShape(this.#tables()).read({}, ref);
  }

  applyDefaults(object: ApiObject): void {
    this.#kind.defaults?.(object);
  }

  validate(object: ApiObject, old?: ApiObject): FieldError[] {
    const errors: FieldError[] = [];
    if (this.#kind.checksItself) return errors;
    const { schema } = this.schema;
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      // The status is written by controllers, and a real server hardly checks it.
      if (key === "metadata" || key === "status" || key === "apiVersion" || key === "kind") continue;
      if (old !== undefined && deepEqual(object[key], lookup(old, key))) continue;
      if (lookup(object, key) === undefined) {
        if (schema.required?.includes(key)) errors.push(required(key));
      } else this.#check(object[key], property, key, errors);
    }
    const { ownChecks } = this.#kind;
    return ownChecks?.size ? errors.filter(({ field }) => !ownChecks.has(field.replace(/\[\d+\]/g, "[]"))) : errors;
  }

  #check(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice(schema.$ref.lastIndexOf(".") + 1);
      this.#checkStruct(value, this.#tables().schemas.get(schema.$ref), name, path, errors);
      return;
    }
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) this.#check(item, schema.items ?? {}, `${path}[${i}]`, errors);
    } else if (isRecord(value) && typeof schema.additionalProperties === "object") {
      for (const [key, item] of Object.entries(value)) {
        this.#check(item, schema.additionalProperties, `${path}[${key}]`, errors);
      }
    } else if (schema.enum !== undefined && value !== "" && !schema.enum.includes(value as string)) {
      errors.push(notSupported(path, value, schema.enum.map(String)));
    }
  }

  #checkStruct(value: unknown, schema: Schema, name: string, path: string, errors: FieldError[]): void {
    if (!isRecord(value) || schema.properties === undefined) return;
    // A pod template's or claim template's metadata is checked with the metadata of the object itself.
    for (const [key, property] of Object.entries(schema.properties)) {
      if (name === "ObjectMeta" || name.startsWith("JSONSchemaProps")) return;
      const item = value[key];
      const field = `${path}.${key}`;
      if (schema.required?.includes(key) && isMissing(item, `${name}.${key}`)) errors.push(required(field));
      else if (item !== undefined && item !== null) this.#check(item, property, field, errors);
    }
  }

  fromStorage(stored: ApiObject): ApiObject {
    const { conversion } = this.#kind;
    return conversion ? this.inOrder(conversion.fromStorage(stored)) : stored;
  }

  inOrder(object: ApiObject): ApiObject {
    const tables = this.#tables();
    // What is stored may be of another version than this one.
    const [version = "", group = ""] = object.apiVersion.split("/").reverse();
    const ref = tables.schemas.refOfKind(group, version, object.kind) ?? this.#kind.ref;
    return tables.order.arrange(object, ref);
  }

  metaInOrder(metadata: ApiMeta): ApiMeta {
    return metadata;
  }

  toStorage(object: ApiObject): ApiObject {
    return this.#kind.conversion?.toStorage(deepClone(object)) ?? object;
  }
}

function isMissing(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.length === 0 && !MAY_BE_EMPTY.has(name);
  if (value === null) return !MAY_BE_EMPTY.has(name);
  return value === undefined || value === "";
}
