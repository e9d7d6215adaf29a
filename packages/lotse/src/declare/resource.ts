import {
  type CustomResourceDefinition,
  defineKind,
  type GenMeta,
  type KindClass,
  type KubeObject,
} from "@lotse/client";
import {
  type Column,
  crdOf,
  type InputOf,
  type JsonSchemaSource,
  type OutputOf,
  type ScalePlaces,
  type SchemaGap,
  type ServerRule,
} from "../schema/index.ts";
import type { ColumnsIn, FieldsIn, ScaleIn } from "./columns.ts";
import { DeclarationError, declarationError } from "./errors.ts";
import { type Objective, type ObjectiveInput, planObjective } from "./objective.ts";
import { type PlannedVersion, planVersions, type VersionsInput, type VersionsPlan } from "./plan-versions.ts";
import type { NewBody, ResourceBody, WithCommon } from "./resource-body.ts";
import { callerLocation } from "./source-location.ts";
import type {
  BodyOfVersion,
  CheckedVersions,
  Conversion,
  ConversionsOf,
  KindVersion,
  StorageOf,
  TypesOfVersions,
  VersionDefinition,
  VersionTypes,
} from "./versions.ts";

/** What both forms of {@link resource} have: the names of a kind, and what is true for all of its versions. */
export interface KindDefinition<Scale = ScalePlaces, Fields = readonly string[]> {
  /** API group, with a dot: `rates.example.com`. */
  readonly group: string;
  /** CamelCase, singular: `ExchangeRate`. */
  readonly kind: string;
  /** Lower case. Default: the kind in lower case with an English plural ending. */
  readonly plural?: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Default `"Namespaced"`. */
  readonly scope?: "Namespaced" | "Cluster";
  /** For kubectl: `["xr"]`. */
  readonly shortNames?: readonly string[];
  /** For kubectl: `["all"]`. */
  readonly categories?: readonly string[];
  /** What the kind is for, in a sentence or two: `kubectl explain` begins with it. */
  readonly description?: string;
  /** Rules in CEL over the whole object: `self.spec.min <= self.spec.max`. */
  readonly rules?: readonly ServerRule[];
  /** Where its replicas are, for `kubectl scale` and autoscalers. */
  readonly scale?: Scale;
  /** Fields by which objects can be listed, beside their name: `[".spec.colour"]`. */
  readonly selectableFields?: Fields;
  /** How soon objects are `Ready` after a change, and how many of the changes have to make it; measured, not enforced. */
  readonly objective?: ObjectiveInput;
}

/** What {@link resource} is made of. */
export interface ResourceDefinition<
  Spec,
  Status,
  Version extends string = string,
  Columns = readonly Column[],
  Scale = ScalePlaces,
  Fields = readonly string[],
> extends KindDefinition<Scale, Fields> {
  /** API version: `v1`, `v1beta1`. */
  readonly version: Version;
  /** Schema of `spec`: its static type, and the CRD's validation. */
  readonly spec: Spec;
  /** Schema of `status`. Without one the status takes anything. */
  readonly status?: Status;
  /** Columns of `kubectl get`, after the name; the age comes last by itself. */
  readonly columns?: Columns;
  /** Of a kind with several versions: see {@link VersionedDefinition}. */
  readonly versions?: undefined;
}

/**
 * What {@link resource} is made of when a kind has several versions.
 *
 * @example
 * ```ts
 * const Rate = resource({
 *   group: "rates.example.com",
 *   kind: "Rate",
 *   versions: {
 *     v1beta1: { spec: z.object({ cur: z.string() }), deprecated: true },
 *     v1: { spec: z.object({ currency: z.string() }), storage: true },
 *   },
 *   convert: {
 *     v1beta1: {
 *       to: ({ spec }) => ({ spec: { currency: spec.cur } }),
 *       from: ({ spec }) => ({ spec: { cur: spec.currency } }),
 *     },
 *   },
 * });
 * ```
 */
export interface VersionedDefinition<Versions, Handled extends string, Scale = ScalePlaces, Fields = readonly string[]>
  extends KindDefinition<Scale, Fields> {
  /** By name, oldest first. One of them has `storage: true`. */
  readonly versions: CheckedVersions<Versions>;
  /**
   * How objects get from a version to the one in which they are kept, and back. `"on.convert"`: `operator.on.convert`
   * says it. Versions that look alike need none.
   */
  readonly convert?: ConversionsOf<Versions> | "on.convert";
  /** Whether what a version cannot hold is kept in an annotation, and put back on the way home. Default true. */
  readonly lossless?: boolean;
  /** The version that handlers of the class see. Default: the storage version. */
  readonly handles?: Handled;
}

