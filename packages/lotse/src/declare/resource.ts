import {
  type CustomResourceDefinition,
  defineKind,
  type GenMeta,
  type KindClass,
  type KubeObject,
  type ObjectMeta,
} from "@lotse/client";
import {
  type Column,
  crdOf,
  type InputOf,
  type JsonSchemaSource,
  lookIntoSchemas,
  type OutputOf,
  readJsonSchema,
  type SchemaGap,
} from "../schema/index.ts";
import type { Condition } from "./context.ts";
import { DeclarationError, declarationError } from "./errors.ts";
import { callerLocation } from "./source-location.ts";

/**
 * What Lotse keeps in the status of every kind made by {@link resource}, unless the schema has fields of these names.
 *
 * @example
 * ```ts
 * const ready = shop.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";
 * ```
 */
export interface CommonStatus {
  /** Written by `conditions.set(…)`, and by the framework for reconcilers and children. */
  readonly conditions?: Condition[];
  /** The generation that the status speaks of. */
  observedGeneration?: number;
}

/** The status of a kind as its schema says, with what every kind has. */
type WithCommon<Status> = string extends keyof Status
  ? Status & CommonStatus
  : Status & Omit<CommonStatus, keyof Status>;

/** An object of a kind made by {@link resource}. */
// An alias and no interface: it has exactly these fields, and may still stand for a body of any kind.
export type ResourceBody<Spec, Status> = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: Spec;
  status?: WithCommon<Status>;
};

/**
 * What makes an object of a kind: its spec as one writes it, and of the status, if any, the fields that are known.
 *
 * @example
 * ```ts
 * const body: ConstructorParameters<typeof Shop>[0] = { metadata: { name: "corner" }, spec: { name: "Corner" } };
 * ```
 */
export type NewBody<Input, Status> = Omit<ResourceBody<Input, Status>, "status"> & {
  status?: Partial<WithCommon<Status>>;
};

/** What {@link resource} is made of. */
export interface ResourceDefinition<Spec, Status> {
  /** API group, with a dot: `rates.example.com`. */
  readonly group: string;
  /** API version: `v1`, `v1beta1`. */
  readonly version: string;
  /** CamelCase, singular: `ExchangeRate`. */
  readonly kind: string;
  /** Lower case. Default: the kind in lower case with an English plural ending. */
  readonly plural?: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Default `"Namespaced"`. */
  readonly scope?: "Namespaced" | "Cluster";
  /** Schema of `spec`: its static type, and the CRD's validation. */
  readonly spec: Spec;
  /** Schema of `status`. Without one the status takes anything. */
  readonly status?: Status;
  /** For kubectl: `["xr"]`. */
  readonly shortNames?: readonly string[];
  /** For kubectl: `["all"]`. */
  readonly categories?: readonly string[];
  /** Columns of `kubectl get`, after the name; the age comes last by itself. */
  readonly columns?: readonly Column[];
}

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
export interface ResourceClass<Spec, Status, Input = Spec>
  extends KindClass<KubeObject<ResourceBody<Spec, Status>>, NewBody<Input, Status>> {
  /** The CustomResourceDefinition to install. */
  crd(): CustomResourceDefinition["body"];
  /** What its schemas say and no API server checks; `lotse check` tells it. */
  gaps(): readonly SchemaGap[];
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
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
  Spec extends JsonSchemaSource,
  Status extends JsonSchemaSource = JsonSchemaSource<Record<string, unknown>>,
>(definition: ResourceDefinition<Spec, Status>): ResourceClass<OutputOf<Spec>, OutputOf<Status>, InputOf<Spec>> {
  checkNames(definition);
  const base = defineKind<ResourceBody<OutputOf<Spec>, OutputOf<Status>>>({
    group: definition.group,
    version: definition.version,
    kind: definition.kind,
    ...(definition.plural !== undefined && { plural: definition.plural }),
    ...(definition.singular !== undefined && { singular: definition.singular }),
    namespaced: definition.scope !== "Cluster",
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    subresources: ["status"],
  });
  const input = {
    description: base.description,
    spec: jsonSchemaOf(definition.spec, definition.kind, "spec"),
    status: definition.status && jsonSchemaOf(definition.status, definition.kind, "status"),
    columns: definition.columns ?? [],
  };
  // Built once here as well, so that a schema that no CRD can carry fails where it is declared.
  crdOf(input);
  const { changes, gaps } = lookIntoSchemas([
    { path: "spec", source: definition.spec, json: input.spec },
    { path: "status", source: definition.status, json: input.status },
  ]);
  const [change] = changes;
  if (change) {
    throw declarationError(
      `${change.path} of ${definition.kind} has ${change.by}, which nobody would ever call: the API server checks objects, and handlers get them as they are stored`,
      "describe what is stored, and change it where it is used; .default(…) is filled in by the API server",
    );
  }
  return Object.assign(base, {
    crd: () => crdOf(input),
    gaps: () => gaps,
    sourceLocation: callerLocation(),
  }) as unknown as ResourceClass<OutputOf<Spec>, OutputOf<Status>, InputOf<Spec>>;
}

/** Whether `value` was made by {@link resource}. */
export function isResourceClass(value: unknown): value is ResourceClass<unknown, unknown> {
  return typeof value === "function" && typeof (value as { crd?: unknown }).crd === "function";
}

function checkNames({ group, version, kind }: { group: string; version: string; kind: string }): void {
  const wrong = (what: string, value: string, hint: string) =>
    new DeclarationError(`${JSON.stringify(value)} is not ${what}`, { hint });
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)) {
    throw wrong("an API group", group, "use a domain name that you own: rates.example.com");
  }
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(version))
    throw wrong("an API version", version, "use v1, v1beta1 or v1alpha1");
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind)) throw wrong("a kind", kind, "use CamelCase: ExchangeRate");
}

function jsonSchemaOf(schema: JsonSchemaSource, kind: string, part: string): unknown {
  const read = readJsonSchema(schema);
  if ("json" in read) return read.json;
  throw new DeclarationError(`the ${part} of ${kind} ${read.problem}`, { hint: read.hint, cause: read.cause });
}
