import type { CelSlot } from "./cel.ts";
import type { Codec, Decoded, SchemaView } from "./codec.ts";
import type { ApiObject } from "./object.ts";
import {
  applyDefaults,
  type CompiledRules,
  compileRules,
  evaluateRules,
  type FieldError,
  formatFieldError,
  hasRules,
  noReferences,
  prune,
  rulesBlocked,
  type Schema,
  validateValue,
} from "./schema/index.ts";
import { type BuiltinTables, TypedShape } from "./typed-shape.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

export interface CustomKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The version that objects are written down in. Between versions only this name changes. */
  readonly storageApiVersion: string;
  readonly schema: Schema;
}

/** A custom resource: a document under the schema of its definition. */
export class CustomCodec implements Codec {
  readonly #tables: () => BuiltinTables;
  readonly #kind: CustomKind;
  readonly #cel: CelSlot;
  readonly #hasRules: boolean;
  #rules: CompiledRules | undefined;
  #tracked: Schema | undefined;
  /** What was read from storage before: objects there never change, so neither does what they look like. */
  readonly #read = new WeakMap<ApiObject, ApiObject>();

  constructor(tables: () => BuiltinTables, cel: CelSlot, kind: CustomKind) {
    this.#tables = tables;
    this.#cel = cel;
    this.#kind = kind;
    this.#hasRules = hasRules(kind.schema);
  }

  get schema(): SchemaView {
    return { schema: this.#kind.schema, resolve: noReferences };
  }

  get tracked(): SchemaView {
    const { schemas } = this.#tables();
    const { schema } = this.#kind;
    this.#tracked ??= {
      ...schema,
      properties: {
        ...schema.properties,
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { $ref: OBJECT_META },
      },
    };
    return { schema: this.#tracked, resolve: (ref) => schemas.get(ref) };
  }

  decode(body: Record<string, unknown>): Decoded {
    const shape = new TypedShape(this.#tables());
    // Metadata is typed even where nothing else is; its own fields are named without their parent in errors.
    const typed = shape.read(body.metadata ?? {}, OBJECT_META, "metadata");
    const { schemas } = this.#tables();
    const { value, unknown } = prune({ ...body, metadata: typed }, this.#kind.schema, (ref) => schemas.get(ref), {
      resourceRoot: true,
      objectMeta: schemas.get(OBJECT_META),
    });
    const object = value as unknown as ApiObject;
    return { object, unknownFields: [...shape.unknownFields, ...unknown].sort() };
  }

  applyDefaults(object: ApiObject): void {
    const filled = applyDefaults(object, this.#kind.schema, noReferences);
    if (filled === object) return;
    for (const key of Object.keys(object)) if (!Object.hasOwn(filled, key)) delete object[key];
    Object.assign(object, filled);
  }

  validate(object: ApiObject, old?: ApiObject, subresource?: string): FieldError[] {
    const errors = subresource === "status" ? this.#checkStatus(object, old) : this.#checkAll(object, old);
    errors.sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
    if (this.#hasRules) errors.push(...this.#checkRules(object, old, errors));
    return errors;
  }

  #checkAll(object: ApiObject, old: ApiObject | undefined): FieldError[] {
    return validateValue(object, this.#kind.schema, old === undefined ? {} : { old });
  }

  /** A write to the status is not to blame for what is wrong elsewhere. */
  #checkStatus(object: ApiObject, old: ApiObject | undefined): FieldError[] {
    const schema = this.#kind.schema.properties?.status;
    if (schema === undefined || object.status === undefined) return [];
    return validateValue(object.status, schema, { path: "status", ...(old === undefined ? {} : { old: old.status }) });
  }

  #checkRules(object: ApiObject, old: ApiObject | undefined, errors: readonly FieldError[]): FieldError[] {
    const blocked = rulesBlocked(errors);
    if (blocked) return [blocked];
    if (this.#rules === undefined) {
      const { engine } = this.#cel;
      if (engine === undefined)
        throw new Error(`the rules of ${this.#kind.kind} were never checked when it was defined`);
      this.#rules = compileRules(this.#kind.schema, engine);
    }
    return evaluateRules(object, old, this.#rules);
  }

  fromStorage(stored: ApiObject): ApiObject {
    let object = this.#read.get(stored);
    if (object === undefined) {
      const { value } = prune(stored, this.#kind.schema, noReferences, { resourceRoot: true });
      object = { ...applyDefaults(value, this.#kind.schema, noReferences), apiVersion: this.#kind.apiVersion };
      this.#read.set(stored, object);
    }
    return object;
  }

  toStorage(object: ApiObject): ApiObject {
    return { ...object, apiVersion: this.#kind.storageApiVersion };
  }

  emptyStatus(): undefined {
    return undefined;
  }
}