/** The names that {@link ResourceClass.version} takes. */
type VersionName<Versions> = [keyof Versions] extends [never] ? string : keyof Versions & string;

/** The class of one of these versions. */
export type ClassOfVersion<Versions, Name> = Name extends keyof Versions
  ? Versions[Name] extends VersionTypes
    ? ResourceClass<Versions[Name]["spec"], Versions[Name]["status"], Versions[Name]["input"], Versions>
    : never
  : // biome-ignore lint/suspicious/noExplicitAny: of a kind whose versions are not known any class may come
    ResourceClass<any, any, any, Versions>;

/**
 * A class of custom objects: usable wherever a built-in class is.
 *
 * @example
 * ```ts
 * const shop = new Shop({ metadata: { name: "corner" }, spec: { name: "Corner" } });
 * const rentOf = ({ size }: typeof Shop.Spec): number => size * 12;
 * console.log(rentOf(shop.spec));
 * ```
 */
// biome-ignore lint/complexity/noBannedTypes: no versions are known, and those of any kind fit
export interface ResourceClass<Spec, Status, Input = Spec, Versions = {}>
  extends KindClass<KubeObject<ResourceBody<Spec, Status>>, NewBody<Input, Status>> {
  /** The CustomResourceDefinition to install: one for all versions. */
  crd(): CustomResourceDefinition["body"];
  /** What the schemas of this version say and no API server checks; `lotse check` tells it. */
  gaps(): readonly SchemaGap[];
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  /** All versions of the kind, in the order of declaration. */
  readonly versions: readonly KindVersion[];
  /** The name of the version in which objects are kept. */
  readonly storageVersion: string;
  /** The class of another version, typed by it: `Shop.version("v1beta1")`. */
  version<Name extends VersionName<Versions>>(name: Name): ClassOfVersion<Versions, Name>;
  /** Conversions by version, without the storage version; empty for one version. */
  readonly conversions: ReadonlyMap<string, Conversion>;
  /** Whether what a version cannot hold is kept in an annotation. */
  readonly lossless: boolean;
  /** What users of the kind may expect; undefined: nothing is promised. */
  readonly objective: Objective | undefined;
  /** A type, for `typeof Shop.Spec`: the spec as it is read. There is no such value. */
  readonly Spec: Spec;
  /** A type, for `typeof Shop.Status`: the status as it is read. There is no such value. */
  readonly Status: WithCommon<Status>;
  /** An object from its name and its spec: `Shop.gen({ name: "corner", spec: { size: 10 } })`. Sends nothing. */
  gen<T extends KubeObject<ResourceBody<Spec, Status>>>(
    this: KindClass<T>,
    o: GenMeta & Pick<NewBody<Input, Status>, "spec" | "status">,
  ): T;
}

/** The classes of one kind with all that they share. */
type AnyResourceClass = ResourceClass<unknown, unknown>;

/**
 * Declares a kind of custom objects: its CRD, its validation and its static types, from the same few lines.
 *
 * @example
 * ```ts
 * export const ExchangeRate = resource({
 *   group: "rates.example.com",
 *   version: "v1",
 *   kind: "ExchangeRate",
 *   spec: z.object({ currency: z.string().regex(/^[A-Z]{3}$/) }),
 *   status: z.object({ rate: z.number().optional() }),
 * });
 * ```
 */
export function resource<
  Spec extends JsonSchemaSource = JsonSchemaSource,
  Status extends JsonSchemaSource = JsonSchemaSource<Record<string, unknown>>,
  const Version extends string = string,
  const Columns extends readonly Column[] = readonly Column[],
  // biome-ignore lint/complexity/noBannedTypes: none, when a kind is declared in the short form
  const Versions extends Readonly<Record<string, VersionDefinition>> = {},
  const Handled extends keyof Versions & string = StorageOf<Versions>,
  const Scale extends ScalePlaces = ScalePlaces,
  const Fields extends readonly string[] = readonly string[],
