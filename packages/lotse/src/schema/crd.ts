import type { CustomResourceDefinition, KindDescription } from "@lotse/client";
import { RULES, type SchemaGap, type SchemaNode } from "./node.ts";
import { type PlacedRules, takePlaces } from "./rule-places.ts";
import { pathsWithRules, toStructural } from "./structural.ts";
import { lookIntoZod, type ZodFindings } from "./zod-schema.ts";

/** A column of `kubectl get`. */
export interface Column {
  /** Its heading. */
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** Where the value is: `.status.rate`. */
  readonly path: string;
  readonly description?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority?: number;
  readonly format?: string;
}

/**
 * Where a kind has its replicas, for `kubectl scale` and autoscalers.
 *
 * @example
 * ```ts
 * const scale = { spec: ".spec.replicas", status: ".status.replicas", selector: ".status.selector" } as const;
 * ```
 */
export interface ScalePlaces {
  /** How many are wanted: `.spec.replicas`. */
  readonly spec: string;
  /** How many there are: `.status.replicas`. */
  readonly status: string;
  /** Where the operator writes the label selector of its pods, as a text: `.status.selector`. */
  readonly selector?: string;
}

/**
 * A rule that the API server enforces, in CEL.
 *
 * @example
 * ```ts
 * const rules = [{ rule: "self.metadata.name.size() <= 20", message: "the name is too long", reason: "FieldValueInvalid" }] as const;
 * ```
 */
export interface ServerRule {
  /** CEL that must be true. `self` is the value that the rule is for, `oldSelf` what it was before an update. */
  readonly rule: string;
  /** What the client is told. */
  readonly message?: string;
  /** CEL that makes the message. */
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** The field that is blamed, below the value: `.spec.min`. */
  readonly fieldPath?: string;
  /** Also when there was no value before: then `oldSelf` is an optional. */
  readonly optionalOldSelf?: boolean;
}

/** One version of a kind, as its part of the CRD is made of it. */
export interface CrdVersionInput {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** A text is the warning that clients get. */
  readonly deprecated: boolean | string;
  /** What the kind is for, in words. */
  readonly about: string | undefined;
  /** JSON Schema of `spec`, as a schema library writes it. */
  readonly spec: unknown;
  /** JSON Schema of `status`; undefined keeps whatever is written there. */
  readonly status: unknown;
  readonly rules: readonly ServerRule[];
  readonly columns: readonly Column[];
  readonly scale: ScalePlaces | undefined;
  readonly selectableFields: readonly string[];
}

/** What a CRD is made of. */
export interface CrdInput {
  readonly description: KindDescription;
  readonly versions: readonly CrdVersionInput[];
  /** Whether objects change their form between versions: then who installs the CRD says who converts them. */
  readonly converted: boolean;
}

/** Where Lotse keeps its record in the status of every kind made by `resource()`; see {@link crdOf}. */
export const RECORD_FIELD = "lotse";

/**
 * The CustomResourceDefinition of a resource: schemas, subresources, columns, names; `status.lotse` is reserved
 * for Lotse's record, which is why one PATCH of the status carries everything.
 */
export function crdOf({ description, versions, converted }: CrdInput): CustomResourceDefinition["body"] {
  const { group, kind, plural, singular, namespaced, shortNames, categories } = description;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      scope: namespaced ? "Namespaced" : "Cluster",
      ...(versions.length > 1 && !converted && { conversion: { strategy: "None" } }),
      versions: versions.map(versionOf),
    },
  };
}

type CrdVersion = NonNullable<CustomResourceDefinition["body"]["spec"]>["versions"][number];

function versionOf(input: CrdVersionInput): CrdVersion {
  const { name, served, storage, deprecated, columns, scale, selectableFields } = input;
  return {
    name,
    served,
    storage,
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: placedSchema(input).schema },
    subresources: { status: {}, ...(scale && { scale: scaleOf(scale) }) },
    additionalPrinterColumns: columnsOf(columns),
    ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

/** The structural schema of whole objects of a version, as its CRD has it, and where its rules were written. */
export function placedSchema({ about, spec, status, rules }: CrdVersionInput): PlacedRules {
  return takePlaces({
    type: "object",
    ...(about !== undefined && { description: about }),
    required: ["spec"],
    properties: { spec: toStructural(spec, "spec"), status: statusSchema(status) },
    ...(rules.length > 0 && { [RULES]: rules.map((rule) => ({ ...rule })) }),
  });
}

const scaleOf = ({ spec, status, selector }: ScalePlaces) => ({
  specReplicasPath: spec,
  statusReplicasPath: status,
  ...(selector !== undefined && { labelSelectorPath: selector }),
});

/** One of the schemas of a kind: as its library has it, and as JSON Schema. */
export interface KindPart {
  readonly path: "spec" | "status";
  readonly source: unknown;
  readonly json: unknown;
}

/** What the schemas say and an API server does not do with their CRD. */
export function lookIntoSchemas(parts: readonly KindPart[]): ZodFindings {
  const gaps: SchemaGap[] = [];
  const functions = parts.map(({ path, source, json }) => {
    const structural = toStructural(json, path, gaps);
    return lookIntoZod(source, path, new Set(pathsWithRules(structural, path)));
  });
  return {
    changes: functions.flatMap(({ changes }) => changes),
    gaps: [...gaps, ...functions.flatMap((one) => one.gaps)],
  };
}

function statusSchema(status: unknown): SchemaNode {
  const reserved = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  if (status === undefined) return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const { required: _required, ...schema } = toStructural(status, "status");
  // The status is filled bit by bit, and the record may be its first bit: nothing in it can be required.
  const properties = {
    conditions: CONDITIONS,
    observedGeneration: GENERATION,
    ...(schema.properties as object),
    [RECORD_FIELD]: reserved,
  };
  return { ...schema, type: "object", properties };
}

/** Kubernetes conditions, as `conditions.set(…)` writes them; a schema of one's own goes before. */
const CONDITIONS: SchemaNode = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["type", "status", "lastTransitionTime", "reason", "message"],
    properties: {
      type: { type: "string", maxLength: 316 },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      lastTransitionTime: { type: "string", format: "date-time" },
      reason: { type: "string", minLength: 1, maxLength: 1024 },
      message: { type: "string", maxLength: 32_768 },
    },
  },
};

/** The generation that the status speaks of, as reconcilers write it. */
const GENERATION: SchemaNode = { type: "integer", format: "int64", minimum: 0 };

/** The declared columns, and the age that `kubectl get` shows for every other kind. */
function columnsOf(columns: readonly Column[]) {
  const all = columns.some((column) => column.name.toLowerCase() === "age")
    ? columns
    : [...columns, { name: "Age", type: "date", path: ".metadata.creationTimestamp" } as const];
  return all.map(({ path, ...column }) => ({ ...column, jsonPath: path }));
}
