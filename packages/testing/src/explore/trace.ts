/** What an operator did and saw in one run, as far as it can be disturbed. */

/** A thing of a run that another run can be disturbed at: the n-th one with this label. */
export interface PointKey {
  /** `create configmaps default/rate-*`, `MODIFIED things.example.com default/one`. */
  readonly label: string;
  /** Counted from 1, over all lives of the operator. */
  readonly nth: number;
}

interface Point extends PointKey {
  /** The scenario's step: how often everything has come to rest before. */
  readonly step: number;
  /** Of everything that happened. */
  readonly order: number;
  readonly resource: string;
}

/** The object that a handler works for. */
export interface ActorObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** A write of the operator. */
export interface WritePoint extends Point {
  readonly verb: string;
  readonly subresource: string | undefined;
  /** Virtual time. */
  readonly at: number;
  /** On whose behalf; undefined for the framework's own business. */
  readonly actor: ActorObject | undefined;
  /** The handlers that asked for it, or whose wishes it carries. */
  readonly handlers: readonly string[];
  /** Whether the actor's object is on its way out. */
  readonly deleting: boolean;
  /** Set when the cluster has done it. */
  done: { readonly order: number; readonly status: number | undefined } | undefined;
}

/** An event that a watch showed the operator. */
export interface EventPoint extends Point {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: string;
  /** Whether it shows what the operator has written itself. */
  readonly own: boolean;
}

/** See the module comment. */
export interface Trace {
  readonly writes: readonly WritePoint[];
  readonly events: readonly EventPoint[];
  /** Resources of which the operator keeps a copy. */
  readonly cached: readonly string[];
  /** How often everything came to rest. */
  readonly steps: number;
  /** By step: in how many milliseconds something was due when all was at rest. */
  readonly due: readonly (number | undefined)[];
  /** Steps in which a handler failed by itself. */
  readonly failed: ReadonlySet<number>;
  /** Orders at which the world outside was called. */
  readonly externals: readonly number[];
}

/** `create configmaps default/a #2` */
export function pointText({ label, nth }: PointKey): string {
  return nth === 1 ? label : `${label} #${nth}`;
}

/** Whether a request of these is of no interest to what an operator achieves. */
export function isNoise(resource: string): boolean {
  return resource === "events" || resource === "events.events.k8s.io" || resource === "leases.coordination.k8s.io";
}
