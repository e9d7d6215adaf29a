import type { ApiMeta, ApiObject } from "../object.ts";
import type { PrinterColumn } from "../resource.ts";
import type { Schema } from "../schema/index.ts";

/** A CustomResourceDefinition, as far as the server looks into it. */
export interface CrdNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** One version of a definition, as far as the server reads it. */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: {
    readonly status?: Record<string, never>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A condition in the status of a definition. */
export interface CrdCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A CustomResourceDefinition, as far as the server reads it. */
export interface Crd {
  readonly metadata: ApiMeta;
  readonly spec: {
    readonly group: string;
    readonly names: CrdNames;
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly CrdVersion[];
    readonly conversion?: { readonly strategy: string; readonly webhook?: Record<string, unknown> };
    readonly preserveUnknownFields?: boolean;
  };
  readonly status: {
    readonly conditions: readonly CrdCondition[] | null;
    readonly acceptedNames: CrdNames;
    readonly storedVersions: readonly string[] | null;
  };
}

/** Only for objects that were read as CustomResourceDefinitions: their form has been checked. */
export function asCrd(object: ApiObject): Crd {
  return object as unknown as Crd;
}

/** Whether the kind is served. */
export function isEstablished(crd: Crd): boolean {
  return conditionOf(crd, "Established")?.status === "True";
}

/** The condition of a type, of which a definition has at most one. */
export function conditionOf(crd: Crd, type: string): CrdCondition | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type);
}

/** A list of conditions with one of them set; its time moves only when its status does. */
export function withCondition(
  conditions: readonly CrdCondition[] | null | undefined,
  condition: CrdCondition,
): CrdCondition[] {
  const list = [...(conditions ?? [])];
  const index = list.findIndex((known) => known.type === condition.type);
  const known = list[index];
  if (!known) list.push(condition);
  else {
    const unchanged = known.status === condition.status;
    list[index] = unchanged ? { ...condition, lastTransitionTime: known.lastTransitionTime } : condition;
  }
  return list;
}
