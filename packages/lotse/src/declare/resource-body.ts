/** What objects of kinds made by `resource()` look like to the compiler. */
import type { ObjectMeta } from "@lotse/client";
import type { Condition } from "./context.ts";

/**
 * What Lotse keeps in the status of every kind made by `resource()`, unless the schema has fields of these names.
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
export type WithCommon<Status> = string extends keyof Status
  ? Status & CommonStatus
  : Status & Omit<CommonStatus, keyof Status>;

/** An object of a kind made by `resource()`. */
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
