/** On whose behalf something is done. */
import type { ObjectReference } from "./logger.ts";

/** One handler, or several that share a write, and the object that they work for. */
export interface Actor {
  readonly handlers: readonly string[];
  /** Undefined for handlers of the operator itself. */
  readonly object: ObjectReference | undefined;
  /** What sort of handler it is: `change`, `reconcile`, `timer`; undefined for a write that several share. */
  readonly type?: string | undefined;
  /** Why a handler of changes was called. */
  readonly reason?: string | undefined;
}

/** Does `work` on behalf of `actor`: whoever is asked meanwhile can tell. */
export type OnBehalf = <T>(actor: Actor, work: () => T) => T;
