/** The versions of a kind: what each of them says, and what the compiler knows of them. */
import type { KubeBody } from "@lotse/client";
import type {
  Column,
  InputOf,
  JsonSchemaSource,
  OutputOf,
  ScalePlaces,
  SchemaNode,
  ServerRule,
} from "../schema/index.ts";
import type { ColumnsIn, FieldsIn, ScaleIn } from "./columns.ts";
import type { ResourceBody } from "./resource-body.ts";

/**
 * One version of a kind with several.
 *
 * @example
 * ```ts
 * const v1beta1 = { spec: z.object({ cur: z.string() }), deprecated: "use rates.example.com/v1" } satisfies VersionDefinition;
 * ```
 */
export interface VersionDefinition {
  /** Schema of `spec`: its static type, and the CRD's validation. */
  readonly spec: JsonSchemaSource;
  /** Schema of `status`. Without one the status takes anything. */
  readonly status?: JsonSchemaSource;
  /** Columns of `kubectl get`, after the name; the age comes last by itself. */
  readonly columns?: readonly Column[];
  /** Whether clients may ask for it. Default true. */
  readonly served?: boolean;
  /** The version in which objects are kept: exactly one. A kind with one version needs no such mark. */
  readonly storage?: boolean;
  /** Clients that use it are warned, with this text. */
  readonly deprecated?: boolean | string;
  /** Where its replicas are; else those of the kind. */
  readonly scale?: ScalePlaces;
  /** Fields by which objects can be listed: `[".spec.colour"]`; else those of the kind. */
  readonly selectableFields?: readonly string[];
  /** Rules over the whole object, after those of the kind. */
  readonly rules?: readonly ServerRule[];
  /** What `kubectl explain` says of it; else that of the kind. */
  readonly description?: string;
}

/** What the compiler knows of one version. */
export interface VersionTypes {
  readonly spec: unknown;
  readonly status: unknown;
  readonly input: unknown;
}

/** What the compiler knows of versions, by name. */
export type TypesOfVersions<Versions> = {
  readonly [V in keyof Versions]: Versions[V] extends { readonly spec: infer Spec }
    ? { readonly spec: OutputOf<Spec>; readonly status: StatusOf<Versions[V]>; readonly input: InputOf<Spec> }
    : VersionTypes;
};

type StatusOf<Version> = Version extends { readonly status: infer Status } ? OutputOf<Status> : Record<string, unknown>;

/** The body of a version's objects. */
export type BodyOfVersion<Version> = Version extends { readonly spec: infer Spec }
  ? ResourceBody<OutputOf<Spec>, StatusOf<Version>>
  : never;

/** The name of the version in which objects are kept. */
export type StorageOf<Versions> =
  OnlyOf<Versions> extends never
    ? { [V in keyof Versions]: Versions[V] extends { readonly storage: true } ? V : never }[keyof Versions] & string
    : OnlyOf<Versions>;

/** The one name that there is; never when there are several. */
type OnlyOf<Versions, V = keyof Versions> = V extends keyof Versions
  ? [keyof Versions] extends [V]
    ? V & string
    : never
  : never;

/** The same versions; where a path leads nowhere or an option is none, versions with those that there are. */
export type CheckedVersions<Versions> = {
  readonly [V in keyof Versions]: Versions[V] extends Corrected<Versions[V]> ? Versions[V] : Corrected<Versions[V]>;
};

type Corrected<Version> = {
  readonly [K in keyof Version]: K extends keyof VersionDefinition
    ? CheckedOption<BodyOfVersion<Version>, K, Version[K]>
    : never;
};

type CheckedOption<B, K, Value> = K extends "columns"
  ? Value extends readonly Column[]
    ? ColumnsIn<B, Value>
    : Value
  : K extends "selectableFields"
    ? Value extends readonly string[]
      ? FieldsIn<B, Value>
      : Value
    : K extends "scale"
      ? ScaleIn<B, Value>
      : Value;

/**
 * What a conversion gives back: the spec is enough. `apiVersion` and `kind` are set by the framework; metadata and status
 * are carried over where they are left out.
 */
export type Converted<B> = B extends { spec: unknown } ? Pick<B, "spec"> & Partial<Omit<B, "spec">> : B;

/**
 * From a version to the one in which objects are kept, and back. Both functions are pure: they get whole objects and
 * change nothing in them.
 *
 * @example
 * ```ts
 * const v1beta1: Conversion<{ spec: { cur: string } }, { spec: { currency: string } }> = {
 *   to: ({ spec }) => ({ spec: { currency: spec.cur } }),
 *   from: ({ spec }) => ({ spec: { cur: spec.currency } }),
 * };
 * ```
 */
export interface Conversion<Old = KubeBody, Stored = KubeBody> {
  /** From the old version to the storage version. */
  to(old: Readonly<Old>): Converted<Stored>;
  /** From the storage version to the old one. */
  from(stored: Readonly<Stored>): Converted<Old>;
}

/** The conversions of a kind, by version; each but the storage version has one. */
export type ConversionsOf<Versions> = {
  readonly [V in Exclude<keyof Versions & string, StorageOf<Versions>>]?: Conversion<
    BodyOfVersion<Versions[V]>,
    BodyOfVersion<Versions[StorageOf<Versions> & keyof Versions]>
  >;
};

/**
 * A version of a kind, as the class knows it.
 *
 * @example
 * ```ts
 * const old = Shop.versions.filter(({ deprecated }) => deprecated !== false).map(({ name }) => name);
 * ```
 */
export interface KindVersion {
  /** `v1beta1` */
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** A text is the warning that clients get. */
  readonly deprecated: boolean | string;
  /** Structural schema of the whole object, as in the CRD. */
  schema(): SchemaNode;
  /** Where its rules were written: `.properties[spec].x-kubernetes-validations[0]` → `operator.ts:12`. */
  readonly places: ReadonlyMap<string, string>;
}