>(
  definition:
    | ResourceDefinition<
        Spec,
        Status,
        Version,
        ColumnsIn<ResourceBody<OutputOf<Spec>, OutputOf<Status>>, Columns>,
        ScaleIn<ResourceBody<OutputOf<Spec>, OutputOf<Status>>, Scale>,
        FieldsIn<ResourceBody<OutputOf<Spec>, OutputOf<Status>>, Fields>
      >
    | VersionedDefinition<
        Versions,
        Handled,
        ScaleIn<BodyOfVersion<Versions[keyof Versions]>, Scale>,
        FieldsIn<BodyOfVersion<Versions[keyof Versions]>, Fields>
      >,
): ClassOfKind<Spec, Status, Version, Versions, Handled> {
  return declareResource(definition as unknown as KindDefinition & VersionsInput) as never;
}

/** The class of a kind of either form. */
export type ClassOfKind<Spec, Status, Version extends string, Versions, Handled> = [keyof Versions] extends [never]
  ? ClassOfShortForm<Spec, Status, Version>
  : ClassOfVersion<TypesOfVersions<Versions>, Handled>;

function declareResource(definition: KindDefinition & VersionsInput): AnyResourceClass {
  checkNames(definition);
  const plan = planVersions(definition);
  const sourceLocation = callerLocation();
  const classes = new Map<string, AnyResourceClass>();
  const shared = sharedBy(definition, plan, classes);
  for (const version of plan.versions) {
    const base = classOfVersion(definition, version);
    classes.set(version.name, Object.assign(base, shared, { gaps: () => version.gaps, sourceLocation }) as never);
  }
  return classes.get(plan.handled) as AnyResourceClass;
}

/** The class of a kind with one version. */
export type ClassOfShortForm<Spec, Status, Version extends string> = ResourceClass<
  OutputOf<Spec>,
  OutputOf<Status>,
  InputOf<Spec>,
  {
    readonly [V in Version]: {
      readonly spec: OutputOf<Spec>;
      readonly status: OutputOf<Status>;
      readonly input: InputOf<Spec>;
    };
  }
>;

function classOfVersion(definition: KindDefinition, { name, scale }: PlannedVersion) {
  return defineKind({
    group: definition.group,
    version: name,
    kind: definition.kind,
    ...(definition.plural !== undefined && { plural: definition.plural }),
    ...(definition.singular !== undefined && { singular: definition.singular }),
    namespaced: definition.scope !== "Cluster",
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    subresources: scale ? ["status", "scale"] : ["status"],
    ...(scale && { scale: { specReplicasPath: scale.spec, statusReplicasPath: scale.status } }),
  });
}

/** What the classes of all versions have in common. */
function sharedBy(
  definition: KindDefinition & VersionsInput,
  plan: VersionsPlan,
  classes: ReadonlyMap<string, AnyResourceClass>,
) {
  const { versions, storage, conversions, converted } = plan;
  return {
    crd: () => {
      const description = (classes.get(storage) as AnyResourceClass).description;
      return structuredClone(crdOf({ description, versions, converted }));
    },
    versions: versions.map(
      ({ name, served, storage: stored, deprecated, schema, places }): KindVersion => ({
        name,
        served,
        storage: stored,
        deprecated,
        schema: () => structuredClone(schema),
        places,
      }),
    ),
    storageVersion: storage,
    conversions,
    lossless: definition.lossless ?? true,
    objective: definition.objective && planObjective(definition.objective, definition.kind),
    version: (name: string): AnyResourceClass => {
      const found = classes.get(name);
      if (found) return found;
      const hint = `there are ${versions.map((one) => one.name).join(", ")}`;
      throw declarationError(`${definition.kind} has no version ${JSON.stringify(name)}`, hint);
    },
  };
}

/** Whether `value` was made by {@link resource}. */
export function isResourceClass(value: unknown): value is ResourceClass<unknown, unknown> {
  return typeof value === "function" && typeof (value as { crd?: unknown }).crd === "function";
}

function checkNames({ group, kind }: { group: string; kind: string }): void {
  const wrong = (what: string, value: string, hint: string) =>
    new DeclarationError(`${JSON.stringify(value)} is not ${what}`, { hint });
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)) {
    throw wrong("an API group", group, "use a domain name that you own: rates.example.com");
  }
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) throw wrong("a kind", kind, "use CamelCase: ExchangeRate");
}
