import type { CustomResourceDefinition, KindDescription } from "@lotse/client";
import { pathsWithRules, type SchemaGap, type SchemaNode, toStructural } from "./structural.ts";
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

/** What a CRD is made of. */
export interface CrdInput {
  readonly description: KindDescription;
  /** JSON Schema of `spec`, as a schema library writes it. */
  readonly spec: unknown;
  /** JSON Schema of `status`; undefined keeps whatever is written there. */
  readonly status: unknown;
  readonly columns: readonly Column[];
}

/** Where Lotse keeps its record in the status of every kind made by `resource()`; see {@link crdOf}. */
export const RECORD_FIELD = "lotse";

/**
 * The CustomResourceDefinition of a resource: schema, status subresource, columns, names; `status.lotse` is reserved
 * for Lotse's record, which is why one PATCH of the status carries everything.
 */
export function crdOf(input: CrdInput): CustomResourceDefinition["body"] {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories } = input.description;
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
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              required: ["spec"],
              properties: { spec: toStructural(input.spec, "spec"), status: statusSchema(input.status) },
            },
          },
          subresources: { status: {} },
          additionalPrinterColumns: columnsOf(input.columns),
        },
      ],
    },
  };
}

/** One of the schemas of a kind: as its library has it, and as JSON Schema. */
export interface SchemaPart {
  readonly path: "spec" | "status";
  readonly source: unknown;
  readonly json: unknown;
}

/** What the schemas say and an API server does not do with their CRD. */
export function lookIntoSchemas(parts: readonly SchemaPart[]): ZodFindings {
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
