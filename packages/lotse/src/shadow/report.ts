/** What a shadow has found out. */
import type { ObjectReference } from "../report/index.ts";
import type { Untried } from "./refusal.ts";
import type { ShadowVerdict } from "./verdict.ts";

export type { ShadowVerdict } from "./verdict.ts";

/** A field about which the versions differ; secret values are hidden. */
export interface ShadowField {
  /** `spec.containers[name=web].image`. */
  readonly path: string;
  /** In the cluster; absent when it is not there. */
  readonly is?: unknown;
  /** Had the shadow worked. */
  readonly would?: unknown;
}

/** An object about which the versions differ. */
export interface ShadowDifference {
  /**
   * What the new version would have done: `would-create` an object that the old one has not made, `would-change` or
   * `would-delete` one that is there; and what it would not have: `would-not-create` one that the old version has made,
   * `would-keep` one that the old version, or somebody else, has deleted.
   */
  readonly verdict: ShadowVerdict;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  /** Of `would-change`. */
  readonly fields: readonly ShadowField[];
  /** The new version's handlers that want it so; none where it is the old version that did something. */
  readonly handlers: readonly string[];
  /** The objects that they work for. */
  readonly objects: readonly Pick<ObjectReference, "kind" | "namespace" | "name">[];
  /** When it was found (ISO 8601). */
  readonly since: string;
  /** Lines of YAML: `-` what is in the cluster, `+` what would be there. */
  readonly diff: readonly string[];
}

/** What {@link RunningOperator.shadow} answers. */
export interface ShadowReport {
  readonly operator: string;
  /** Field managers of the version that works. */
  readonly beside: readonly string[];
  readonly fromScratch: boolean;
  /** What the versions differ about now. */
  readonly differences: readonly ShadowDifference[];
  /**
   * What they differ about, perhaps only because something could not be tried, because it is not known what an object was
   * like before the old version changed it, or because both have made up the values of a Secret at random.
   */
  readonly undecided: readonly ShadowDifference[];
  /** What a shadow cannot do, and what it did without being compared. */
  readonly untried: readonly Untried[];
  /** Kinds that are compared, as `plural.group`. */
  readonly kinds: readonly string[];
  /** How often an object was compared. */
  readonly compared: number;
  /** Differences that have ended. */
  readonly over: number;
  /** Objects that have changed and are not compared yet. */
  readonly unsettled: number;
  /** For how long nothing has begun or ceased to differ, in milliseconds. */
  readonly quietMs: number;
}
