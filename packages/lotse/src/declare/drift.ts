/** A child that is not what was applied: what has changed, and what to do about it. */
import type { KubeObject } from "@lotse/client";

/**
 * A field of a child that another client has changed.
 *
 * @example
 * ```ts
 * const field: DriftedField = { path: "spec.replicas", live: 5, wanted: 3, by: ["kubectl-edit"] };
 * ```
 */
export interface DriftedField {
  /** `spec.replicas`, `spec.template.spec.containers[name=web].image` */
  readonly path: string;
  /** What it is now; undefined when another client took it away. */
  readonly live: unknown;
  /** What the function returns for it. */
  readonly wanted: unknown;
  /** Whose it is now, by the names under which the server knows who wrote a field; empty when it was taken away. */
  readonly by: readonly string[];
}

/**
 * A child that is not what was applied, because another client has changed it. What the API server fills in or writes
 * in another form is no drift, and neither is what other clients add in fields of their own.
 *
 * @example
 * ```ts
 * operator.children(Site, { onDrift: ({ fields }) => (fields.every(({ path }) => path === "spec.replicas") ? "keep" : "repair") }, pages);
 * ```
 */
export interface Drift {
  /** What its siblings call it. */
  readonly key: string;
  /** As the server has it now. */
  readonly child: KubeObject;
  readonly fields: readonly DriftedField[];
  /** All who have changed something, as far as the server tells. */
  readonly by: readonly string[];
}

/** What to do about a drift: bring the child back to what it shall be, or leave it until what it shall be is something else. */
export type DriftAnswer = "repair" | "keep";
