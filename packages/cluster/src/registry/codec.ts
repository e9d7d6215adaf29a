import type { FieldError } from "./fields.ts";
import type { ApiMeta, ApiObject } from "./object.ts";
import type { Resolver, Schema } from "./schema/index.ts";

/** A schema and the way to follow its references. */
export interface SchemaView {
  readonly schema: Schema;
  readonly resolve: Resolver;
}

/** A body that was read into an object, with the fields that the kind does not have. */
export interface Decoded {
  readonly object: ApiObject;
  /** Paths of dropped fields: `spec.bogus`. */
  readonly unknownFields: readonly string[];
}

/** Rewrites objects of one kind between its versions, where that takes more than another name for the version. */
export interface Converter {
  /** In the same order; those that are in the wanted version already stay as they are. Rejects with a StatusError. */
  convert(objects: readonly ApiObject[], apiVersion: string): Promise<ApiObject[]>;
}

/** The text that was wrong about a body: the words after `cannot be handled as a Kind: `. */
export class DecodeError extends Error {
  /** What is said instead where the value was no body but made by a strategic merge. */
  readonly ofMerge: string;

  constructor(message: string, ofMerge = message) {
    super(message);
    this.ofMerge = ofMerge;
  }
}

/**
 * How one version of a kind is read, completed and checked. Built-in kinds behave like the typed structs of a real
 * server, custom resources like documents under a schema; everything above treats them alike.
 */
export interface Codec {
  /** Turns parsed JSON into an object of this kind, dropping what the kind does not have. Throws DecodeError. */
  decode(body: Record<string, unknown>): Decoded;
  /** What is wrong with a body that says it is of another kind, when it is read as that. */
  misread?(body: Record<string, unknown>): string | undefined;
  /** Fills in defaults; changes `object`. */
  applyDefaults(object: ApiObject): void;
  /**
   * What is wrong with the object's content, apart from metadata; `earlier` is that. `old` is there on updates, and
   * `warn` is told what is forgiven because it was so before.
   */
  validate(
    object: ApiObject,
    old?: ApiObject,
    subresource?: string,
    earlier?: readonly FieldError[],
    warn?: (text: string) => void,
  ): FieldError[];
  /** A stored object as this version shows it. Never changes its argument. */
  fromStorage(stored: ApiObject): ApiObject;
  /** An object of this version as it is stored. */
  toStorage(object: ApiObject): ApiObject;
  /** There when versions differ in more than their name: what only a webhook knows how to do. */
  readonly converter?: Converter | undefined;
  /**
   * Must have resolved for objects in other versions before {@link fromStorage} sees them, where it is there. Lists and
   * watches share what was converted before; a client that reads one object wants to know what it looks like now.
   */
  prepareReads?(stored: readonly ApiObject[], anew?: boolean): Promise<void>;
  /** Takes the place of {@link toStorage} where it is there. */
  convertToStorage?(object: ApiObject): Promise<ApiObject>;
  /** The same object with its fields in the order in which a real server writes them. Never changes its argument. */
  inOrder(object: ApiObject): ApiObject;
  /** The same for metadata that go out by themselves, whatever object they are of. */
  metaInOrder(metadata: ApiMeta): ApiMeta;
  /** The status of an object that was just created, where the kind has one before a controller writes it. */
  emptyStatus(): unknown;
  /** An object of which nothing is set yet, where the kind has fields that are there nevertheless. */
  readonly zero?: ApiObject;
  /** The kind's schema, for patches by merge key and for OpenAPI. */
  readonly schema: SchemaView;
  /** The schema of whole objects, metadata included, by which ownership of fields is kept. */
  readonly tracked: SchemaView;
}
