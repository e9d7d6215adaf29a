import { setKey } from "@lotse/client/meta";
import { type BuiltinTables, TypedShape } from "../builtin/typed-shape.ts";
import type { CelSlot } from "../cel.ts";
import type { Codec, Converter, Decoded, SchemaView } from "../codec.ts";
import { byKeys } from "../field-order.ts";
import type { FieldError as RegistryError } from "../fields.ts";
import type { ApiMeta, ApiObject } from "../object.ts";
import {
  applyDefaults,
  type CompiledRules,
  compileRules,
  embeddedErrors,
  evaluateRules,
  type FieldError,
  formatFieldError,
  hasRules,
  noReferences,
  prune,
  rulesBlocked,
  type Schema,
  validateValue,
} from "../schema/index.ts";
import { type ScalePaths, scaleErrors } from "./scale-values.ts";

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** One version of a custom kind as its codec needs it. */
export interface CustomKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** The version that objects are written down in. Between versions only this name changes. */
  readonly storageApiVersion: string;
  readonly schema: Schema;
  /** Those of all versions by their `apiVersion`, also of versions that are not served any more. */
  readonly schemas: ReadonlyMap<string, Schema>;
  /** Undefined when versions only differ in their name. */
  readonly converter?: Converter | undefined;
  /** There when it can be scaled. */
  readonly scale?: ScalePaths | undefined;
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
  readonly converter: Converter | undefined;
  readonly prepareReads?: (stored: readonly ApiObject[], anew?: boolean) => Promise<void>;
  readonly convertToStorage?: (object: ApiObject) => Promise<ApiObject>;

  constructor(tables: () => BuiltinTables, cel: CelSlot, kind: CustomKind) {
    this.#tables = tables;
    this.#cel = cel;
    this.#kind = kind;
    this.#hasRules = hasRules(kind.schema);
    this.converter = kind.converter;
    if (kind.converter) {
      const { converter } = kind;
      this.prepareReads = (stored, anew) => this.#prepareReads(stored, converter, anew === true);
      this.convertToStorage = async (object) =>
        this.#pruned((await converter.convert([object], kind.storageApiVersion))[0] as ApiObject);
    }
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
    return { schema: this.#tracked, resolve: schemas.get };
  }

  decode(body: Record<string, unknown>): Decoded {
    const shape = new TypedShape(this.#tables());
    // Metadata is typed even where nothing else is; its own fields are named without their parent in errors.
    const typed = shape.read(body.metadata ?? {}, OBJECT_META, "metadata");
    const { schemas } = this.#tables();
    const { value, unknown } = prune({ ...body, metadata: typed }, this.#kind.schema, schemas.get, {
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
    for (const [key, value] of Object.entries(filled)) setKey(object, key, value);
  }

  validate(
    object: ApiObject,
    old?: ApiObject,
    subresource?: string,
    earlier: readonly RegistryError[] = [],
    warn: (text: string) => void = () => {},
  ): FieldError[] {
    const errors = subresource === "status" ? this.#checkStatus(object, old) : this.#checkAll(object, old);
    errors.sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
    const { scale } = this.#kind;
    if (scale !== undefined) errors.push(...(scaleErrors(object, scale, subresource === "status") as FieldError[]));
    const before = earlier.filter((error): error is FieldError => error.type !== "NotFound");
    if (this.#hasRules) errors.push(...this.#checkRules(object, old, [...before, ...errors], warn));
    return errors;
  }

  #checkAll(object: ApiObject, old: ApiObject | undefined): FieldError[] {
    const errors = validateValue(object, this.#kind.schema, old === undefined ? {} : { old });
    // What was stored before definitions asked for it is left in peace.
    return old === undefined ? [...errors, ...embeddedErrors(object, this.#kind.schema)] : errors;
  }

  /** A write to the status is not to blame for what is wrong elsewhere. */
  #checkStatus(object: ApiObject, old: ApiObject | undefined): FieldError[] {
    const schema = this.#kind.schema.properties?.status;
    if (schema === undefined || object.status === undefined) return [];
    return validateValue(object.status, schema, { path: "status", ...(old === undefined ? {} : { old: old.status }) });
  }

  #checkRules(
    object: ApiObject,
    old: ApiObject | undefined,
    errors: readonly FieldError[],
    warn: (text: string) => void,
  ): FieldError[] {
    const blocked = rulesBlocked(errors);
    if (blocked) return [blocked];
    if (this.#rules === undefined) {
      const { engine } = this.#cel;
      if (engine === undefined)
        throw new Error(`the rules of ${this.#kind.kind} were never checked when it was defined`);
      this.#rules = compileRules(this.#kind.schema, engine);
    }
    return evaluateRules(object, old, this.#rules, "", (error) => warn(formatFieldError(error)));
  }

  fromStorage(stored: ApiObject): ApiObject {
    let object = this.#read.get(stored);
    if (object === undefined) {
      if (this.converter && stored.apiVersion !== this.#kind.apiVersion) {
        throw new Error(`an object in ${stored.apiVersion} was not converted to ${this.#kind.apiVersion}`);
      }
      object = this.#shape(stored);
      this.#read.set(stored, object);
    }
    return object;
  }

  /** What is written down is completed by the version that it is written in; the others only leave out what they lack. */
  #shape(stored: ApiObject): ApiObject {
    const object = this.#completed(stored);
    const { apiVersion } = this.#kind;
    return byKeys(object.apiVersion === apiVersion ? object : this.#pruned({ ...object, apiVersion }));
  }

  #completed(stored: ApiObject): ApiObject {
    return applyDefaults(this.#pruned(stored), this.#schemaOf(stored), noReferences);
  }

  #pruned(object: ApiObject): ApiObject {
    return prune(object, this.#schemaOf(object), noReferences, { resourceRoot: true }).value;
  }

  #schemaOf({ apiVersion }: ApiObject): Schema {
    return this.#kind.schemas.get(apiVersion) ?? this.#kind.schema;
  }

  async #prepareReads(stored: readonly ApiObject[], converter: Converter, anew: boolean): Promise<void> {
    const { apiVersion } = this.#kind;
    const unknown = stored.filter((object) => object.apiVersion !== apiVersion && (anew || !this.#read.has(object)));
    if (unknown.length === 0) return;
    const completed = unknown.map((object) => this.#completed(object));
    const converted = await converter.convert(completed, apiVersion);
    for (const [i, object] of unknown.entries()) {
      this.#read.set(object, byKeys(this.#pruned(converted[i] as ApiObject)));
    }
  }

  inOrder(object: ApiObject): ApiObject {
    return byKeys(object);
  }

  /** As a document its metadata are in the order of their keys; by themselves they are a struct. */
  metaInOrder(metadata: ApiMeta): ApiMeta {
    return this.#tables().order.arrange(metadata, OBJECT_META);
  }

  toStorage(object: ApiObject): ApiObject {
    const { apiVersion, storageApiVersion } = this.#kind;
    return apiVersion === storageApiVersion ? object : this.#pruned({ ...object, apiVersion: storageApiVersion });
  }

  emptyStatus(): undefined {
    return undefined;
  }
}
